-- Queries of the keeper: what sessions are called, and how far they were read.

-- name: session_lines_of
-- What the sessions of a conversation are called and where they stand.
SELECT session_id, conversation_id, title, standing, turn_ids_json, worked_on_json, read_through_seq, version, written_at_ms
FROM session_lines WHERE conversation_id = :conversation_id;

-- name: session_line_insert
-- The first line of a session; whoever comes second loses.
INSERT INTO session_lines (session_id, conversation_id, title, standing, turn_ids_json, worked_on_json, read_through_seq, version, written_at_ms)
VALUES (:session_id, :conversation_id, :title, :standing, :turn_ids_json, :worked_on_json, :read_through_seq, 1, :written_at_ms)
ON CONFLICT (session_id) DO NOTHING;

-- name: session_line_update
-- No row changes when somebody else wrote first.
UPDATE session_lines SET title = :title, standing = :standing, turn_ids_json = :turn_ids_json, worked_on_json = :worked_on_json,
    read_through_seq = :read_through_seq, version = version + 1, written_at_ms = :written_at_ms
WHERE session_id = :session_id AND version = :version;

-- name: erase_session_line
-- A session goes, or a turn that its line rests on (P13).
DELETE FROM session_lines WHERE session_id = :session_id;

-- name: erase_session_lines
-- The conversation itself goes.
DELETE FROM session_lines WHERE conversation_id = :conversation_id;

-- name: put_reading
-- With each turn: it is read when the session falls quiet; what failed before is tried again.
INSERT INTO readings (session_id, conversation_id, user_id, last_seq, due_at_ms, attempts)
VALUES (:session_id, :conversation_id, :user_id, :last_seq, :due_at_ms, 0)
ON CONFLICT (session_id) DO UPDATE SET
    user_id = excluded.user_id,
    last_seq = CASE WHEN excluded.last_seq > readings.last_seq THEN excluded.last_seq ELSE readings.last_seq END,
    due_at_ms = excluded.due_at_ms, attempts = 0;

-- name: readings_due
-- Sessions that fell quiet or ended, and those with many turns that nobody has read; the longest due first.
SELECT r.session_id, r.conversation_id, r.user_id, r.last_seq, r.due_at_ms, r.attempts,
    COALESCE(l.read_through_seq, 0) AS read_through_seq
FROM readings r LEFT JOIN session_lines l ON l.session_id = r.session_id
WHERE r.attempts < :max_attempts AND (r.due_at_ms <= :now_ms
    OR (r.attempts = 0 AND r.last_seq - COALESCE(l.read_through_seq, 0) >= :unread_turns))
ORDER BY r.due_at_ms, r.session_id LIMIT :limit;

-- name: readings_here
-- Sessions of a conversation with turns that nobody has read yet, the oldest first.
SELECT r.session_id, r.conversation_id, r.user_id, r.last_seq, r.due_at_ms, r.attempts,
    COALESCE(l.read_through_seq, 0) AS read_through_seq
FROM readings r LEFT JOIN session_lines l ON l.session_id = r.session_id
WHERE r.conversation_id = :conversation_id
ORDER BY r.due_at_ms, r.session_id;

-- name: readings_waiting
-- For the gate of the heartbeat and for `status`: how many are due.
SELECT COUNT(*) AS n FROM readings WHERE due_at_ms <= :now_ms AND attempts < :max_attempts;

-- name: claim_reading
-- Before a model is asked, so that a process that dies meanwhile is counted.
UPDATE readings SET attempts = attempts + 1 WHERE session_id = :session_id AND attempts < :max_attempts;

-- name: postpone_reading
-- The model failed, or is too dear just now: later again, unless a turn or the session's end came meanwhile.
UPDATE readings SET due_at_ms = :due_at_ms WHERE session_id = :session_id AND due_at_ms = :was_ms;

-- name: end_reading
-- Everything that was to be read was read; a turn that came meanwhile waits on.
DELETE FROM readings WHERE session_id = :session_id AND last_seq <= :through_seq;

-- name: renew_reading
-- The model answered; what is left to be read is a new reading.
UPDATE readings SET attempts = 0 WHERE session_id = :session_id;

