-- Queries of the full-text search.
-- Differs by necessity because tsvector, GIN and the JSON functions are PostgreSQL's own. What is asked and what is answered is
-- the same as in search.sqlite.sql, so that the ranking is the same.

-- name: index_document
-- One more turn or memory to find; a repeated call (recovery, healing) changes nothing.
INSERT INTO search_docs (conversation_id, source, ref, session_id, seq, ordinal, user_id, traits, terms, at_ms)
SELECT :conversation_id, :source, :ref, :session_id, :seq,
       CASE WHEN CAST(:source AS TEXT) = 'turn' THEN 1 + COALESCE(
           (SELECT MAX(ordinal) FROM search_docs WHERE conversation_id = :conversation_id), 0
       ) ELSE 0 END,
       :user_id, :traits,
       (SELECT COALESCE(string_agg(term || ':' || place, ' '), '') FROM (
            SELECT term, place FROM unnest(string_to_array(:user_terms, ' ')) WITH ORDINALITY AS u (term, place)
            UNION ALL
            SELECT term, place + 8000
            FROM unnest(string_to_array(:assistant_terms, ' ')) WITH ORDINALITY AS a (term, place)
        ) placed WHERE term <> '')::TSVECTOR,
       :at_ms
ON CONFLICT (ref, source) DO NOTHING;

-- name: turn_as_said
-- As in search.sql; whoever forgets or edits the turn waits until its old words are in the index, and takes them out.
SELECT 1 AS said FROM conversation_turns WHERE turn_id = :turn_id AND digest = :digest FOR SHARE;

-- name: merge_index
-- After a deletion: what waits beside the index (hashes, never words) is worked into it; the vacuum takes out the rest.
SELECT gin_clean_pending_list('search_index');

-- name: search_terms
-- How many turns have each hashed term of a question, and where they stand: of the rarest ones (at most about :most
-- turns) on both sides, of the others (at most about :most_of_side) on one. Every place is one number: document, side
-- (1 bit), passage (7 bits), term (5 bits); and of each document its traits, which say how many terms its sides have.
-- JSON in one row.
WITH wanted AS MATERIALIZED (
    SELECT q ->> 0 AS term, CAST(q ->> 1 AS BIGINT) AS n FROM jsonb_array_elements(CAST(:terms AS JSONB)) q
),
counts AS MATERIALIZED (
    SELECT n, term, docs, SUM(docs) OVER (ORDER BY docs, term) AS so_far FROM (
        SELECT w.n, w.term, (SELECT COUNT(*) FROM search_docs d WHERE d.terms @@ CAST(w.term AS TSQUERY)) AS docs
        FROM wanted w
    ) counted WHERE docs > 0
),
looked_up AS MATERIALIZED (
    SELECT DISTINCT d.doc_id FROM counts c JOIN search_docs d ON d.terms @@ CAST(c.term AS TSQUERY)
    WHERE (c.so_far <= :most OR c.so_far = c.docs OR c.so_far <= :most_of_side)
      AND (CAST(:sessions AS TEXT) IS NULL OR (d.conversation_id = :conversation_id
           AND d.session_id IN (SELECT jsonb_array_elements_text(CAST(:sessions AS JSONB)))))
),
hits AS MATERIALIZED (
    SELECT l.doc_id, CASE WHEN place > 8000 THEN 1 ELSE 0 END AS side,
           (CASE WHEN place > 8000 THEN place - 8001 ELSE place - 1 END) / CAST(:passage_terms AS BIGINT) AS passage, c.n
    FROM looked_up l JOIN search_docs d ON d.doc_id = l.doc_id
    CROSS JOIN LATERAL unnest(d.terms) AS t (lexeme, places, weights)
    JOIN counts c ON c.term = t.lexeme
    CROSS JOIN LATERAL unnest(t.places) AS place
    WHERE c.so_far <= :most OR c.so_far = c.docs
       OR (c.so_far <= :most_of_side AND (place > 8000) = (CAST(:side AS TEXT) = 'assistant_terms'))
)
SELECT (SELECT COALESCE(MAX(ordinal), 0) FROM search_docs WHERE conversation_id = :conversation_id) AS turns,
       CAST((SELECT COALESCE(jsonb_agg(jsonb_build_array(n, docs)), '[]') FROM counts) AS TEXT) AS counts,
       CAST((SELECT COALESCE(jsonb_agg(((doc_id * 2 + side) * 128 + passage) * 32 + n), '[]') FROM hits) AS TEXT) AS hits,
       CAST((SELECT COALESCE(jsonb_agg(jsonb_build_array(doc_id, CAST(traits AS JSONB))), '[]')
        FROM search_docs
        WHERE conversation_id = :conversation_id AND doc_id IN (SELECT doc_id FROM hits)) AS TEXT) AS traits;

