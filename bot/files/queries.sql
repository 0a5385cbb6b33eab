-- Queries of files that people send. One line of why above each.

-- name: file_want
-- Committed with the update that brings it; the same message again (a second delivery, a reply to it) changes nothing.
INSERT INTO files (file_id, bot_id, conversation_id, chat_id, message_id, user_id, number, turn_id, session_id, private, telegram_id,
    unique_id, kind, name, media_type, size_bytes, seconds, digest, state, reason, unit, pages, blank_json, language,
    described, attempts, received_at_ms)
VALUES (:file_id, :bot_id, :conversation_id, :chat_id, :message_id, :user_id, NULL, NULL, NULL, 0, :telegram_id,
    :unique_id, :kind, :name, :media_type, :size_bytes, :seconds, '', 'wanted', '', '', 0, '[]', '', '', 0, :received_at_ms)
ON CONFLICT (file_id) DO NOTHING;

-- name: file_take
-- Its number, and the turn that it belongs to; a turn that is made again, or a reply to it, finds both as they are.
UPDATE files SET
    number = COALESCE(number, (
        SELECT COALESCE(MAX(other.number), 0) + 1 FROM files AS other WHERE other.conversation_id = :conversation_id
    )),
    private = CASE WHEN turn_id IS NULL THEN :private ELSE private END,
    turn_id = COALESCE(turn_id, :turn_id),
    session_id = COALESCE(session_id, :session_id)
WHERE file_id = :file_id;

-- name: file_fetched
-- The bytes are here, under their digest.
UPDATE files SET digest = :digest, size_bytes = :size_bytes, media_type = :media_type, state = 'fetched', reason = ''
WHERE file_id = :file_id;

-- name: file_again
-- The bytes are not here any more, or not what they were: they are fetched again.
UPDATE files SET digest = '', state = 'wanted' WHERE file_id = :file_id;

-- name: file_heard
-- How many pieces of a recording were listened to: they are stored with it.
UPDATE files SET reason = :reason WHERE file_id = :file_id;

-- name: file_failed
-- Why there is nothing to read; what was fetched of it is let go of.
UPDATE files SET digest = :digest, state = :state, reason = :reason, pages = :pages WHERE file_id = :file_id;

-- name: file_known
-- What was read of it is stored.
UPDATE files SET state = 'read', media_type = :media_type, reason = :reason, unit = :unit, pages = :pages, blank_json = :blank_json,
    language = :language, described = :described
WHERE file_id = :file_id;

-- name: file_described
-- What a picture shows; of two workers one describes it.
UPDATE files SET described = :described WHERE file_id = :file_id AND described = '';

-- name: files_described
-- What the pictures of a conversation's turns show, as they came.
SELECT * FROM files WHERE conversation_id = :conversation_id AND described <> '' AND unit = ''
    AND media_type LIKE 'image/%' AND turn_id IS NOT NULL ORDER BY number;

-- name: file_attempt
-- A model is asked to describe it.
UPDATE files SET attempts = attempts + 1 WHERE file_id = :file_id AND described = '';

-- name: files_undescribed
-- Pictures of stored turns that nobody described yet; of a private session nothing is kept.
SELECT * FROM files WHERE state = 'read' AND described = '' AND unit = '' AND attempts < 2 AND private = 0
    AND media_type LIKE 'image/%' AND turn_id IN (SELECT turn_id FROM conversation_turns)
ORDER BY received_at_ms LIMIT :most;

-- name: file_of_message
-- The file of a message: of a group that became a supergroup two may have the same number, and the later is meant.
SELECT * FROM files WHERE conversation_id = :conversation_id AND message_id = :message_id
ORDER BY received_at_ms DESC LIMIT 1;

-- name: heard_of_message
-- The line in which a person was shown what was heard; the number behind the word is the file's.
SELECT kind FROM outbox
WHERE bot_id = :bot_id AND conversation_id = :conversation_id AND message_id = :message_id AND kind LIKE 'heard %';

-- name: file_of_number
-- The file that a prompt, a tool or a person names.
SELECT * FROM files WHERE conversation_id = :conversation_id AND number = :number;

-- name: files_of
-- The files of a conversation, the latest first.
SELECT * FROM files WHERE conversation_id = :conversation_id AND number IS NOT NULL ORDER BY number DESC LIMIT :most;

