-- What people thought of answers: 👍, 👎 and the like under them, for the operator.

-- One row per person and answer that they reacted to; taken back, it goes.
CREATE TABLE reactions (
    bot_id BIGINT NOT NULL,                   -- the bot that answered
    chat_id BIGINT NOT NULL,                  -- Telegram's chat
    message_id BIGINT NOT NULL,               -- the message under which it stands
    user_id BIGINT NOT NULL,                  -- who reacted
    conversation_id TEXT NOT NULL,            -- the conversation
    turn_id TEXT NOT NULL,                    -- the answer
    emoji TEXT NOT NULL,                      -- the reaction, at most three of them
    at_ms BIGINT NOT NULL,                    -- when
    PRIMARY KEY (bot_id, chat_id, message_id, user_id)
);
CREATE INDEX reactions_by_turn ON reactions (turn_id);