-- name: read_again
-- A session that was begun fresh goes on with what was before: it is read again, at once, where its line says.
INSERT INTO readings (session_id, conversation_id, user_id, last_seq, due_at_ms, attempts)
SELECT session_id, conversation_id, user_id, last_seq, 0, 0 FROM conversation_sessions
WHERE session_id = :session_id AND last_seq > 0
ON CONFLICT (session_id) DO UPDATE SET last_seq = excluded.last_seq, due_at_ms = 0, attempts = 0;

-- name: sessions_never_read
-- When a keeper comes to an old database: sessions without a line, the latest first, and what their turns would cost.
SELECT s.session_id, s.user_id, s.last_seq,
    (SELECT COUNT(*) FROM readings r WHERE r.session_id = s.session_id) AS waits,
    (SELECT COALESCE(SUM(t.user_tokens + t.assistant_tokens), 0) FROM conversation_turns t
     WHERE t.session_id = s.session_id) AS tokens
FROM conversation_sessions s
WHERE s.conversation_id = :conversation_id AND s.last_seq > 0 AND s.origin <> 'private'
    AND NOT EXISTS (SELECT 1 FROM session_lines l WHERE l.session_id = s.session_id)
ORDER BY s.last_turn_at_ms DESC, s.session_id;

-- name: tokens_of_turns
-- Where to begin in a session that is too long to be read back whole, the latest turn first.
SELECT seq, user_tokens + assistant_tokens AS tokens FROM conversation_turns
WHERE session_id = :session_id ORDER BY seq DESC;

-- name: keeper_lease_take
-- One keeper at a time reads in a conversation; no row changes while somebody else does.
INSERT INTO keeper_leases (conversation_id, reading_id, until_ms) VALUES (:conversation_id, :reading_id, :until_ms)
ON CONFLICT (conversation_id) DO UPDATE SET reading_id = excluded.reading_id, until_ms = excluded.until_ms
WHERE keeper_leases.until_ms <= :now_ms;

-- name: keeper_lease_give_back
-- With what was read; a reading whose lease is gone was of words that were forgotten or edited since, and is not stored.
DELETE FROM keeper_leases WHERE conversation_id = :conversation_id AND reading_id = :reading_id;

-- name: keeper_lease_revoke
-- Something here was forgotten or edited: what is being read just now is thrown away.
DELETE FROM keeper_leases WHERE conversation_id = :conversation_id;

-- name: keeper_leases_clear
-- At the start of the only process: whoever held one is dead.
DELETE FROM keeper_leases;

-- name: keeper_lease_of
-- Whether somebody reads there.
SELECT reading_id, until_ms FROM keeper_leases WHERE conversation_id = :conversation_id;

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

-- name: readings_last
-- For `doctor`: whether the keeper answers as it should.
SELECT model, error, at_ms FROM model_readings ORDER BY at_ms DESC, reading_id LIMIT :limit;

-- name: spent_on_talk
-- What the conversation itself cost since a moment.
SELECT COALESCE(SUM(input_tokens + output_tokens), 0) AS tokens
FROM conversation_turns WHERE conversation_id = :conversation_id AND created_at_ms >= :since_ms;

-- name: spent_on_reading
-- What its readings cost since then.
SELECT COALESCE(SUM(input_tokens + output_tokens), 0) AS tokens
FROM model_readings WHERE conversation_id = :conversation_id AND at_ms >= :since_ms;

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

-- name: reading_of_session
-- Whether anything waits to be read there.
SELECT session_id, conversation_id, user_id, last_seq, due_at_ms, attempts FROM readings WHERE session_id = :session_id;

-- name: turns_told_before
-- In which of the last turns a number or a name was said, the latest first.
SELECT t.*, b.digest AS digest_before FROM conversation_turns t
LEFT JOIN conversation_turns b ON b.session_id = t.session_id AND b.seq = t.seq - 1
WHERE t.conversation_id = :conversation_id AND t.created_at_ms <= :before_ms
ORDER BY t.created_at_ms DESC, t.seq DESC LIMIT :limit;
