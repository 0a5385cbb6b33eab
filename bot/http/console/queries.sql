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

-- name: console_tools
-- How often each tool was called, what waits for a tap, and when it failed last.
SELECT server, tool, COUNT(*) AS calls, SUM(CASE WHEN state = 'asked' THEN 1 ELSE 0 END) AS asked,
    SUM(CASE WHEN state = 'unknown' THEN 1 ELSE 0 END) AS unsure,
    MAX(CASE WHEN state = 'failed' THEN ended_at_ms END) AS failed_at_ms
FROM tool_calls GROUP BY server, tool ORDER BY server, tool;

-- name: console_tool_failures
-- Why tools failed last.
SELECT tool, result FROM tool_calls WHERE state = 'failed' ORDER BY ended_at_ms DESC LIMIT 200;

-- name: console_tool_choices
-- How many people let a tool run unasked, or switched it or its server off.
SELECT name, SUM(CASE WHEN choice = 'always' THEN 1 ELSE 0 END) AS always,
    SUM(CASE WHEN choice = 'off' THEN 1 ELSE 0 END) AS off
FROM tool_choices WHERE conversation_id <> '' GROUP BY name ORDER BY name;

-- name: console_logins
-- How many people are logged in at a server.
SELECT server, COUNT(*) AS people FROM tool_logins GROUP BY server;

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

-- name: console_last_answer
-- For the headline: when the last answer was made, and how long it took from the arrival of its message.
SELECT at_ms, queue_ms + packet_ms + model_ms AS took_ms FROM turn_figures ORDER BY at_ms DESC LIMIT 1;

-- name: console_last_reading
-- For the headline: whether the last reading for notes failed.
SELECT error FROM model_readings ORDER BY at_ms DESC LIMIT 1;

-- name: console_sessions
-- A page of the list, the latest first, each with its chat's current session, its title and the words that it began with.
-- In a search those in which something was said (the last such turn with it), and those of a title or a chat like it.
SELECT s.session_id, s.conversation_id, s.status, s.turn_count, s.last_turn_at_ms, s.title, c.current_session_id,
    l.title AS line_title, l.turn_ids_json AS line_turns_json, b.user_text AS began_with, b.turn_id AS began_turn_id, f.seq AS found_seq
FROM conversation_sessions s
LEFT JOIN conversations c ON c.conversation_id = s.conversation_id
LEFT JOIN session_lines l ON l.session_id = s.session_id
LEFT JOIN conversation_turns b ON b.session_id = s.session_id AND b.seq = 1
LEFT JOIN (
    SELECT session_id, MAX(seq) AS seq FROM conversation_turns
    WHERE CAST(:pattern AS TEXT) IS NOT NULL AND (
        lower(user_text) LIKE lower(:pattern) ESCAPE '!' OR user_text LIKE :pattern ESCAPE '!'
        OR lower(assistant_text) LIKE lower(:pattern) ESCAPE '!' OR assistant_text LIKE :pattern ESCAPE '!')
    GROUP BY session_id
) f ON f.session_id = s.session_id
WHERE CAST(:pattern AS TEXT) IS NULL OR f.seq IS NOT NULL OR lower(l.title) LIKE lower(:pattern) ESCAPE '!'
    OR s.conversation_id LIKE :one OR s.conversation_id LIKE :two OR s.conversation_id LIKE :three
ORDER BY s.last_turn_at_ms DESC, s.session_id LIMIT :limit OFFSET :offset;

-- name: console_files
-- The files of a conversation, the latest first, those that could not be taken too.
SELECT number, kind, name, media_type, size_bytes, pages, unit, state, reason, described, turn_id, received_at_ms
FROM files WHERE conversation_id = :conversation_id ORDER BY received_at_ms DESC LIMIT :limit;

-- name: console_tool_calls
-- The calls of tools in a conversation, the latest first.
SELECT number, server, tool, title, changes, arguments_json, state, result, cost_nanodollars, turn_id, runs, created_at_ms,
    started_at_ms, ended_at_ms
FROM tool_calls WHERE conversation_id = :conversation_id ORDER BY number DESC LIMIT :limit;
