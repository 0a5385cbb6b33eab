-- A byte that flips in a row is found when the row is read.
-- Differs by necessity because PostgreSQL proves its pages by checksums of its own.

ALTER TABLE conversations ADD COLUMN row_digest TEXT; -- digest of the row (memory/storage/sqlite_rows.py); NULL = it has none yet
ALTER TABLE conversation_sessions ADD COLUMN row_digest TEXT; -- digest of the row (memory/storage/sqlite_rows.py); NULL = it has none yet
ALTER TABLE compactions ADD COLUMN row_digest TEXT; -- digest of the row (memory/storage/sqlite_rows.py); NULL = it has none yet
ALTER TABLE memories ADD COLUMN row_digest TEXT; -- digest of the row (memory/storage/sqlite_rows.py); NULL = it has none yet
ALTER TABLE jobs ADD COLUMN row_digest TEXT; -- digest of the row (memory/storage/sqlite_rows.py); NULL = it has none yet
ALTER TABLE continuity_relationship_states ADD COLUMN row_digest TEXT; -- digest of the row (memory/storage/sqlite_rows.py); NULL = it has none yet
ALTER TABLE continuity_arcs ADD COLUMN row_digest TEXT; -- digest of the row (memory/storage/sqlite_rows.py); NULL = it has none yet
ALTER TABLE continuity_bootstrap_cache ADD COLUMN row_digest TEXT; -- digest of the row (memory/storage/sqlite_rows.py); NULL = it has none yet
ALTER TABLE continuity_preferences ADD COLUMN row_digest TEXT; -- digest of the row (memory/storage/sqlite_rows.py); NULL = it has none yet
ALTER TABLE continuity_choices ADD COLUMN row_digest TEXT; -- digest of the row (memory/storage/sqlite_rows.py); NULL = it has none yet
ALTER TABLE session_notes ADD COLUMN row_digest TEXT; -- digest of the row (memory/storage/sqlite_rows.py); NULL = it has none yet
