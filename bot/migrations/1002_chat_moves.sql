-- A group that became a supergroup has a new number; its conversation keeps the key of the old one.
CREATE TABLE chat_moves (
    bot_id BIGINT NOT NULL,                   -- the bot
    from_chat_id BIGINT NOT NULL,             -- the group's number before: the one in its conversation's key
    to_chat_id BIGINT NOT NULL,               -- the supergroup's number, which messages are sent to
    PRIMARY KEY (bot_id, to_chat_id)
);
