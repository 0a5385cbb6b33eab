-- Queries of the console. One line of why above each.

-- name: console_days
-- Turns and tokens by day since the epoch (UTC), for the charts.
SELECT created_at_ms / 86400000 AS day, COUNT(*) AS turns, SUM(input_tokens + output_tokens) AS tokens
FROM conversation_turns WHERE created_at_ms >= :since_ms GROUP BY created_at_ms / 86400000;

-- name: console_boot_days
-- Starts by day since the epoch (UTC), for the charts.
SELECT started_at_ms / 86400000 AS day, COUNT(*) AS starts
FROM boots WHERE started_at_ms >= :since_ms GROUP BY started_at_ms / 86400000;
