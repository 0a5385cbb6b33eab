-- Queries of the full-text search.
-- Differs by necessity because FTS5 and its vocabulary tables, json_each and json_group_array are SQLite's own.

-- name: index_document
-- One more turn or memory to find; a repeated call (recovery, healing) changes nothing. A trigger feeds the index.
INSERT INTO search_docs (
    conversation_id, source, ref, session_id, seq, ordinal, user_id, traits, user_terms, assistant_terms, at_ms
)
SELECT :conversation_id, :source, :ref, :session_id, :seq,
       CASE WHEN :source = 'turn' THEN 1 + COALESCE(
           (SELECT MAX(ordinal) FROM search_docs WHERE conversation_id = :conversation_id), 0
       ) ELSE 0 END,
       :user_id, :traits, :user_terms, :assistant_terms, :at_ms
WHERE NOT EXISTS (SELECT 1 FROM search_docs WHERE ref = :ref AND source = :source);

-- name: merge_index
-- After a deletion: merges away what FTS5 only marked as deleted (it holds hashes, never words); bounded work.
INSERT INTO search_index (search_index, rank) VALUES ('merge', -:pages);

-- name: search_terms
-- How many turns have each hashed term of a question, and where they stand: of the rarest ones (at most about :most
-- turns) on both sides, of the others (at most about :most_of_side) on one, so that a word said in every turn of a long
-- conversation costs nothing. Every place is one number: document, side (1 bit), passage (7 bits), term (5 bits); and of
-- each document its traits, which say how many terms its sides have. JSON in one row, since rows cost more to hand over
-- than to find; joined as text, since that costs half of what the JSON functions do. Terms that are too frequent are
-- left out before their places are asked for: behind that, SQLite would walk all of them only to drop each.
WITH counts AS MATERIALIZED (
    SELECT json_extract(q.value, '$[1]') AS n, c.term AS term, c.doc AS docs,
           SUM(c.doc) OVER (ORDER BY c.doc, c.term) AS so_far
    FROM json_each(:terms) q CROSS JOIN search_counts c ON c.term = json_extract(q.value, '$[0]')
),
looked_up AS MATERIALIZED (
    SELECT * FROM counts WHERE so_far <= :most_of_side OR so_far <= :most OR so_far = docs
),
hits AS MATERIALIZED (
    SELECT v.doc AS doc, v.col AS col, v.offset / :passage_terms AS passage, c.n AS n
    FROM looked_up c CROSS JOIN search_hits v ON v.term = c.term
    WHERE (c.so_far <= :most OR c.so_far = c.docs OR (v.col = :side AND c.so_far <= :most_of_side))
      AND (CAST(:sessions AS TEXT) IS NULL OR v.doc IN (
          SELECT doc_id FROM search_docs
          WHERE conversation_id = :conversation_id AND session_id IN (SELECT value FROM json_each(:sessions))
      ))
)
SELECT (SELECT COALESCE(MAX(ordinal), 0) FROM search_docs WHERE conversation_id = :conversation_id) AS turns,
       (SELECT json_group_array(json_array(n, docs)) FROM counts) AS counts,
       (SELECT '[' || COALESCE(group_concat(((doc * 2 + (col = 'assistant_terms')) * 128 + passage) * 32 + n), '') || ']'
        FROM hits) AS hits,
       (SELECT '[' || COALESCE(group_concat('[' || doc_id || ',' || traits || ']'), '') || ']'
        FROM search_docs INDEXED BY search_docs_known
        WHERE conversation_id = :conversation_id AND doc_id IN (SELECT doc FROM hits)) AS traits;

-- name: search_documents
-- The documents that were found, with the turns around them: neighbours lend each other their words. Of turns with two
-- sides half as many, since what counts is messages. One row of JSON, all of it out of an index that holds what is known
-- of a conversation's documents side by side: the rows themselves stand each in a page of its own.
WITH found AS MATERIALIZED (
    SELECT session_id, ordinal, CASE WHEN traits LIKE '%null%' THEN :around ELSE (:around + 1) / 2 END AS around
    FROM search_docs INDEXED BY search_docs_known
    WHERE conversation_id = :conversation_id AND doc_id IN (SELECT value FROM json_each(:docs)) AND ordinal > 0
)
SELECT json_group_array(json_array(doc_id, source, ref, session_id, seq, ordinal, user_id, json(traits), at_ms)) AS docs
FROM search_docs INDEXED BY search_docs_known
WHERE conversation_id = :conversation_id AND doc_id IN (
    SELECT value FROM json_each(:docs)
    UNION
    SELECT n.doc_id FROM found f CROSS JOIN search_docs n INDEXED BY search_docs_by_conversation
        ON n.conversation_id = :conversation_id AND n.session_id = f.session_id
        AND n.ordinal BETWEEN f.ordinal - f.around AND f.ordinal + f.around
) AND (CAST(:sessions AS TEXT) IS NULL OR session_id IN (SELECT value FROM json_each(:sessions)));

-- name: search_between
-- What was said in a stretch of time that the question names, though no word of it fits.
SELECT json_group_array(d.doc_id) AS docs
FROM (SELECT turn_id FROM conversation_turns
      WHERE conversation_id = :conversation_id AND created_at_ms BETWEEN :from_ms AND :to_ms
      ORDER BY created_at_ms DESC LIMIT :most) t
JOIN search_docs d ON d.ref = t.turn_id AND d.source = 'turn';

-- name: search_turns
-- The turns that were found, each with the digest of the one before.
SELECT t.*, b.digest AS digest_before FROM conversation_turns t
LEFT JOIN conversation_turns b ON b.session_id = t.session_id AND b.seq = t.seq - 1
WHERE t.turn_id IN (SELECT value FROM json_each(:turns));

-- name: search_memories
-- The words of the memories that were found.
SELECT memory_id, text FROM memories
WHERE memory_id IN (SELECT value FROM json_each(:memories)) AND status = 'active';

-- name: embeddings_due
-- The next documents, with the texts of those that have no vector of this model yet and are in a language that it
-- understands; walked in windows, so that a large database is never searched as a whole.
WITH docs AS MATERIALIZED (
    SELECT doc_id, conversation_id, source, ref,
           NOT EXISTS (SELECT 1 FROM embeddings e WHERE e.doc_id = d.doc_id AND e.model = :model) AS due
    FROM search_docs d WHERE doc_id > :after ORDER BY doc_id LIMIT :most
)
SELECT d.doc_id, d.conversation_id, d.source, d.ref,
       COALESCE(t.user_text, m.text, '') AS user_text, COALESCE(t.assistant_text, '') AS assistant_text
FROM docs d
LEFT JOIN conversation_turns t ON d.due AND d.source = 'turn' AND t.turn_id = d.ref
    AND (t.language IS NULL OR t.language IN (SELECT value FROM json_each(:languages)))
LEFT JOIN memories m ON d.due AND d.source = 'memory' AND m.memory_id = d.ref
ORDER BY d.doc_id;

-- name: embedding_put
-- The vector of one passage, unless its text was forgotten meanwhile (and its row's number given to another).
INSERT INTO embeddings (doc_id, side, passage, model, vector)
SELECT :doc_id, :side, :passage, :model, :vector
WHERE EXISTS (SELECT 1 FROM search_docs WHERE doc_id = :doc_id AND ref = :ref AND source = :source)
ON CONFLICT (doc_id, side, passage) DO UPDATE SET model = :model, vector = :vector;
