-- What models took behind the replies, for charts and `status`.

-- Uses of a model that answered nobody: notes and summaries. No words and nobody's name, so it outlives forgetting.
CREATE TABLE model_uses (
    use_id TEXT PRIMARY KEY,                  -- u_<hex>
    purpose TEXT NOT NULL,                    -- reading or summary
    model TEXT NOT NULL,                      -- which model
    input_tokens BIGINT NOT NULL,             -- usage as the provider reported it
    cached_tokens BIGINT NOT NULL,            -- of the input, what the provider had in its cache
    output_tokens BIGINT NOT NULL,            -- usage as the provider reported it
    cost_nanodollars BIGINT,                  -- billionths of a US dollar, NULL when nobody knows the price
    at_ms BIGINT NOT NULL                     -- when
);
CREATE INDEX model_uses_by_time ON model_uses (at_ms);
