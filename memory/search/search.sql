-- Queries of the full-text search that are the same on every database. One line of why above each.

-- name: unindex_document
-- A memory that was superseded, or a turn that shall not be found; deleting the row itself does this by a trigger.
DELETE FROM search_docs WHERE ref = :ref AND source = :source;

-- name: embeddings_of
-- The vectors of a conversation behind a document, the newest ones of very many.
SELECT e.doc_id, e.side, e.vector, d.session_id, d.ordinal, d.ref
FROM search_docs d JOIN embeddings e ON e.doc_id = d.doc_id
WHERE d.conversation_id = :conversation_id AND d.doc_id > :after AND e.model = :model
ORDER BY e.doc_id DESC, e.side DESC, e.passage DESC LIMIT :most;
