-- Differs by necessity because bytes are BYTEA here.

-- What the optional extra `semantic` makes of each text of a turn or memory; empty without it. A vector tells something of
-- its text, so it goes with the text (P13).
CREATE TABLE embeddings (
    doc_id BIGINT NOT NULL REFERENCES search_docs ON DELETE CASCADE, -- the row of search_docs
    side BIGINT NOT NULL,                     -- 0 user or memory, 1 assistant
    passage BIGINT NOT NULL,                  -- 0, 1, 2 … of a long text
    model TEXT NOT NULL,                      -- which model made it: others are made anew
    vector BYTEA NOT NULL,                    -- little-endian float16, length 1
    PRIMARY KEY (doc_id, side, passage)
);
