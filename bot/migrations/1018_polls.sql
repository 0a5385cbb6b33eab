-- Polls that people sent: Telegram tells that one has ended without saying where it stands.

-- One row per poll and conversation; once its end was told to the model, it goes.
CREATE TABLE polls (
    bot_id BIGINT NOT NULL,                   -- the bot that was sent it
    poll_id TEXT NOT NULL,                    -- Telegram's id of the poll, the same wherever it is forwarded to
    conversation_id TEXT NOT NULL,            -- the conversation
    chat_id BIGINT NOT NULL,                  -- Telegram's chat
    thread_id BIGINT,                         -- forum topic, or NULL
    message_id BIGINT NOT NULL,               -- the message that brought it
    user_id BIGINT,                           -- who sent that
    outcome TEXT NOT NULL,                    -- how it ended, '' = it has not ended yet
    turn_id TEXT,                             -- the turn that reads so now, NULL = it has not ended yet
    received_at_ms BIGINT NOT NULL,           -- when it was written down
    PRIMARY KEY (bot_id, poll_id, conversation_id)
);
CREATE INDEX polls_by_conversation ON polls (conversation_id);
