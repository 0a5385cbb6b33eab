-- Queries of the full-text search that are the same on every database. One line of why above each.

-- name: unindex_document
-- A memory that was superseded, or a turn that shall not be found; deleting the row itself does this by a trigger.
DELETE FROM search_docs WHERE ref = :ref AND source = :source;

-- name: turn_as_said
-- A turn is indexed behind its commit: one that was forgotten or edited in between keeps its old words out of the index.
-- PostgreSQL has its own, which locks the row: several processes write there.
SELECT 1 AS said FROM conversation_turns WHERE turn_id = :turn_id AND digest = :digest;

-- name: turns_unindexed
-- The newest turns that are not in the index, oldest first: a death came between their commit and it, or they are none
-- that is ever found.
SELECT t.*, b.digest AS digest_before FROM (
    SELECT * FROM conversation_turns WHERE conversation_id = :conversation_id ORDER BY created_at_ms DESC LIMIT :most
) t
LEFT JOIN conversation_turns b ON b.session_id = t.session_id AND b.seq = t.seq - 1
WHERE NOT EXISTS (SELECT 1 FROM search_docs d WHERE d.ref = t.turn_id AND d.source = 'turn')
ORDER BY t.created_at_ms, t.seq;

-- name: search_said
-- What was said in a stretch of time and may be found, the newest first.
SELECT t.*, b.digest AS digest_before FROM conversation_turns t
JOIN search_docs d ON d.ref = t.turn_id AND d.source = 'turn'
LEFT JOIN conversation_turns b ON b.session_id = t.session_id AND b.seq = t.seq - 1
WHERE t.conversation_id = :conversation_id AND t.created_at_ms >= :from_ms AND t.created_at_ms < :to_ms
    AND (CAST(:session_id AS TEXT) IS NULL OR t.session_id = :session_id)
ORDER BY t.created_at_ms DESC, t.seq DESC LIMIT :most;

-- name: embeddings_of
-- The vectors of a conversation behind a document, the newest ones of very many.
SELECT e.doc_id, e.side, e.vector, d.session_id, d.ordinal, d.ref
FROM search_docs d JOIN embeddings e ON e.doc_id = d.doc_id
WHERE d.conversation_id = :conversation_id AND d.doc_id > :after AND e.model = :model
ORDER BY e.doc_id DESC, e.side DESC, e.passage DESC LIMIT :most;
