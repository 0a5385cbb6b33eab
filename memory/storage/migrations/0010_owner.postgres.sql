-- Differs by necessity because the process that has a file to itself cannot lose it, and one that has a server can.

-- Which process works on this database.
CREATE TABLE owner (
    one BIGINT PRIMARY KEY,                   -- always 1
    epoch BIGINT NOT NULL                     -- counts the processes that had it: every write of an older one is refused
);
INSERT INTO owner (one, epoch) VALUES (1, 0);

-- When it last said that it is alive, by the server's clock; a table of its own, so that saying so waits for no write.
CREATE TABLE owner_alive (
    one BIGINT PRIMARY KEY,                   -- always 1
    alive_at TIMESTAMPTZ NOT NULL             -- when
);
INSERT INTO owner_alive (one, alive_at) VALUES (1, clock_timestamp());
