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

-- name: lock_owner
-- A takeover waits for the transactions of the process before, which share this row.
SELECT epoch FROM owner FOR UPDATE;

-- name: take_ownership
-- From now on every write of the process before is refused.
UPDATE owner SET epoch = epoch + 1 RETURNING epoch;

-- name: check_ownership
-- The fence: first in every transaction, and held to its end.
SELECT epoch FROM owner WHERE epoch = :epoch FOR KEY SHARE;

-- name: say_alive
-- Once a second.
UPDATE owner_alive SET alive_at = clock_timestamp();