-- name: file_bytes_of
-- What one person's files take, the same bytes once.
SELECT COALESCE(SUM(size_bytes), 0) AS bytes FROM (
    SELECT digest, MAX(size_bytes) AS size_bytes FROM files WHERE user_id = :user_id AND digest <> '' GROUP BY digest
) AS kept;

-- name: file_passage_put
-- One piece of what was read.
INSERT INTO file_passages (passage_id, file_id, position, page, text)
VALUES (:passage_id, :file_id, :position, :page, :text);

-- name: file_passages_drop
-- A reading that died in its midst begins again.
DELETE FROM file_passages WHERE file_id = :file_id;

-- name: file_terms_drop
-- The same for what the search knows of it.
DELETE FROM search_docs WHERE conversation_id = :conversation_id AND session_id = :file_id;

-- name: file_passages_first
-- The beginning of a file.
SELECT file_id, position, page, text FROM file_passages WHERE file_id = :file_id ORDER BY position LIMIT :most;

-- name: file_passages_between
-- Some pages of a file.
SELECT file_id, position, page, text FROM file_passages
WHERE file_id = :file_id AND page BETWEEN :first AND :last ORDER BY position;

-- name: file_passage
-- One piece that was found.
SELECT file_id, position, page, text FROM file_passages WHERE passage_id = :passage_id;

-- name: file_digests
-- The bytes that something names: all others go.
SELECT DISTINCT digest FROM files WHERE digest <> '';

-- name: file_orphans
-- Bytes in rows that nothing names.
SELECT DISTINCT digest FROM file_chunks WHERE digest NOT IN (SELECT digest FROM files);

-- name: file_chunks_sweep
-- Let go of them, unless they are named by now.
DELETE FROM file_chunks WHERE digest = :digest AND NOT EXISTS (SELECT 1 FROM files WHERE files.digest = :digest);

-- name: file_chunks_drop
-- They lie in the folder now.
DELETE FROM file_chunks WHERE digest = :digest;

-- name: file_chunk_put
-- One piece of the bytes; the same bytes of somebody else are there already.
INSERT INTO file_chunks (digest, position, data) VALUES (:digest, :position, :data)
ON CONFLICT (digest, position) DO NOTHING;

-- name: file_chunk
-- The next piece of the bytes.
SELECT data FROM file_chunks WHERE digest = :digest AND position = :position;

-- name: erased_files
-- P13: the files of a conversation, of which some may go.
SELECT file_id, turn_id, session_id FROM files WHERE conversation_id = :conversation_id;

-- name: file_passages_count
-- How many pieces of text a file has: so many go with it (P13).
SELECT COUNT(*) AS n FROM file_passages WHERE file_id = :file_id;

-- name: erase_file
-- P13: the file itself; its bytes go with the last row that names them.
DELETE FROM files WHERE file_id = :file_id;

-- name: files_purge
-- What was never read and belongs to no turn that is stored.
DELETE FROM files WHERE state IN ('wanted', 'failed', 'expired') AND received_at_ms < :before_ms
    AND (turn_id IS NULL OR turn_id NOT IN (SELECT turn_id FROM conversation_turns));

-- name: file_lost
-- Bytes that a file names and no row holds.
SELECT DISTINCT digest FROM files WHERE digest <> '' AND digest NOT IN (SELECT digest FROM file_chunks);

-- name: file_states
-- For operators: how many files there are in each state, and what they take.
SELECT state, COUNT(*) AS n, COALESCE(SUM(size_bytes), 0) AS bytes FROM files GROUP BY state ORDER BY state;

-- name: speech_wish
-- Committed with the answer.
INSERT INTO speeches (turn_id, bot_id, conversation_id, chat_id, thread_id, user_id, text, created_at_ms)
VALUES (:turn_id, :bot_id, :conversation_id, :chat_id, :thread_id, :user_id, :text, :created_at_ms);

-- name: speeches_waiting
-- The answers that are to be said, in their order.
SELECT * FROM speeches ORDER BY created_at_ms, turn_id;

-- name: speech_waiting
-- Whether one of them still is.
SELECT turn_id FROM speeches WHERE turn_id = :turn_id;

-- name: speech_over
-- It waits in the outbox now, or cannot be said; of two workers one alone gets so far.
DELETE FROM speeches WHERE turn_id = :turn_id;

-- name: erase_speech
-- P13: an answer that is forgotten is not said.
DELETE FROM speeches WHERE turn_id = :turn_id;

-- name: erase_speeches
-- P13: the same for a whole conversation.
DELETE FROM speeches WHERE conversation_id = :conversation_id;
