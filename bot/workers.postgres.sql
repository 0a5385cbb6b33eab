-- Queries of several processes that share the work. One line of why above each.
-- Differs by necessity because a file has one process.

-- name: inbox_insert
-- As for every database, but the order of arrival is counted over all workers; what of its conversation comes before it?
INSERT INTO inbox (bot_id, update_id, position, conversation_id, payload, state, attempts, error, received_at_ms,
    done_at_ms, chat_id, message_id)
VALUES (:bot_id, :update_id, nextval('inbox_positions'), :conversation_id, :payload, :state, 0, :error, :received_at_ms,
    :done_at_ms, :chat_id, :message_id)
ON CONFLICT (bot_id, update_id) DO NOTHING
RETURNING (SELECT before.update_id FROM inbox before
    WHERE lease_of(before.conversation_id) = lease_of(inbox.conversation_id)
        AND before.conversation_id = inbox.conversation_id
        AND before.state IN ('received', 'claimed') AND before.position < inbox.position
    ORDER BY before.position DESC LIMIT 1) AS behind;

-- name: inbox_last_position
-- The counter goes on behind what a copy from another database brought.
SELECT CASE WHEN found.position > s.last_value THEN setval('inbox_positions', found.position) ELSE found.position END
    AS position
FROM inbox_positions s, (SELECT COALESCE(MAX(position), 0) AS position FROM inbox) found;

-- name: outbox_insert
-- As for every database, but the order of sending is counted over all workers.
INSERT INTO outbox (part_id, bot_id, conversation_id, chat_id, thread_id, position, turn_id, part_no, kind, text,
    entities_json, markup_json, reply_to_message_id, edits_message_id, state, attempts, message_id, after_message_id,
    error, created_at_ms, sending_at_ms, sent_at_ms)
VALUES (:part_id, :bot_id, :conversation_id, :chat_id, :thread_id, nextval('outbox_positions'), :turn_id, :part_no,
    :kind, :text, :entities_json, :markup_json, :reply_to_message_id, :edits_message_id, :state, :attempts, NULL,
    :after_message_id, NULL, :created_at_ms, CAST(:sending_at_ms AS BIGINT), NULL);

-- name: outbox_last_position
-- The counter goes on behind what a copy from another database brought.
SELECT CASE WHEN found.position > s.last_value THEN setval('outbox_positions', found.position) ELSE found.position END
    AS position
FROM outbox_positions s, (SELECT COALESCE(MAX(position), 0) AS position FROM outbox) found;

-- name: leases_take
-- Chats with work that nobody holds, in the order of arrival; what another worker is just taking is passed over.
WITH waiting AS MATERIALIZED (
    SELECT lease_of(conversation_id) AS name, position FROM inbox
    WHERE bot_id = :bot_id AND state IN ('received', 'claimed') AND conversation_id IS NOT NULL
        AND NOT EXISTS (SELECT 1 FROM leases l WHERE l.name = lease_of(conversation_id) AND l.worker IS NOT NULL)
    ORDER BY position LIMIT :room FOR UPDATE SKIP LOCKED
),
unsent AS MATERIALIZED (
    SELECT lease_of(conversation_id) AS name, 0 AS position FROM outbox
    WHERE bot_id = :bot_id AND state IN ('queued', 'sending')
        AND NOT EXISTS (SELECT 1 FROM leases l WHERE l.name = lease_of(conversation_id) AND l.worker IS NOT NULL)
    ORDER BY position LIMIT :room FOR UPDATE SKIP LOCKED
)
INSERT INTO leases (name, worker, taken_at_ms)
SELECT name, :worker, :at_ms FROM (SELECT * FROM waiting UNION ALL SELECT * FROM unsent) work
GROUP BY name ORDER BY MIN(position) LIMIT :room
ON CONFLICT (name) DO UPDATE SET worker = excluded.worker, taken_at_ms = excluded.taken_at_ms
    WHERE leases.worker IS NULL
RETURNING name;

-- name: lease_take
-- One by its name: what has to be done once, or a chat that is wanted without work in it.
INSERT INTO leases (name, worker, taken_at_ms) VALUES (:name, :worker, :at_ms)
ON CONFLICT (name) DO UPDATE SET worker = excluded.worker, taken_at_ms = excluded.taken_at_ms
    WHERE leases.worker IS NULL
RETURNING name;

-- name: lease_holder
-- Who holds it.
SELECT worker FROM leases WHERE name = :name AND worker IS NOT NULL;

-- name: leases_give_back
-- Nothing is left to do there.
UPDATE leases SET worker = NULL
WHERE worker = :worker AND name IN (SELECT jsonb_array_elements_text(CAST(:names AS JSONB)));

-- name: leases_counted
-- For operators: how many chats each worker holds.
SELECT worker, COUNT(*) AS n FROM leases WHERE worker IS NOT NULL AND name LIKE 'tg:%' GROUP BY worker;

-- name: work_waits
-- Is there work that nobody holds?
SELECT EXISTS (SELECT 1 FROM inbox
    WHERE bot_id = :bot_id AND state IN ('received', 'claimed') AND conversation_id IS NOT NULL
        AND NOT EXISTS (SELECT 1 FROM leases l WHERE l.name = lease_of(conversation_id) AND l.worker IS NOT NULL))
OR EXISTS (SELECT 1 FROM outbox WHERE bot_id = :bot_id AND state IN ('queued', 'sending')
        AND NOT EXISTS (SELECT 1 FROM leases l WHERE l.name = lease_of(conversation_id) AND l.worker IS NOT NULL))
    AS found;

-- name: inbox_of_leases
-- What is unfinished in chats that this worker holds, in the order of arrival; also what was begun, or that not.
SELECT i.bot_id, i.update_id, i.position, i.payload, i.state, i.attempts, i.waits, i.boot_id, i.turn_id, i.received_at_ms
FROM leases l JOIN inbox i ON lease_of(i.conversation_id) = l.name
WHERE l.worker = :worker AND l.name IN (SELECT jsonb_array_elements_text(CAST(:names AS JSONB))) AND i.bot_id = :bot_id
    AND i.state IN ('received', 'claimed', 'parked') AND (i.state <> 'parked' OR i.error = :goes_on)
    AND (i.state <> 'claimed' OR :begun = 1)
ORDER BY i.position;

-- name: outbox_of_leases
-- What is unsent in them, in the order of sending.
SELECT o.* FROM leases l JOIN outbox o ON lease_of(o.conversation_id) = l.name
WHERE l.worker = :worker AND l.name IN (SELECT jsonb_array_elements_text(CAST(:names AS JSONB))) AND o.bot_id = :bot_id
    AND o.state IN ('queued', 'sending')
ORDER BY o.position;

-- name: claims_of_boot
-- What a dead worker had begun.
SELECT DISTINCT turn_id FROM inbox WHERE boot_id = :boot_id AND state = 'claimed';

-- name: sessions_interrupted
-- Of a dead worker, before its leases are free.
UPDATE conversation_sessions SET status = 'resuming', version = version + 1
WHERE status IN ('active', 'awaiting_clarification')
    AND lease_of(conversation_id) IN (SELECT name FROM leases WHERE worker = :worker);
