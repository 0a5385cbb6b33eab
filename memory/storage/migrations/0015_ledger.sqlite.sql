-- A byte that flips in a row is found when the row is read.
-- Differs by necessity because PostgreSQL proves its pages by checksums of its own.

ALTER TABLE ledgers ADD COLUMN row_digest TEXT; -- digest of the row (memory/storage/sqlite_rows.py); NULL = it has none yet
ALTER TABLE notes ADD COLUMN row_digest TEXT; -- digest of the row (memory/storage/sqlite_rows.py); NULL = it has none yet
ALTER TABLE occurrences ADD COLUMN row_digest TEXT; -- digest of the row (memory/storage/sqlite_rows.py); NULL = it has none yet
ALTER TABLE note_changes ADD COLUMN row_digest TEXT; -- digest of the row (memory/storage/sqlite_rows.py); NULL = it has none yet
ALTER TABLE session_lines ADD COLUMN row_digest TEXT; -- digest of the row (memory/storage/sqlite_rows.py); NULL = it has none yet
