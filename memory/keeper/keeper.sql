-- Queries of the keeper: what sessions are called, and how far they were read.

-- name: session_lines_of
-- What the sessions of a conversation are called and where they stand.
SELECT session_id, conversation_id, title, standing, turn_ids_json, read_through_seq, version, written_at_ms
FROM session_lines WHERE conversation_id = :conversation_id;

-- name: session_line_insert
-- The first line of a session; whoever comes second loses.
INSERT INTO session_lines (session_id, conversation_id, title, standing, turn_ids_json, read_through_seq, version, written_at_ms)
VALUES (:session_id, :conversation_id, :title, :standing, :turn_ids_json, :read_through_seq, 1, :written_at_ms)
ON CONFLICT (session_id) DO NOTHING;

-- name: session_line_update
-- No row changes when somebody else wrote first.
UPDATE session_lines SET title = :title, standing = :standing, turn_ids_json = :turn_ids_json,
    read_through_seq = :read_through_seq, version = version + 1, written_at_ms = :written_at_ms
WHERE session_id = :session_id AND version = :version;

-- name: erase_session_line
-- A session goes, or a turn that its line rests on (P13).
DELETE FROM session_lines WHERE session_id = :session_id;

-- name: session_line_unread
-- Turns that were read are to be read again: a note that rested on them went (P13).
UPDATE session_lines SET read_through_seq = :read_through_seq, version = version + 1
WHERE session_id = :session_id AND read_through_seq > :read_through_seq;

-- name: erase_session_lines
-- The conversation itself goes.
DELETE FROM session_lines WHERE conversation_id = :conversation_id;
