-- Differs by necessity because full-text search is each database's own: here FTS5, with triggers that keep it in step.
-- Terms are not words but keyed hashes of (conversation, stem): a lookup touches one conversation only, whatever the size of
-- the database; hostile text cannot reach the query syntax; and no readable word stands in the index (P13).

-- What the search knows of each turn and memory; deleting the turn or the memory deletes this too.
CREATE TABLE search_docs (
    doc_id INTEGER PRIMARY KEY,               -- the row of the full-text index
    conversation_id TEXT NOT NULL,            -- the conversation; part of every hash
    source TEXT NOT NULL,                     -- turn | memory
    ref TEXT NOT NULL,                        -- turn_id or memory_id
    session_id TEXT NOT NULL,                 -- the session it was said in
    seq BIGINT NOT NULL,                      -- seq of the turn, 0 for a memory
    ordinal BIGINT NOT NULL,                  -- 1, 2, 3 … of the turns of the conversation, 0 for a memory
    user_id BIGINT,                           -- who wrote, about whom
    traits TEXT NOT NULL,                     -- JSON: per side words, 1 = asks something, words of time
    user_terms TEXT NOT NULL,                 -- hashed terms of the user's side or of the memory, in their order
    assistant_terms TEXT NOT NULL,            -- hashed terms of the assistant's side, in their order
    at_ms BIGINT NOT NULL,                    -- when it was said
    UNIQUE (ref, source)
);
CREATE INDEX search_docs_by_conversation ON search_docs (conversation_id, ordinal);

CREATE VIRTUAL TABLE search_index USING fts5(
    user_terms, assistant_terms, content='search_docs', content_rowid='doc_id', columnsize=0, tokenize='ascii'
);
CREATE VIRTUAL TABLE search_hits USING fts5vocab('search_index', 'instance');
CREATE VIRTUAL TABLE search_counts USING fts5vocab('search_index', 'row');

CREATE TRIGGER search_docs_added AFTER INSERT ON search_docs BEGIN
    INSERT INTO search_index (rowid, user_terms, assistant_terms)
    VALUES (new.doc_id, new.user_terms, new.assistant_terms);
END;
CREATE TRIGGER search_docs_removed AFTER DELETE ON search_docs BEGIN
    INSERT INTO search_index (search_index, rowid, user_terms, assistant_terms)
    VALUES ('delete', old.doc_id, old.user_terms, old.assistant_terms);
END;
CREATE TRIGGER search_forgets_turn AFTER DELETE ON conversation_turns BEGIN
    DELETE FROM search_docs WHERE ref = old.turn_id AND source = 'turn';
END;
CREATE TRIGGER search_forgets_memory AFTER DELETE ON memories BEGIN
    DELETE FROM search_docs WHERE ref = old.memory_id AND source = 'memory';
END;
