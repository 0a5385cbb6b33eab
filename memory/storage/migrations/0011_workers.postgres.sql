-- Differs by necessity because several processes may work on a server at the same time, and on a file one.

DROP TABLE owner_alive;
DROP TABLE owner;

-- The processes that work on this database. Every transaction of one checks that its row is there and holds it to its end.
CREATE TABLE workers (
    worker BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY, -- its number, never given twice
    boot_id TEXT NOT NULL,                    -- which start it is, '' for a program that is no bot
    place TEXT NOT NULL,                      -- host and process id, for operators
    excused_json TEXT NOT NULL,               -- JSON array: turns that are not to blame if it dies now
    started_at_ms BIGINT NOT NULL,            -- when it began
    alive_at TIMESTAMPTZ NOT NULL             -- when it last renewed this row, by the server's clock
);
