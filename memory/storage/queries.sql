-- Queries of sessions, turns, checkpoints' counterparts and the schema's own ledger. One line of why above each.
-- Portable (SQLite, PostgreSQL): times and ids are parameters, a bare NULL test is cast, no backend's own functions.

-- name: create_schema_migrations
-- The ledger of migrations; the migrator makes it, so that schema.sql holds only what the program uses.
CREATE TABLE IF NOT EXISTS schema_migrations (
    number BIGINT PRIMARY KEY,                -- NNNN of the migration's files
    name TEXT NOT NULL,                       -- what it was for
    applied_at_ms BIGINT NOT NULL             -- when it was applied
);

-- name: applied_migrations
-- What this database has.
SELECT number FROM schema_migrations ORDER BY number;

-- name: find_migration
-- Asked inside the transaction: another process may have been faster.
SELECT number FROM schema_migrations WHERE number = :number;

-- name: record_migration
-- In the same transaction as the migration.
INSERT INTO schema_migrations (number, name, applied_at_ms) VALUES (:number, :name, :applied_at_ms);

-- name: point_conversation
-- The session that the next message of a conversation goes to.
INSERT INTO conversations (conversation_id, current_session_id, created_at_ms)
VALUES (:conversation_id, :session_id, :created_at_ms)
ON CONFLICT (conversation_id) DO UPDATE SET current_session_id = excluded.current_session_id;

-- name: adopt_conversation
-- A session came back from its checkpoint: it becomes current unless one with newer turns is.
INSERT INTO conversations (conversation_id, current_session_id, created_at_ms)
VALUES (:conversation_id, :session_id, :last_turn_at_ms)
ON CONFLICT (conversation_id) DO UPDATE SET current_session_id = excluded.current_session_id
WHERE COALESCE((SELECT s.last_turn_at_ms FROM conversation_sessions s
                WHERE s.session_id = conversations.current_session_id), 0) <= :last_turn_at_ms;

-- name: current_session
-- Where the next message goes.
SELECT current_session_id FROM conversations WHERE conversation_id = :conversation_id;

-- name: insert_session
-- A new session, or one that came back from its checkpoint.
INSERT INTO conversation_sessions (session_id, conversation_id, user_id, origin, status, state_json, rolling_summary,
    turn_count, last_seq, version, created_at_ms, last_turn_at_ms, title)
VALUES (:session_id, :conversation_id, :user_id, :origin, :status, :state_json, :rolling_summary,
    :turn_count, :last_seq, 1, :created_at_ms, :last_turn_at_ms, :title);

-- name: update_session
-- The state after a turn or an edit; no row changes when somebody else wrote first (optimistic version).
UPDATE conversation_sessions
SET status = :status, state_json = :state_json, rolling_summary = :rolling_summary, turn_count = :turn_count,
    last_seq = :last_seq, version = version + 1, last_turn_at_ms = :last_turn_at_ms, title = :title
WHERE session_id = :session_id AND version = :version;

-- name: set_session_status
-- A session steps back or is closed in good order; its state stays as it is.
UPDATE conversation_sessions SET status = :status, version = version + 1 WHERE session_id = :session_id;

-- name: hasten_reading
-- The session is paused: what was said in it is read now; one due already waits for no more turns, since it is moved.
UPDATE readings SET due_at_ms = CASE WHEN due_at_ms > :at_ms THEN :at_ms ELSE due_at_ms - 1 END
WHERE session_id = :session_id;

-- name: mark_resuming
-- At start: what was at work when the process died, in one statement, so that it costs the same for any number.
UPDATE conversation_sessions SET status = 'resuming', version = version + 1
WHERE status IN ('active', 'awaiting_clarification');

-- name: get_session
-- One session with its state.
SELECT * FROM conversation_sessions WHERE session_id = :session_id;

-- name: list_sessions
-- The sessions of a conversation, the latest first; empty and private ones are nothing to come back to.
SELECT * FROM conversation_sessions
WHERE conversation_id = :conversation_id AND turn_count > 0 AND origin <> 'private'
ORDER BY last_turn_at_ms DESC, session_id LIMIT :limit OFFSET :offset;

