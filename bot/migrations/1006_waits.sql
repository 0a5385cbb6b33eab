-- Deaths that are not held against an update are counted by themselves.

ALTER TABLE inbox ADD COLUMN waits BIGINT NOT NULL DEFAULT 0; -- how often the process died while others were at work too or it waited for its model
