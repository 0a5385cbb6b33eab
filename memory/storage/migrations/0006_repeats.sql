-- Reminders that come again.
-- Portable subset (SQLite, PostgreSQL).

ALTER TABLE jobs ADD COLUMN repeats TEXT NOT NULL DEFAULT '';  -- the rule by which it comes again, e.g. week@09:00, '' = it comes once
