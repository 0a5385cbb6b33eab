-- The bot's own tables beside the memory's: inbox, outbox, buttons, people, spending, chats, starts.
-- Databases that were made when these stood in the memory's first migration have them already; hence IF NOT EXISTS.
-- Numbers 1001 … are the bot's, 0001 … the memory's. *_at_ms: UTC epoch milliseconds. *_json: JSON text. Booleans are 0 or 1.

-- Updates written down before Telegram may forget them (P1, P2, P3).
CREATE TABLE IF NOT EXISTS inbox (
    bot_id BIGINT NOT NULL,                   -- the bot that received it
    update_id BIGINT NOT NULL,                -- Telegram's id; identity only, never an order
    position BIGINT NOT NULL,                 -- order of arrival on this disk
    conversation_id TEXT,                     -- the conversation, NULL when it has none
    payload TEXT NOT NULL,                    -- the raw update as JSON; emptied when it is done
    state TEXT NOT NULL,                      -- received | claimed | parked | done | quarantined
    attempts BIGINT NOT NULL,                 -- how often work on it was begun
    boot_id TEXT,                             -- the process that claimed it
    turn_id TEXT,                             -- the turn that it is part of, given at the first claim
    error TEXT,                               -- why it was quarantined or parked
    received_at_ms BIGINT NOT NULL,           -- when it was written down
    done_at_ms BIGINT,                        -- when it was finished
    PRIMARY KEY (bot_id, update_id)
);
CREATE INDEX IF NOT EXISTS inbox_by_state ON inbox (state, position);

-- Message parts written down before they are sent (P4, P5, P6).
CREATE TABLE IF NOT EXISTS outbox (
    part_id TEXT PRIMARY KEY,                 -- o_<hex>
    bot_id BIGINT NOT NULL,                   -- the bot that sends it
    conversation_id TEXT NOT NULL,            -- the conversation
    chat_id BIGINT NOT NULL,                  -- Telegram's chat
    thread_id BIGINT,                         -- forum topic, or NULL
    position BIGINT NOT NULL,                 -- order of sending within the process's lifetime and across restarts
    turn_id TEXT,                             -- the turn it answers, NULL for notices
    part_no BIGINT NOT NULL,                  -- 0, 1, 2 … within one message of ours; -1 = the live preview of a stream
    kind TEXT NOT NULL,                       -- reply | notice | preview
    text TEXT NOT NULL,                       -- plain text, at most 4096 UTF-16 units
    entities_json TEXT NOT NULL,              -- JSON array of MessageEntity
    markup_json TEXT,                         -- inline keyboard as JSON, or NULL
    reply_to_message_id BIGINT,               -- quotes this message, or NULL
    edits_message_id BIGINT,                  -- not NULL: edit this message instead of sending a new one
    state TEXT NOT NULL,                      -- queued | sending | sent | failed
    attempts BIGINT NOT NULL,                 -- how often sending was begun
    message_id BIGINT,                        -- Telegram's id once it is known
    after_message_id BIGINT,                  -- highest message id known when it was written down, then when it turned sending: the probe starts above it
    error TEXT,                               -- why it failed
    created_at_ms BIGINT NOT NULL,            -- when it was written down
    sending_at_ms BIGINT,                     -- when sending began
    sent_at_ms BIGINT                         -- when Telegram confirmed it
);
CREATE INDEX IF NOT EXISTS outbox_by_state ON outbox (state, position);
CREATE INDEX IF NOT EXISTS outbox_by_turn ON outbox (turn_id, part_no);
CREATE INDEX IF NOT EXISTS outbox_by_chat ON outbox (chat_id, message_id);

-- What a button means; the button itself carries only the id.
CREATE TABLE IF NOT EXISTS buttons (
    button_id TEXT PRIMARY KEY,               -- b_<hex>: the callback data
    conversation_id TEXT NOT NULL,            -- where it was shown
    user_id BIGINT,                           -- who may tap it; NULL = anybody allowed
    group_id TEXT NOT NULL,                   -- buttons of one message: a tap on one uses up all
    action TEXT NOT NULL,                     -- what to do
    payload_json TEXT NOT NULL,               -- with what
    used_at_ms BIGINT,                        -- when it was tapped, or NULL
    expires_at_ms BIGINT NOT NULL,            -- afterwards a tap only says that it is too old
    created_at_ms BIGINT NOT NULL             -- when it was made
);
CREATE INDEX IF NOT EXISTS buttons_by_group ON buttons (group_id);
CREATE INDEX IF NOT EXISTS buttons_by_expiry ON buttons (expires_at_ms);

-- People who paired with the code on the operator's console, and what they chose.
CREATE TABLE IF NOT EXISTS people (
    user_id BIGINT PRIMARY KEY,               -- Telegram's user id
    allowed BIGINT NOT NULL,                  -- 1 = paired
    settings_json TEXT NOT NULL,              -- language, time zone, streaming, persona
    created_at_ms BIGINT NOT NULL             -- when they were first let in
);

-- The model's tokens per person and day; no text, so it outlives forgetting.
CREATE TABLE IF NOT EXISTS usage_days (
    user_id BIGINT NOT NULL,                  -- Telegram's user id
    day TEXT NOT NULL,                        -- YYYY-MM-DD where the person is
    tokens BIGINT NOT NULL,                   -- input and output tokens as the provider reported them
    PRIMARY KEY (user_id, day)
);

-- Chats that cannot be written to (blocked, kicked).
CREATE TABLE IF NOT EXISTS unreachable_chats (
    bot_id BIGINT NOT NULL,                   -- the bot
    chat_id BIGINT NOT NULL,                  -- the chat
    reason TEXT NOT NULL,                     -- what Telegram said
    since_at_ms BIGINT NOT NULL,              -- when it said so
    PRIMARY KEY (bot_id, chat_id)
);

-- Each start of the process and how it ended.
CREATE TABLE IF NOT EXISTS boots (
    boot_id TEXT PRIMARY KEY,                 -- boot_<hex>
    position BIGINT NOT NULL,                 -- 1, 2, 3 …
    report_json TEXT NOT NULL,                -- what the start found and did
    started_at_ms BIGINT NOT NULL,            -- when it started
    stopped_at_ms BIGINT                      -- when it stopped in good order; NULL = it is running or it died
);
