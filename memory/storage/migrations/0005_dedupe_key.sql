-- What a turn answers is named by a key of the caller's; Telegram's two columns go. A table is made anew, since a column
-- that is part of a UNIQUE constraint cannot be dropped everywhere.

CREATE TABLE conversation_turns_anew (
    turn_id TEXT PRIMARY KEY,                 -- t_<hex>
    session_id TEXT NOT NULL,                 -- the session
    conversation_id TEXT NOT NULL,            -- the conversation, so that a search needs no join
    seq BIGINT NOT NULL,                      -- 1, 2, 3 … within the session; the only order (P12)
    user_id BIGINT,                           -- who wrote
    user_text TEXT NOT NULL,                  -- what the user wrote
    assistant_text TEXT NOT NULL,             -- what the assistant answered
    intent TEXT NOT NULL,                     -- what the user wanted, by the state manager
    action_name TEXT,                         -- the action that the turn performed, or NULL
    response_type TEXT NOT NULL,              -- answer | question | confirmation | action | refusal | error | none
    job_refs TEXT NOT NULL,                   -- JSON array of job ids
    tool_calls_json TEXT NOT NULL,            -- JSON array of ToolCall: calls and returns together
    third_party BIGINT NOT NULL,              -- 1 = forwarded or quoted text
    language TEXT,                            -- ISO 639-1 of the user's text, NULL when unknown
    user_tokens BIGINT NOT NULL,              -- tokens of user_text
    assistant_tokens BIGINT NOT NULL,         -- tokens of assistant_text
    tool_tokens BIGINT NOT NULL,              -- tokens of tool_calls_json
    model TEXT,                               -- the model that answered, NULL for none
    input_tokens BIGINT NOT NULL,             -- usage as the provider reported it
    output_tokens BIGINT NOT NULL,            -- usage as the provider reported it
    dedupe_key TEXT UNIQUE,                   -- what it answers, e.g. tg:<bot>:<update>: nothing is answered twice (P2); NULL = no such key
    digest TEXT NOT NULL,                     -- chain digest: blake2b over the previous turn's digest and this turn (P8)
    created_at_ms BIGINT NOT NULL,            -- when it was stored
    UNIQUE (session_id, seq)
);

INSERT INTO conversation_turns_anew (
    turn_id, session_id, conversation_id, seq, user_id, user_text, assistant_text, intent, action_name, response_type,
    job_refs, tool_calls_json, third_party, language, user_tokens, assistant_tokens, tool_tokens, model, input_tokens,
    output_tokens, dedupe_key, digest, created_at_ms)
SELECT
    turn_id, session_id, conversation_id, seq, user_id, user_text, assistant_text, intent, action_name, response_type,
    job_refs, tool_calls_json, third_party, language, user_tokens, assistant_tokens, tool_tokens, model, input_tokens,
    output_tokens, CASE WHEN update_id IS NULL THEN NULL ELSE 'tg:' || bot_id || ':' || update_id END, digest,
    created_at_ms
FROM conversation_turns;

DROP TABLE conversation_turns;
ALTER TABLE conversation_turns_anew RENAME TO conversation_turns;
CREATE INDEX conversation_turns_by_conversation ON conversation_turns (conversation_id, created_at_ms);
