-- What a person's use of models was for, beside how much it was; what was booked before counts as answers.

-- What a person took of models on a day, by purpose; no text, so it outlives forgetting.
CREATE TABLE usage_purposes (
    user_id BIGINT NOT NULL,                  -- Telegram's user id
    day TEXT NOT NULL,                        -- YYYY-MM-DD where the person is
    purpose TEXT NOT NULL,                    -- answer, tools, reading, task; notice: the person was told that a limit is near
    tokens BIGINT NOT NULL,                   -- input and output tokens as the provider reported them
    unpriced_tokens BIGINT NOT NULL,          -- of them, those whose price nobody knows
    cost_nanodollars BIGINT NOT NULL,         -- billionths of a US dollar, of what has a known price
    PRIMARY KEY (user_id, day, purpose)
);
INSERT INTO usage_purposes (user_id, day, purpose, tokens, unpriced_tokens, cost_nanodollars)
SELECT user_id, day, 'answer', tokens, 0, cost_nanodollars FROM usage_days;
DROP TABLE usage_days;
ALTER TABLE usage_purposes RENAME TO usage_days;