-- name: list_talks
-- The sessions of a conversation in which a person said something, the latest first: runs of tasks alone are none.
SELECT * FROM conversation_sessions AS session
WHERE conversation_id = :conversation_id AND origin <> 'private' AND EXISTS (
    SELECT 1 FROM conversation_turns AS turn
    WHERE turn.session_id = session.session_id AND COALESCE(turn.action_name, '') <> :by_clock)
ORDER BY last_turn_at_ms DESC, session_id LIMIT :limit;

-- name: said_in_session
-- How many turns of a session a person began.
SELECT COUNT(*) AS turns FROM conversation_turns
WHERE session_id = :session_id AND COALESCE(action_name, '') <> :by_clock;

-- name: all_sessions
-- For the operator: every session, the latest first.
SELECT * FROM conversation_sessions ORDER BY last_turn_at_ms DESC, session_id LIMIT :limit;

-- name: session_ids
-- At start: which checkpoints have no session (a database that was emptied or replaced).
SELECT session_id FROM conversation_sessions;

-- name: session_counts
-- For `status`: how many sessions are in which state.
SELECT status, COUNT(*) AS sessions, SUM(turn_count) AS turns FROM conversation_sessions GROUP BY status;

-- name: insert_turn
-- Append-only; UNIQUE (session_id, seq) and the unique dedupe_key let one writer win (P2).
INSERT INTO conversation_turns (turn_id, session_id, conversation_id, seq, user_id, user_text, assistant_text, intent,
    action_name, response_type, job_refs, tool_calls_json, third_party, authored, language, user_tokens,
    assistant_tokens, tool_tokens, model, input_tokens, output_tokens, dedupe_key, digest, created_at_ms)
VALUES (:turn_id, :session_id, :conversation_id, :seq, :user_id, :user_text, :assistant_text, :intent,
    :action_name, :response_type, :job_refs, :tool_calls_json, :third_party, :authored, :language, :user_tokens,
    :assistant_tokens, :tool_tokens, :model, :input_tokens, :output_tokens, :dedupe_key, :digest, :created_at_ms);

-- name: heal_turn
-- A row that no longer matches its digest is written again from the checkpoint (P8).
UPDATE conversation_turns
SET user_id = :user_id, user_text = :user_text, assistant_text = :assistant_text, intent = :intent,
    action_name = :action_name, response_type = :response_type, job_refs = :job_refs,
    tool_calls_json = :tool_calls_json, third_party = :third_party, authored = :authored, language = :language,
    user_tokens = :user_tokens, assistant_tokens = :assistant_tokens, tool_tokens = :tool_tokens, digest = :digest, created_at_ms = :created_at_ms
WHERE session_id = :session_id AND seq = :seq;

-- name: get_turn
-- One turn by its id. Every turn comes with the digest of the one before, against which it is checked.
SELECT t.*, b.digest AS digest_before FROM conversation_turns t
LEFT JOIN conversation_turns b ON b.session_id = t.session_id AND b.seq = t.seq - 1
WHERE t.turn_id = :turn_id;

-- name: turn_answering
-- What was answered already is not answered again (P2, P4).
SELECT t.*, b.digest AS digest_before FROM conversation_turns t
LEFT JOIN conversation_turns b ON b.session_id = t.session_id AND b.seq = t.seq - 1
WHERE t.dedupe_key = :dedupe_key;

-- name: last_turns
-- The newest turns of a session; the caller turns them round.
SELECT t.*, b.digest AS digest_before FROM conversation_turns t
LEFT JOIN conversation_turns b ON b.session_id = t.session_id AND b.seq = t.seq - 1
WHERE t.session_id = :session_id ORDER BY t.seq DESC LIMIT :limit;

-- name: turns_between
-- A stretch of a session, oldest first; both ends belong to it.
SELECT t.*, b.digest AS digest_before FROM conversation_turns t
LEFT JOIN conversation_turns b ON b.session_id = t.session_id AND b.seq = t.seq - 1
WHERE t.session_id = :session_id AND t.seq >= :from_seq AND t.seq <= :through_seq ORDER BY t.seq LIMIT :limit;

-- name: count_turns
-- How many turns the log really holds, for checks.
SELECT COUNT(*) AS turns, COALESCE(MAX(seq), 0) AS last_seq FROM conversation_turns WHERE session_id = :session_id;

