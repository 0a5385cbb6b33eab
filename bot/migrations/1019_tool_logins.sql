-- Logins of people at MCP servers: whoever asks is who acts there.

-- A login that somebody has begun; the address that comes back is taken once.
CREATE TABLE tool_logins_begun (
    state TEXT PRIMARY KEY,                   -- random; stands in the address that comes back
    server TEXT NOT NULL,                     -- its name in mcp.json
    user_id BIGINT NOT NULL,                  -- who logs in, and nobody else
    conversation_id TEXT NOT NULL,            -- the private chat in which it was begun
    sealed TEXT NOT NULL,                     -- verifier and addresses, sealed with a key made of the bot's token
    used BIGINT NOT NULL,                     -- 1 = an address came back
    expires_at_ms BIGINT NOT NULL             -- when it's too late
);

-- What a server gave a person; nobody else's calls use it.
CREATE TABLE tool_logins (
    server TEXT NOT NULL,                     -- its name in mcp.json
    user_id BIGINT NOT NULL,                  -- whose
    conversation_id TEXT NOT NULL,            -- the private chat in which it was begun: forgotten with it
    origin TEXT NOT NULL,                     -- digest of how the server is set up: another one, and it's void
    sealed TEXT NOT NULL,                     -- tokens, sealed with a key made of the bot's token
    version BIGINT NOT NULL,                  -- 1, 2 … with each renewal: of two at once one counts
    tools_json TEXT NOT NULL,                 -- what this account is offered
    at_ms BIGINT NOT NULL,                    -- when it was given
    PRIMARY KEY (server, user_id)
);
