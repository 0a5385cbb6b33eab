-- Differs by necessity because several processes may work on a server at the same time, and on a file one.

-- Who works on a chat, or does what has to be done once. A worker that leaves or dies takes its row of `workers` along,
-- and with it everything here is free.
CREATE TABLE leases (
    name TEXT PRIMARY KEY,                    -- the beginning of the keys of a chat's conversations, or a role
    worker BIGINT REFERENCES workers ON DELETE SET NULL, -- who holds it, NULL = nobody
    taken_at_ms BIGINT NOT NULL               -- since when
);
CREATE INDEX leases_by_worker ON leases (worker);

-- Order of arrival and of sending over all workers.
CREATE SEQUENCE inbox_positions;
CREATE SEQUENCE outbox_positions;

CREATE FUNCTION lease_of(conversation_id TEXT) RETURNS TEXT LANGUAGE sql IMMUTABLE
RETURN regexp_replace(conversation_id, ':[^:]*$', '');
CREATE INDEX inbox_open ON inbox (lease_of(conversation_id), position) WHERE state IN ('received', 'claimed', 'parked');
CREATE INDEX outbox_open ON outbox (lease_of(conversation_id), position) WHERE state IN ('queued', 'sending');
CREATE INDEX inbox_by_message ON inbox (bot_id, message_id);
CREATE INDEX outbox_by_message ON outbox (bot_id, message_id);