-- name: insert_context_snapshot
-- What the model was given for a turn and what was cut, in the same transaction as the turn (003 FR-006).
INSERT INTO context_snapshots (turn_id, session_id, message_history_count, message_history_tokens, messages_truncated,
    today_summary_present, open_threads_count, last_conversation_present, retrieved_count, summary_tokens, total_tokens,
    instructions_tokens, tools_tokens, bootstrap_tokens, message_tokens, receipts_json, compiled_at_ms)
VALUES (:turn_id, :session_id, :message_history_count, :message_history_tokens, :messages_truncated,
    :today_summary_present, :open_threads_count, :last_conversation_present, :retrieved_count, :summary_tokens,
    :total_tokens, :instructions_tokens, :tools_tokens, :bootstrap_tokens, :message_tokens, :receipts_json,
    :compiled_at_ms);

-- name: context_snapshots
-- The receipts of a session, the latest first.
SELECT * FROM context_snapshots WHERE session_id = :session_id ORDER BY compiled_at_ms DESC LIMIT :limit;

-- name: active_jobs
-- What the assistant still has to do here (002 section 5.4).
SELECT job_id, title, status, progress, due_at_ms FROM jobs
WHERE conversation_id = :conversation_id AND status IN ('scheduled', 'delivered') ORDER BY due_at_ms, job_id;

-- name: compactions
-- The compactions of a session, the latest first.
SELECT * FROM compactions WHERE session_id = :session_id ORDER BY created_at_ms DESC, compaction_id LIMIT :limit;

-- Compactions (004): written with the changed state in one transaction.

-- name: insert_compaction
-- What went in, what came out, why: the record that an undo restores from.
INSERT INTO compactions (compaction_id, session_id, reason, method, from_seq, through_seq, tokens_before, tokens_after,
    previous_json, mark_json, undone_at_ms, created_at_ms)
VALUES (:compaction_id, :session_id, :reason, :method, :from_seq, :through_seq, :tokens_before, :tokens_after,
    :previous_json, :mark_json, :undone_at_ms, :created_at_ms);

-- name: undo_compaction
-- Once only: a second tap on the button changes no row.
UPDATE compactions SET undone_at_ms = :undone_at_ms
WHERE compaction_id = :compaction_id AND undone_at_ms IS NULL;

-- Memories (002 phase 3): what outlives its session.

-- name: memory_by_id
-- One memory, to forget it or to show it.
SELECT memory_id, conversation_id, user_id, session_id, turn_id, kind, subject, text, score, status, superseded_by,
    created_at_ms
FROM memories WHERE memory_id = :memory_id;

-- Forgetting (P13): every place that holds people's words, by conversation, session, turn or memory.

-- name: erased_sessions
-- Every session of a conversation, the empty ones too.
SELECT * FROM conversation_sessions WHERE conversation_id = :conversation_id ORDER BY session_id;

-- name: erased_memories
-- Every memory of a conversation, superseded ones too.
SELECT memory_id, conversation_id, user_id, session_id, turn_id, kind, subject, text, score, status, superseded_by,
    created_at_ms
FROM memories WHERE conversation_id = :conversation_id ORDER BY created_at_ms, memory_id;

-- name: erased_jobs
-- Every job of a conversation, finished ones too.
SELECT job_id, turn_id, session_id, user_id, title FROM jobs WHERE conversation_id = :conversation_id ORDER BY job_id;

-- name: turn_ids_of_session
-- Every turn of a session that goes: what rests on one of them goes, too.
SELECT turn_id FROM conversation_turns WHERE session_id = :session_id;

-- name: erase_turn
-- A trigger takes it out of the search.
DELETE FROM conversation_turns WHERE turn_id = :turn_id AND session_id = :session_id;

-- name: erase_turns
-- A whole session.
DELETE FROM conversation_turns WHERE session_id = :session_id;

-- name: sessions_with_calls
-- Sessions of a conversation in which tools were called: their arguments and results may repeat what is forgotten.
SELECT DISTINCT session_id FROM conversation_turns WHERE conversation_id = :conversation_id AND tool_calls_json <> '[]';

-- name: rewrite_turn
-- A turn that moved up or that repeated what is forgotten, with its chain digest made again.
UPDATE conversation_turns
SET seq = :seq, digest = :digest, tool_calls_json = :tool_calls_json, user_text = :user_text,
    assistant_text = :assistant_text, authored = :authored, user_tokens = :user_tokens,
    assistant_tokens = :assistant_tokens, tool_tokens = :tool_tokens
