-- Queries of session notes and of the readings that write them.

-- name: put_reading
-- With each turn: it is read when the session falls quiet.
INSERT INTO readings (session_id, conversation_id, user_id, last_seq, due_at_ms, attempts)
VALUES (:session_id, :conversation_id, :user_id, :last_seq, :due_at_ms, 0)
ON CONFLICT (session_id) DO UPDATE SET
    user_id = excluded.user_id,
    last_seq = CASE WHEN excluded.last_seq > readings.last_seq THEN excluded.last_seq ELSE readings.last_seq END,
    due_at_ms = excluded.due_at_ms;

-- name: readings_due
-- Sessions that fell quiet or ended, and those with many turns that the reader has not seen; the longest due first.
SELECT r.session_id, r.conversation_id, r.user_id, r.last_seq, r.due_at_ms, r.attempts
FROM readings r LEFT JOIN session_notes n ON n.session_id = r.session_id
WHERE r.due_at_ms <= :now_ms
    OR (r.attempts = 0
        AND r.last_seq - COALESCE(CASE WHEN :by_model = 1 THEN n.model_seq ELSE n.read_through_seq END, 0) >= :unread_turns)
ORDER BY r.due_at_ms, r.session_id LIMIT :limit;

-- name: readings_here
-- Sessions of a conversation with turns that stand in no notes yet, the oldest first.
SELECT r.session_id, r.conversation_id, r.user_id, r.last_seq, r.due_at_ms, r.attempts
FROM readings r LEFT JOIN session_notes n ON n.session_id = r.session_id
WHERE r.conversation_id = :conversation_id AND r.last_seq > COALESCE(n.read_through_seq, 0)
ORDER BY r.due_at_ms, r.session_id;

-- name: reading_of_session
-- Whether anything waits to be read there.
SELECT session_id, conversation_id, user_id, last_seq, due_at_ms, attempts FROM readings WHERE session_id = :session_id;

-- name: readings_waiting
-- For the gate of the heartbeat and for `status`: how many are due.
SELECT COUNT(*) AS n FROM readings WHERE due_at_ms <= :now_ms;

-- name: claim_reading
-- Before a model is asked, so that a process that dies meanwhile is counted.
UPDATE readings SET attempts = attempts + 1 WHERE session_id = :session_id AND attempts < :max_attempts;

-- name: postpone_reading
-- The model failed: later again.
UPDATE readings SET due_at_ms = :due_at_ms WHERE session_id = :session_id;

-- name: read_again
-- The notes of a session cannot be read any more: they are made again from its turns, at once.
INSERT INTO readings (session_id, conversation_id, user_id, last_seq, due_at_ms, attempts)
SELECT session_id, conversation_id, user_id, last_seq, 0, 0 FROM conversation_sessions WHERE session_id = :session_id
ON CONFLICT (session_id) DO NOTHING;

-- name: notes_undone
-- What some of the notes rest on was taken back: the session counts as unread until they are made again, and a reading
-- that began before is not stored.
UPDATE session_notes SET read_through_seq = 0, version = version + 1 WHERE session_id = :session_id;

-- name: end_reading
-- Everything that was to be read was read, or given up; a turn that came meanwhile waits on.
DELETE FROM readings WHERE session_id = :session_id AND last_seq <= :through_seq;

-- name: renew_reading
-- The model answered; what is left to be read is a new reading.
UPDATE readings SET attempts = 0 WHERE session_id = :session_id;

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

-- name: insert_model_reading
-- With the notes that it wrote, or alone when it failed.
INSERT INTO model_readings (reading_id, session_id, conversation_id, model, from_seq, through_seq, kept, dropped_json,
    error, input_tokens, output_tokens, at_ms)
VALUES (:reading_id, :session_id, :conversation_id, :model, :from_seq, :through_seq, :kept, :dropped_json,
    :error, :input_tokens, :output_tokens, :at_ms);

-- name: reading_costs
-- For the receipt: what the readings of one session cost.
SELECT COUNT(*) AS n, COALESCE(SUM(input_tokens + output_tokens), 0) AS tokens, COALESCE(SUM(kept), 0) AS kept
FROM model_readings WHERE session_id = :session_id;

-- name: reading_totals
-- For `status`: what all readings cost.
SELECT COUNT(*) AS n, COALESCE(SUM(input_tokens), 0) AS input_tokens, COALESCE(SUM(output_tokens), 0) AS output_tokens,
    COALESCE(SUM(kept), 0) AS kept, COALESCE(SUM(CASE WHEN error <> '' THEN 1 ELSE 0 END), 0) AS failed
FROM model_readings;

-- name: reading_drops
-- For `status`: why items were not kept.
SELECT dropped_json FROM model_readings WHERE dropped_json <> '{}';

-- name: spent_on_talk
-- What the conversation itself cost since a moment.
SELECT COALESCE(SUM(input_tokens + output_tokens), 0) AS tokens
FROM conversation_turns WHERE conversation_id = :conversation_id AND created_at_ms >= :since_ms;

-- name: spent_on_reading
-- What its readings cost since then.
SELECT COALESCE(SUM(input_tokens + output_tokens), 0) AS tokens
FROM model_readings WHERE conversation_id = :conversation_id AND at_ms >= :since_ms;

-- name: erase_notes
-- What was read in a session (P13).
DELETE FROM session_notes WHERE session_id = :session_id;

-- name: erase_reading
-- Nothing is left to be read there.
DELETE FROM readings WHERE session_id = :session_id;

-- name: erase_model_readings
-- No text, but what they cost belongs to the session.
DELETE FROM model_readings WHERE session_id = :session_id;

-- name: model_readings_of_session
-- For operators: each reading of a session by a model.
SELECT reading_id, model, from_seq, through_seq, kept, dropped_json, error, input_tokens, output_tokens, at_ms
FROM model_readings WHERE session_id = :session_id ORDER BY at_ms, reading_id;

-- name: turns_of_others
-- In a group: what somebody else wrote is not this person's matter.
SELECT turn_id FROM conversation_turns
WHERE conversation_id = :conversation_id AND user_id IS NOT NULL AND user_id <> :user_id;
