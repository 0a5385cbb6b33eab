-- Queries of the console. One line of why above each.

-- name: console_days
-- Turns and tokens by day since the epoch (UTC), for the charts.
SELECT created_at_ms / 86400000 AS day, COUNT(*) AS turns, SUM(input_tokens + output_tokens) AS tokens
FROM conversation_turns WHERE created_at_ms >= :since_ms GROUP BY created_at_ms / 86400000;

-- name: console_boot_days
-- Starts by day since the epoch (UTC), for the charts.
SELECT started_at_ms / 86400000 AS day, COUNT(*) AS starts
FROM boots WHERE started_at_ms >= :since_ms GROUP BY started_at_ms / 86400000;

-- name: console_boots
-- What each start found, for the chart of recoveries.
SELECT boot_id, started_at_ms, stopped_at_ms, report_json FROM boots WHERE started_at_ms >= :since_ms
ORDER BY position DESC LIMIT 5000;

-- name: console_spending
-- Tokens, money and turns without a known price by day (UTC); it outlives forgetting.
SELECT at_ms / 86400000 AS day, COUNT(*) AS turns, SUM(input_tokens) AS input_tokens, SUM(output_tokens) AS output_tokens,
    SUM(COALESCE(cost_nanodollars, 0)) AS cost_nanodollars,
    SUM(CASE WHEN model IS NOT NULL AND cost_nanodollars IS NULL THEN 1 ELSE 0 END) AS unpriced
FROM turn_figures WHERE at_ms >= :since_ms GROUP BY at_ms / 86400000;

-- name: console_uses
-- Tokens and money that models took behind the replies by day (UTC): notes and summaries.
SELECT at_ms / 86400000 AS day, SUM(input_tokens + output_tokens) AS tokens,
    SUM(COALESCE(cost_nanodollars, 0)) AS cost_nanodollars,
    SUM(CASE WHEN cost_nanodollars IS NULL THEN 1 ELSE 0 END) AS unpriced
FROM model_uses WHERE at_ms >= :since_ms GROUP BY at_ms / 86400000;

-- name: console_waits
-- How long the middle and the slowest twentieth of answers took by day (UTC), from arrival to the whole answer.
SELECT day, MIN(CASE WHEN place * 2 >= many THEN took_ms END) AS half_ms,
    MIN(CASE WHEN place * 20 >= many * 19 THEN took_ms END) AS most_ms
FROM (
    SELECT at_ms / 86400000 AS day, queue_ms + packet_ms + model_ms AS took_ms,
        ROW_NUMBER() OVER (PARTITION BY at_ms / 86400000 ORDER BY queue_ms + packet_ms + model_ms) AS place,
        COUNT(*) OVER (PARTITION BY at_ms / 86400000) AS many
    FROM turn_figures WHERE at_ms >= :since_ms
) AS ranked
GROUP BY day;

-- name: console_figures
-- What the answers of a session took, to be shown beside them.
SELECT f.turn_id, f.model, f.input_tokens, f.cached_tokens, f.output_tokens, f.cost_nanodollars, f.queue_ms, f.packet_ms,
    f.model_ms
FROM turn_figures f JOIN conversation_turns t ON t.turn_id = f.turn_id WHERE t.session_id = :session_id;

-- name: console_log_out
-- A login is ended once; a second time changes nothing.
INSERT INTO console_logouts (login_id, until_ms) VALUES (:login_id, :until_ms) ON CONFLICT (login_id) DO NOTHING;

-- name: console_logouts_purge
-- A login that would have ended by now opens nothing anyway.
DELETE FROM console_logouts WHERE until_ms < :now_ms;

-- name: console_logged_out
-- Asked for each page: whether this login was ended, by whichever process.
SELECT until_ms FROM console_logouts WHERE login_id = :login_id;
