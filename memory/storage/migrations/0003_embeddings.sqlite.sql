-- Differs by necessity because it hangs on the rows of SQLite's full-text search, and bytes are BLOB here, BYTEA elsewhere.

-- What the optional extra `semantic` makes of each text of a turn or memory; empty without it. A vector tells something of
-- its text, so it goes with the text (P13).
CREATE TABLE embeddings (
    doc_id BIGINT NOT NULL,                   -- the row of search_docs
    side BIGINT NOT NULL,                     -- 0 user or memory, 1 assistant
    passage BIGINT NOT NULL,                  -- 0, 1, 2 … of a long text
    model TEXT NOT NULL,                      -- which model made it: others are made anew
    vector BLOB NOT NULL,                     -- little-endian float16, length 1
    PRIMARY KEY (doc_id, side, passage)
);

CREATE TRIGGER embeddings_go_with_their_text AFTER DELETE ON search_docs BEGIN
    DELETE FROM embeddings WHERE doc_id = old.doc_id;
END;
