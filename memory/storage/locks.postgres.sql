-- Queries of what several processes on one server need.
-- Differs by necessity because SQLite has one writer, which always learns what became of its commit.

-- name: leave_commit_mark
-- In every transaction: whoever loses the answer to COMMIT looks here what became of it.
INSERT INTO commit_marks (connection_id, mark, at_ms) VALUES (:connection_id, :mark, :at_ms)
ON CONFLICT (connection_id) DO UPDATE SET mark = excluded.mark, at_ms = excluded.at_ms;

-- name: touch_commit_mark
-- Waits until the transaction that left a mark has ended, whichever way.
INSERT INTO commit_marks (connection_id, mark, at_ms) VALUES (:connection_id, :mark, :at_ms)
ON CONFLICT (connection_id) DO UPDATE SET at_ms = excluded.at_ms;

-- name: read_commit_mark
-- The last transaction of a connection that was committed.
SELECT mark FROM commit_marks WHERE connection_id = :connection_id;

-- name: sweep_commit_marks
-- At start: those of connections that are long gone.
DELETE FROM commit_marks WHERE at_ms < :before_ms;

-- name: schema_size
-- For `status`: how much room it takes on the server.
SELECT COALESCE(SUM(pg_total_relation_size(c.oid)), 0) AS bytes FROM pg_class c
WHERE c.relnamespace = CAST(current_schema() AS REGNAMESPACE) AND c.relkind IN ('r', 'm');

-- name: workers_clear
-- Who has the database to itself has its lock: all that is left here are processes that died.
DELETE FROM workers;

-- name: worker_join
-- From now on it is there.
INSERT INTO workers (boot_id, place, excused_json, started_at_ms, alive_at)
VALUES (:boot_id, :place, '[]', :at_ms, clock_timestamp()) RETURNING worker;

-- name: worker_check
-- The fence: first in every transaction, and held to its end.
SELECT worker FROM workers WHERE worker = :worker FOR KEY SHARE;

-- name: worker_renew
-- The fence, and the word that it is alive.
UPDATE workers SET alive_at = clock_timestamp(), excused_json = :excused_json WHERE worker = :worker RETURNING worker;

-- name: worker_leave
-- In good order: what it held is free at once.
DELETE FROM workers WHERE worker = :worker;

-- name: workers_seen
-- Who is there, and who is taken for dead: silent for so long, or for less when the server sees no connection of it.
-- Who is not up to date itself judges nobody, and nobody was silent while the server was away.
SELECT w.worker, w.boot_id, w.place, w.excused_json, w.started_at_ms, CAST(w.alive_at AS TEXT) AS alive_at,
    CAST(1000 * EXTRACT(EPOCH FROM clock_timestamp() - w.alive_at) AS BIGINT) AS silent_ms,
    CAST(w.is_connected AS INTEGER) AS is_connected,
    CAST(w.worker <> :worker
        AND EXISTS (SELECT 1 FROM workers me WHERE me.worker = :worker
            AND me.alive_at > clock_timestamp() - make_interval(secs => :silent_s))
        AND (GREATEST(w.alive_at, pg_postmaster_start_time()) < clock_timestamp() - make_interval(secs => :silent_s)
            OR (GREATEST(w.alive_at, pg_postmaster_start_time()) < clock_timestamp() - make_interval(secs => :gone_s)
                AND NOT w.is_connected))
    AS INTEGER) AS is_dead
FROM (SELECT workers.*, EXISTS (SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND objsubid = 2 AND granted
        AND classid = CAST(hashtext(current_schema() || ' workers') AS OID) AND objid = CAST(workers.worker AS OID)
        AND database = (SELECT oid FROM pg_database WHERE datname = current_database())) AS is_connected
    FROM workers) w
ORDER BY w.worker;

-- name: worker_cut_off
-- Who stopped before its packet was whole holds rows for as long as it sleeps: the server waits for the rest of it.
-- Ours take milliseconds: one that has waited for a second belongs to a process that sleeps.
-- By its start, not its place: containers share process ids and names of hosts.
SELECT pg_terminate_backend(a.pid)
FROM workers w JOIN pg_stat_activity a ON starts_with(a.application_name, 'continuity ' || w.boot_id || ' ')
WHERE w.worker = :worker AND w.alive_at = CAST(:alive_at AS TIMESTAMPTZ) AND w.boot_id <> ''
    AND a.datname = current_database() AND a.usename = current_user AND a.pid <> pg_backend_pid()
    AND a.wait_event = 'ClientRead' AND a.xact_start IS NOT NULL
    AND a.state_change < clock_timestamp() - make_interval(secs => 1);

-- name: worker_bury
-- Waits for its open transactions; no row when it has renewed itself meanwhile.
DELETE FROM workers WHERE worker = :worker AND alive_at = CAST(:alive_at AS TIMESTAMPTZ);

-- name: tell_workers
-- To all that listen, when the transaction is stored.
SELECT pg_notify('continuity_' || current_schema(), :text);
