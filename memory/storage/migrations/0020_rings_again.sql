-- A series rings several times for each of its dates: the evening before, and two hours before.
-- Portable subset (SQLite, PostgreSQL).

ALTER TABLE notes ADD COLUMN rings_again_json TEXT NOT NULL DEFAULT '[]';  -- JSON array: minutes behind each ring of a series when it rings again
