-- How long what has an hour lasts: the boiler man comes from 12:00 to 16:00.
-- Portable subset (SQLite, PostgreSQL).

ALTER TABLE notes ADD COLUMN lasts_ms BIGINT NOT NULL DEFAULT 0;  -- from its hour until it is over, 0 = no end was said