WHERE turn_id = :turn_id;

-- name: erase_snapshot
-- What the model was given for a turn that is gone.
DELETE FROM context_snapshots WHERE turn_id = :turn_id;

-- name: erase_snapshots
-- A whole session.
DELETE FROM context_snapshots WHERE session_id = :session_id;

-- name: erase_compactions
-- Their summaries cover what is gone; the next turn compacts again when it is due.
DELETE FROM compactions WHERE session_id = :session_id;

-- name: erase_choice
-- The packet that was carried into a session that is gone.
DELETE FROM continuity_choices WHERE session_id = :session_id;

-- name: erase_session
-- Its state and its summary.
DELETE FROM conversation_sessions WHERE session_id = :session_id;

-- name: unpoint_conversation
-- The session that was current is gone: the next message opens another one.
UPDATE conversations SET current_session_id = NULL
WHERE conversation_id = :conversation_id AND current_session_id = :session_id;

-- name: erase_conversation
-- Nothing is left of it: the next message is the first.
DELETE FROM conversations WHERE conversation_id = :conversation_id;

-- name: erase_memory
-- A trigger takes it out of the search.
DELETE FROM memories WHERE memory_id = :memory_id;

-- name: unlink_memory
-- An older value does not name a newer one that is gone.
UPDATE memories SET superseded_by = NULL WHERE superseded_by = :memory_id;

-- name: erase_job
-- A reminder that was asked for in what is gone.
DELETE FROM jobs WHERE job_id = :job_id;

-- name: said_elsewhere
-- Whether words that were found in a file are in somebody's turn or note that nobody asked to forget.
SELECT 1 AS found FROM conversation_turns
WHERE replace(user_text, :words, '') <> user_text OR replace(assistant_text, :words, '') <> assistant_text
    OR replace(tool_calls_json, :words, '') <> tool_calls_json
UNION ALL
SELECT 1 AS found FROM notes WHERE replace(text, :words, '') <> text
LIMIT 1;

-- name: turns_with
-- Turns that hold some words, to forget them; as above.
SELECT turn_id, user_text, assistant_text, created_at_ms FROM conversation_turns
WHERE conversation_id = :conversation_id
    AND (replace(lower(user_text), :words, '') <> lower(user_text)
        OR replace(lower(assistant_text), :words, '') <> lower(assistant_text)
        OR replace(user_text, :written, '') <> user_text OR replace(assistant_text, :written, '') <> assistant_text
        OR replace(user_text, :titled, '') <> user_text OR replace(assistant_text, :titled, '') <> assistant_text)
    AND (CAST(:user_id AS BIGINT) IS NULL OR user_id = :user_id)
ORDER BY created_at_ms DESC, turn_id LIMIT :limit;

-- Export: all of one's data.

-- name: exported_jobs
-- Reminders and follow-ups, finished ones too.
SELECT * FROM jobs WHERE conversation_id = :conversation_id ORDER BY created_at_ms, job_id;

-- name: exported_arcs
-- What the bootstrap would carry forward.
SELECT owner_key, kind, title, summary, status, last_touched_at_ms FROM continuity_arcs
WHERE substr(owner_key, 1, length(:prefix)) = :prefix AND status = 'active' ORDER BY arc_id;

-- name: exported_preferences
-- Whether context is carried forward, per persona.
SELECT owner_key, mode, skip_preview FROM continuity_preferences
WHERE substr(owner_key, 1, length(:prefix)) = :prefix ORDER BY owner_key;

-- name: conversations_of
-- Where somebody said something, or opened a session.
SELECT conversation_id FROM conversation_sessions WHERE user_id = :user_id
UNION
SELECT conversation_id FROM conversation_turns WHERE user_id = :user_id
ORDER BY conversation_id;

-- name: turns_left
-- P13: what is left of a conversation, page by page, to see which answers repeat what was forgotten.
SELECT turn_id, user_text, assistant_text FROM conversation_turns
WHERE conversation_id = :conversation_id AND turn_id > :after
    AND (user_id = :user_id OR CAST(:user_id AS BIGINT) IS NULL)
ORDER BY turn_id LIMIT :limit;
