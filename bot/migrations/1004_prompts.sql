-- What a model was given for each answer, as far as it can be said again, and what an answer took.

-- The packet of an answer; gone with everything else as soon as something of its conversation is forgotten (P13).
CREATE TABLE prompts (
    turn_id TEXT PRIMARY KEY,                 -- the turn that it was made for
    conversation_id TEXT NOT NULL,            -- its conversation
    packet_json TEXT NOT NULL,                -- the packet; turns shown whole stand in it by their ids alone
    instructions_digest TEXT NOT NULL,        -- which text of prompt_texts stood before it
    tools_digest TEXT NOT NULL,               -- which text of prompt_texts described the tools
    digest TEXT NOT NULL,                     -- blake2b over the whole prompt: proves that what is shown later is what was given
    at_ms BIGINT NOT NULL                     -- when
);
CREATE INDEX prompts_by_conversation ON prompts (conversation_id);
CREATE INDEX prompts_by_time ON prompts (at_ms);

-- Texts of ours that stand in many prompts: instructions and descriptions of tools. No people's words.
CREATE TABLE prompt_texts (
    digest TEXT PRIMARY KEY,                  -- blake2b of the text
    text TEXT NOT NULL                        -- the text
);

-- What each answer took, for charts; no words and nobody's name, so it outlives forgetting.
CREATE TABLE turn_figures (
    turn_id TEXT PRIMARY KEY,                 -- the turn
    model TEXT,                               -- which model, NULL for none
    input_tokens BIGINT NOT NULL,             -- usage as the provider reported it
    cached_tokens BIGINT NOT NULL,            -- of the input, what the provider had in its cache
    output_tokens BIGINT NOT NULL,            -- usage as the provider reported it
    cost_nanodollars BIGINT,                  -- billionths of a US dollar, NULL when nobody knows the price
    queue_ms BIGINT NOT NULL,                 -- from the arrival of the last message to the beginning
    packet_ms BIGINT NOT NULL,                -- building the packet
    model_ms BIGINT NOT NULL,                 -- until the answer was whole
    at_ms BIGINT NOT NULL                     -- when
);
CREATE INDEX turn_figures_by_time ON turn_figures (at_ms);
