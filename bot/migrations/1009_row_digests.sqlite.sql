-- A byte that flips in a row is found when the row is read.
-- Differs by necessity because PostgreSQL proves its pages by checksums of its own.

ALTER TABLE inbox ADD COLUMN row_digest TEXT; -- digest of the row (memory/storage/sqlite_rows.py); NULL = it has none yet
ALTER TABLE outbox ADD COLUMN row_digest TEXT; -- digest of the row (memory/storage/sqlite_rows.py); NULL = it has none yet
ALTER TABLE buttons ADD COLUMN row_digest TEXT; -- digest of the row (memory/storage/sqlite_rows.py); NULL = it has none yet
ALTER TABLE people ADD COLUMN row_digest TEXT; -- digest of the row (memory/storage/sqlite_rows.py); NULL = it has none yet
ALTER TABLE chat_moves ADD COLUMN row_digest TEXT; -- digest of the row (memory/storage/sqlite_rows.py); NULL = it has none yet
