-- Queries of session notes.

-- name: notes_undone
-- What some of the notes rest on was taken back: the session counts as unread until they are made again, and a reading
-- that began before is not stored.
UPDATE session_notes SET read_through_seq = 0, version = version + 1 WHERE session_id = :session_id;

-- name: insert_notes
-- The first notes of a session, only while its last turn that was read is there: what was forgotten stays so (P13).
INSERT INTO session_notes (session_id, conversation_id, notes_json, model_json, read_through_seq, model_seq, version,
    written_at_ms)
SELECT :session_id, :conversation_id, :notes_json, :model_json, :read_through_seq, :model_seq, 1, :written_at_ms
WHERE EXISTS (SELECT 1 FROM conversation_turns WHERE session_id = :session_id AND turn_id = :turn_id AND seq = :seq);

-- name: update_notes
-- No row changes when somebody else wrote first.
UPDATE session_notes
SET notes_json = :notes_json, model_json = :model_json, read_through_seq = :read_through_seq, model_seq = :model_seq,
    version = version + 1, written_at_ms = :written_at_ms
WHERE session_id = :session_id AND version = :version;

-- name: change_notes
-- By hand: what was read stays as far as it was read.
UPDATE session_notes SET notes_json = :notes_json, model_json = :model_json, version = version + 1
WHERE session_id = :session_id AND version = :version;

-- name: notes_of_session
-- What was read in one session.
SELECT session_id, conversation_id, notes_json, model_json, read_through_seq, model_seq, version
FROM session_notes WHERE session_id = :session_id;

-- name: notes_of_conversation
-- What was read in the sessions of a conversation, the latest first.
SELECT n.session_id, n.conversation_id, n.notes_json, n.model_json, n.read_through_seq, n.model_seq, n.version
FROM session_notes n JOIN conversation_sessions s ON s.session_id = n.session_id
WHERE n.conversation_id = :conversation_id
ORDER BY s.last_turn_at_ms DESC, s.created_at_ms DESC, n.session_id LIMIT :limit;

-- name: erase_notes
-- What was read in a session (P13).
DELETE FROM session_notes WHERE session_id = :session_id;

-- name: turns_of_others
-- In a group: what somebody else wrote is not this person's matter.
SELECT turn_id FROM conversation_turns
WHERE conversation_id = :conversation_id AND user_id IS NOT NULL AND user_id <> :user_id;
