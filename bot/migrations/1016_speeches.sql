-- Answers that are to be said aloud: written down with the answer, gone when the voice message waits in the outbox.

-- One row per answer that waits for its voice.
CREATE TABLE speeches (
    turn_id TEXT PRIMARY KEY,                 -- the answer
    bot_id BIGINT NOT NULL,                   -- the bot that says it
    conversation_id TEXT NOT NULL,            -- the conversation
    chat_id BIGINT NOT NULL,                  -- Telegram's chat
    thread_id BIGINT,                         -- forum topic, or NULL
    user_id BIGINT,                           -- who is answered
    text TEXT NOT NULL,                       -- what is said: plain text
    created_at_ms BIGINT NOT NULL             -- when it was written down
);
