-- A search reads what it knows of documents out of an index, where those of one conversation stand side by side: of the
-- rows each stands in a page of its own among those of all conversations.
-- Differs by necessity because PostgreSQL looks into the rows anyway: its terms stand in them.

DROP INDEX search_docs_by_conversation;
CREATE INDEX search_docs_by_conversation ON search_docs (conversation_id, ordinal, session_id);
CREATE INDEX search_docs_known ON search_docs (
    conversation_id, doc_id, traits, session_id, ordinal, source, ref, seq, user_id, at_ms
);
