-- What a person's use of the model costs, for a budget in money.

ALTER TABLE usage_days ADD COLUMN cost_nanodollars BIGINT NOT NULL DEFAULT 0; -- billionths of a US dollar, of what has a known price
