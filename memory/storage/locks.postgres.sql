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
