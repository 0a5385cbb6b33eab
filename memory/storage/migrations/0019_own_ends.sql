-- One date of a series has a time or an end of its own: choir till half past nine this time, its ring as ever.
-- Portable subset (SQLite, PostgreSQL).

ALTER TABLE occurrences ADD COLUMN due_at_ms BIGINT;  -- when it is, where that does not follow from its ring
ALTER TABLE occurrences ADD COLUMN lasts_ms BIGINT;   -- how long, where not as long as the others
