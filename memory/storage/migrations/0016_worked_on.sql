-- Which turns hold text that was worked on: what is found in them is no word of the person's own.
-- Portable subset (SQLite, PostgreSQL).

ALTER TABLE session_lines ADD COLUMN worked_on_json TEXT NOT NULL DEFAULT '[]';  -- JSON array: the turns with text that was pasted, drafted, translated or played
