-- A call of a tool is written down before it is made and after it, so that none is made twice unasked.

-- Calls of tools beyond the notes, with the whole of what they returned; gone with their turn when it is forgotten.
CREATE TABLE tool_calls (
    call_id TEXT PRIMARY KEY,                 -- c_<hex> of turn, tool, arguments and how often before; its idempotency key
    conversation_id TEXT NOT NULL,            -- where it was asked for
    user_id BIGINT,                           -- who is answered: the one who may be asked about it
    turn_id TEXT NOT NULL,                    -- the turn in which the model asked for it
    told_turn_id TEXT,                        -- the later turn in which the model was told how it ended, NULL = in its own, or not yet
    number BIGINT NOT NULL,                   -- 1, 2 … within the conversation, for read_result
    server TEXT NOT NULL,                     -- where the tool comes from; '' = the bot's own
    tool TEXT NOT NULL,                       -- its name, as the model calls it
    title TEXT NOT NULL,                      -- its name, as people read it
    digest TEXT NOT NULL,                     -- of the tool as it was described then
    changes BIGINT NOT NULL,                  -- 1 = it is not made again unasked
    arguments_json TEXT NOT NULL,             -- its arguments, keys in order
    state TEXT NOT NULL,                      -- asked | planned | running | done | failed | unknown | declined | expired | left
    result TEXT,                              -- all that it returned, without what nobody sees
    is_foreign BIGINT NOT NULL,               -- 1 = somebody else's words
    cost_nanodollars BIGINT,                  -- billionths of a US dollar, NULL when nobody knows
    boot_id TEXT,                             -- the process that makes it, or made it
    runs BIGINT NOT NULL,                     -- how often it was begun
    created_at_ms BIGINT NOT NULL,            -- when it was asked for
    started_at_ms BIGINT,                     -- when it was begun last
    ended_at_ms BIGINT,                       -- when it ended, however
    expires_at_ms BIGINT                      -- when the question about it runs out, NULL without one
);
CREATE INDEX tool_calls_by_turn ON tool_calls (turn_id);
CREATE INDEX tool_calls_by_conversation ON tool_calls (conversation_id, number);
CREATE INDEX tool_calls_by_state ON tool_calls (state, expires_at_ms);

-- What people chose about tools and servers in a chat.
CREATE TABLE tool_choices (
    conversation_id TEXT NOT NULL,            -- the chat
    user_id BIGINT NOT NULL,                  -- whose choice
    name TEXT NOT NULL,                       -- a tool's name, or `server:<name>`
    choice TEXT NOT NULL,                     -- always | off | on
    digest TEXT NOT NULL,                     -- of the tool as it was when it was chosen; another one and it is asked about again
    definition_json TEXT NOT NULL,            -- how it was described then, to show the difference
    at_ms BIGINT NOT NULL,                    -- when
    PRIMARY KEY (conversation_id, user_id, name)
);
