-- Differs by necessity because only a server can be out of reach while COMMIT is under way.

-- The number of the last transaction that each connection committed: what tells whether a commit whose answer was lost is there.
CREATE TABLE commit_marks (
    connection_id TEXT PRIMARY KEY,           -- one connection of one process
    mark BIGINT NOT NULL,                     -- 1, 2, 3 … of its transactions
    at_ms BIGINT NOT NULL                     -- when it was left; old ones are swept away
);
