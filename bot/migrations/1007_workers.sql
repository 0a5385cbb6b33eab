-- Which message an update carries: an unrecorded message of ours is looked for among the ids that nobody knows.
ALTER TABLE inbox ADD COLUMN chat_id BIGINT;    -- Telegram's chat, NULL when there is none
ALTER TABLE inbox ADD COLUMN message_id BIGINT; -- Telegram's message, NULL when there is none
