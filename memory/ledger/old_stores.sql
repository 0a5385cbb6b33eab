-- Queries of the stores before the ledger: read once, when a conversation's ledger is first opened, then deleted.

-- name: old_sessions
-- Their states hold what was open; '' for one that was altered on the disk.
SELECT session_id, user_id, state_json, last_turn_at_ms FROM conversation_sessions
WHERE conversation_id = :conversation_id ORDER BY last_turn_at_ms, session_id;

-- name: old_memories
-- What was remembered beyond a session.
SELECT memory_id, user_id, session_id, turn_id, kind, subject, text, status, created_at_ms FROM memories
WHERE conversation_id = :conversation_id ORDER BY created_at_ms, memory_id;

-- name: old_session_notes
-- What was read in sessions; '' for notes that were altered on the disk.
SELECT session_id, notes_json, model_json, read_through_seq FROM session_notes
WHERE conversation_id = :conversation_id ORDER BY session_id;

-- name: old_jobs
-- Reminders, follow-ups, and what was asked about.
SELECT job_id, session_id, user_id, turn_id, call_key, kind, title, status, due_at_ms, time_zone, created_at_ms, repeats
FROM jobs WHERE conversation_id = :conversation_id ORDER BY created_at_ms, job_id;

-- name: old_dropped_arcs
-- What was taken off the preview by hand, by the evidence that it stood on.
SELECT sources_json FROM continuity_arcs
WHERE substr(owner_key, 1, length(:prefix)) = :prefix AND status = 'dropped' ORDER BY arc_id;

-- name: old_turns
-- Who spoke, and what tools did.
SELECT turn_id, session_id, user_id, model, tool_calls_json, created_at_ms FROM conversation_turns
WHERE conversation_id = :conversation_id AND (tool_calls_json <> '[]' OR user_id IS NOT NULL);

-- name: erase_old_memories
-- They live on as notes; a trigger takes them out of the search.
DELETE FROM memories WHERE conversation_id = :conversation_id;

-- name: erase_old_session_notes
-- Likewise.
DELETE FROM session_notes WHERE conversation_id = :conversation_id;

-- name: erase_old_jobs
-- Likewise.
DELETE FROM jobs WHERE conversation_id = :conversation_id;
