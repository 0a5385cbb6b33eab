-- Queries of the console. One line of why above each.

-- name: console_days
-- Turns and tokens by day since the epoch (UTC), for the charts.
SELECT created_at_ms / 86400000 AS day, COUNT(*) AS turns, SUM(input_tokens + output_tokens) AS tokens
FROM conversation_turns WHERE created_at_ms >= :since_ms GROUP BY created_at_ms / 86400000;

-- name: console_boot_days
-- Starts by day since the epoch (UTC), for the charts.
SELECT started_at_ms / 86400000 AS day, COUNT(*) AS starts
FROM boots WHERE started_at_ms >= :since_ms GROUP BY started_at_ms / 86400000;

-- name: console_drop
-- The operator looked at it and lets it go; its text goes with it.
UPDATE inbox SET state = 'done', payload = '', done_at_ms = :at_ms
WHERE bot_id = :bot_id AND update_id = :update_id AND state = 'quarantined';

-- name: console_drop_part
-- A part that Telegram refused for good, looked at and let go.
DELETE FROM outbox WHERE part_id = :part_id AND state = 'failed';

-- name: console_failed_parts
-- Parts that Telegram refused for good.
SELECT part_id, conversation_id, text, error, created_at_ms FROM outbox WHERE state = 'failed'
ORDER BY position DESC LIMIT 100;