-- name: search_documents
-- The documents that were found, with the turns around them: neighbours lend each other their words. Of turns with two
-- sides half as many, since what counts is messages. One row of JSON.
SELECT CAST(COALESCE(jsonb_agg(jsonb_build_array(
    doc_id, source, ref, session_id, seq, ordinal, user_id, CAST(traits AS JSONB), at_ms
)), '[]') AS TEXT) AS docs
FROM search_docs WHERE doc_id IN (
    SELECT CAST(jsonb_array_elements_text(CAST(:docs AS JSONB)) AS BIGINT)
    UNION
    SELECT n.doc_id FROM jsonb_array_elements_text(CAST(:docs AS JSONB)) d
    JOIN search_docs f ON f.doc_id = CAST(d AS BIGINT)
    JOIN search_docs n ON n.conversation_id = f.conversation_id AND n.session_id = f.session_id
        AND n.ordinal BETWEEN f.ordinal - CASE WHEN f.traits LIKE '%null%' THEN :around ELSE (:around + 1) / 2 END
                          AND f.ordinal + CASE WHEN f.traits LIKE '%null%' THEN :around ELSE (:around + 1) / 2 END
    WHERE f.ordinal > 0
) AND conversation_id = :conversation_id
  AND (CAST(:sessions AS TEXT) IS NULL
       OR session_id IN (SELECT jsonb_array_elements_text(CAST(:sessions AS JSONB))));

-- name: search_between
-- What was said in a stretch of time that the question names, though no word of it fits.
SELECT CAST(COALESCE(jsonb_agg(d.doc_id), '[]') AS TEXT) AS docs
FROM (SELECT turn_id FROM conversation_turns
      WHERE conversation_id = :conversation_id AND created_at_ms BETWEEN :from_ms AND :to_ms
      ORDER BY created_at_ms DESC LIMIT :most) t
JOIN search_docs d ON d.ref = t.turn_id AND d.source = 'turn';

-- name: search_turns
-- The turns that were found, each with the digest of the one before.
SELECT t.*, b.digest AS digest_before FROM conversation_turns t
LEFT JOIN conversation_turns b ON b.session_id = t.session_id AND b.seq = t.seq - 1
WHERE t.turn_id IN (SELECT jsonb_array_elements_text(CAST(:turns AS JSONB)));

-- name: search_memories
-- The words of the memories that were found.
SELECT memory_id, text FROM memories
WHERE memory_id IN (SELECT jsonb_array_elements_text(CAST(:memories AS JSONB))) AND status = 'active';

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
    AND (t.language IS NULL OR t.language IN (SELECT jsonb_array_elements_text(CAST(:languages AS JSONB))))
LEFT JOIN memories m ON d.due AND d.source = 'memory' AND m.memory_id = d.ref
ORDER BY d.doc_id;

-- name: embedding_put
-- The vector of one passage, unless its text was forgotten meanwhile.
INSERT INTO embeddings (doc_id, side, passage, model, vector)
SELECT doc_id, :side, :passage, :model, :vector FROM search_docs
WHERE doc_id = :doc_id AND ref = :ref AND source = :source
ON CONFLICT (doc_id, side, passage) DO UPDATE SET model = excluded.model, vector = excluded.vector;

-- name: copy_out_search_docs
-- For a copy to another database: the terms as a file has them, in their order.
SELECT doc_id, conversation_id, source, ref, session_id, seq, ordinal, user_id, traits,
    (SELECT COALESCE(string_agg(lexeme, ' ' ORDER BY place), '')
     FROM unnest(terms) AS t (lexeme, places, weights), unnest(places) AS place WHERE place <= 8000) AS user_terms,
    (SELECT COALESCE(string_agg(lexeme, ' ' ORDER BY place), '')
     FROM unnest(terms) AS t (lexeme, places, weights), unnest(places) AS place WHERE place > 8000) AS assistant_terms,
    at_ms
FROM search_docs WHERE doc_id > :k0 ORDER BY doc_id LIMIT :limit;

-- name: copy_in_search_docs
-- From a copy of another database, under the same number.
INSERT INTO search_docs (doc_id, conversation_id, source, ref, session_id, seq, ordinal, user_id, traits, terms, at_ms)
VALUES (:doc_id, :conversation_id, :source, :ref, :session_id, :seq, :ordinal, :user_id, :traits,
    (SELECT COALESCE(string_agg(term || ':' || place, ' '), '') FROM (
        SELECT term, place FROM unnest(string_to_array(:user_terms, ' ')) WITH ORDINALITY AS u (term, place)
        UNION ALL
        SELECT term, place + 8000
        FROM unnest(string_to_array(:assistant_terms, ' ')) WITH ORDINALITY AS a (term, place)
    ) placed WHERE term <> '')::TSVECTOR, :at_ms);

-- name: copy_done
-- New documents go on behind the copied ones.
SELECT setval(pg_get_serial_sequence('search_docs', 'doc_id'), COALESCE((SELECT MAX(doc_id) FROM search_docs), 0) + 1, false);
