-- Queries of the operator's commands. One line of why above each.

-- name: ops_inbox
-- For status: how many updates are in which state, and since when the oldest of them waits.
SELECT state, COUNT(*) AS n, MIN(received_at_ms) AS oldest_at_ms FROM inbox GROUP BY state;

-- name: ops_failures
-- Messages that could not be answered and wait for [Try again] or /retry, by chat and reason; not those that wait for a
-- choice of what to carry forward.
SELECT conversation_id, error, COUNT(*) AS n, MIN(received_at_ms) AS since_ms FROM inbox
WHERE state = 'parked' AND COALESCE(error, '') NOT IN (:waits, :goes_on, :interrupted)
GROUP BY conversation_id, error ORDER BY since_ms DESC;

-- name: ops_failed_messages
-- The same one by one, with their words, for whoever tries them again or lets them go.
SELECT conversation_id, turn_id, error, payload, received_at_ms FROM inbox
WHERE state = 'parked' AND COALESCE(error, '') NOT IN (:waits, :goes_on, :interrupted)
ORDER BY position DESC LIMIT :limit;

-- name: ops_waiting
-- Messages that are not answered yet and parts that are not sent yet, by chat and state, the oldest first.
SELECT conversation_id, state, COUNT(*) AS n, MIN(received_at_ms) AS since_ms FROM inbox
WHERE state IN ('received', 'claimed') OR (state = 'parked' AND error IN (:waits, :goes_on, :interrupted))
GROUP BY conversation_id, state
UNION ALL
SELECT conversation_id, state, COUNT(*) AS n, MIN(created_at_ms) AS since_ms FROM outbox
WHERE state IN ('queued', 'sending') GROUP BY conversation_id, state
ORDER BY since_ms;

-- name: ops_outbox
-- For status: how many parts are in which state, and since when the oldest of them waits.
SELECT state, COUNT(*) AS n, MIN(created_at_ms) AS oldest_at_ms FROM outbox GROUP BY state;

-- name: ops_quarantined
-- What was given up on, the latest first; the payload only to see whether it can be read.
SELECT bot_id, update_id, conversation_id, turn_id, attempts, error, payload, received_at_ms, done_at_ms
FROM inbox WHERE state = 'quarantined' ORDER BY position DESC;

-- name: ops_quarantine_retry
-- The operator said try again; the next start replays it as if it had just come.
UPDATE inbox SET state = 'received', attempts = 0, waits = 0, error = NULL, done_at_ms = NULL, received_at_ms = :at_ms
WHERE bot_id = :bot_id AND update_id = :update_id AND state = 'quarantined';

-- name: ops_quarantine_drop
-- The operator looked at it and lets it go; its text goes with it.
UPDATE inbox SET state = 'done', payload = '', done_at_ms = :at_ms
WHERE bot_id = :bot_id AND update_id = :update_id AND state = 'quarantined';

-- name: ops_failed_parts
-- Parts that Telegram refused for good.
SELECT * FROM outbox WHERE state = 'failed' ORDER BY position DESC LIMIT 100;

-- name: ops_part_retry
-- The operator said try again: it is sent as if it had just been written down.
UPDATE outbox SET state = 'queued', attempts = 0, error = NULL WHERE part_id = :part_id AND state = 'failed';

-- name: ops_part_drop
-- A part that Telegram refused for good, looked at and let go.
DELETE FROM outbox WHERE part_id = :part_id AND state = 'failed';

-- name: ops_unreachable
-- For status: how many chats cannot be written to.
SELECT COUNT(*) AS n FROM unreachable_chats;

-- name: ops_paired
-- For doctor: is there anybody whom the bot answers?
SELECT COUNT(*) AS n FROM people WHERE allowed = 1;

-- name: ops_latest_turn
-- For doctor: a turn of the future tells that the clock was wrong.
SELECT COALESCE(MAX(last_turn_at_ms), 0) AS at_ms FROM conversation_sessions;

-- name: ops_sessions_of_chat
-- For `sessions --conversation`: a whole key, or the chat's number in it.
SELECT * FROM conversation_sessions
WHERE conversation_id = :conversation_id OR conversation_id LIKE '%:' || :conversation_id || ':%'
ORDER BY last_turn_at_ms DESC, session_id LIMIT :limit;

-- name: ops_conversations
-- For `forget` and `export`: a whole key, or the chat's number (all its topics), also one that a group got later.
SELECT DISTINCT conversation_id FROM conversation_sessions
WHERE conversation_id = :conversation_id OR conversation_id LIKE '%:' || :conversation_id || ':%'
    OR EXISTS (SELECT 1 FROM chat_moves WHERE CAST(to_chat_id AS TEXT) = :conversation_id
        AND conversation_id LIKE '%:' || from_chat_id || ':%')
ORDER BY conversation_id;

-- name: metrics_turns
-- For /metrics: turns by model.
SELECT COALESCE(model, 'none') AS model, COUNT(*) AS turns FROM conversation_turns GROUP BY COALESCE(model, 'none');

-- name: metrics_compactions
-- For /metrics: how often old turns were folded, by method.
SELECT method, COUNT(*) AS n FROM compactions WHERE undone_at_ms IS NULL GROUP BY method;

-- name: metrics_starts
-- For /metrics: the starts that ended in good order, and those that did not (the running one among them).
SELECT CASE WHEN stopped_at_ms IS NULL THEN 'crash or running' ELSE 'in order' END AS ended, COUNT(*) AS n
FROM boots GROUP BY ended;
