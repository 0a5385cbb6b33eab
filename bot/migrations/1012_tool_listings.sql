-- What MCP servers offer is known before they are started.

-- The tools of each server as it described them last.
CREATE TABLE tool_listings (
    server TEXT PRIMARY KEY,                  -- its name in mcp.json
    origin TEXT NOT NULL,                     -- digest of how it's set up there: another one, and it's asked again
    tools_json TEXT NOT NULL,                 -- names, descriptions, schemas and annotations, without what nobody sees
    at_ms BIGINT NOT NULL                     -- when it said so
);
