-- The last day of what lasts several: it is not over before.
-- Portable subset (SQLite, PostgreSQL).

ALTER TABLE notes ADD COLUMN ends_at_ms BIGINT;  -- the beginning of its last day where it lasts several, NULL = one day
