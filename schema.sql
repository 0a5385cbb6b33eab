-- Conversations, turns, the inbox and the outbox, jobs, memories, continuity: what a bot's database has after every migration.
-- Portable subset (SQLite, PostgreSQL): TEXT and BIGINT only, no AUTOINCREMENT, JSON as TEXT, times and ids are parameters.
-- SQLite adds a column to 21 of these tables, row_digest: memory/storage/sqlite/rows.py.
-- *_at_ms: UTC epoch milliseconds. *_tokens: model tokens. *_json: JSON text. Booleans are 0 or 1.

-- One place where people talk to the bot, and the session that is current there.
CREATE TABLE conversations (
    conversation_id TEXT PRIMARY KEY,         -- tg:<bot_id>:<chat_id>:<thread_id or 0>
    current_session_id TEXT,                  -- the session that the next message goes to; NULL before the first
    created_at_ms BIGINT NOT NULL             -- when the first message came
);

-- One row per session: metadata, state, summary (002 section 3.2).
CREATE TABLE conversation_sessions (
    session_id TEXT PRIMARY KEY,              -- s_<hex>
    conversation_id TEXT NOT NULL,            -- the conversation it belongs to
    user_id BIGINT,                           -- its primary user: whoever opened it
    origin TEXT NOT NULL,                     -- first | gap | fresh: why it was opened
    status TEXT NOT NULL,                     -- active | paused | resuming | awaiting_clarification | shutdown_clean
    state_json TEXT NOT NULL,                 -- SessionState
    rolling_summary TEXT NOT NULL,            -- copy of the state's, for lists and the next session's tiers
    turn_count BIGINT NOT NULL,               -- turns
    last_seq BIGINT NOT NULL,                 -- seq of its last turn, 0 when empty
    version BIGINT NOT NULL,                  -- optimistic lock: counts writes of this row
    created_at_ms BIGINT NOT NULL,            -- when it was opened
    last_turn_at_ms BIGINT NOT NULL,          -- when its last turn was stored; created_at_ms when empty
    title TEXT NOT NULL                       -- its topics in a few words, for lists
);
CREATE INDEX conversation_sessions_by_conversation ON conversation_sessions (conversation_id, last_turn_at_ms);
CREATE INDEX conversation_sessions_by_activity ON conversation_sessions (last_turn_at_ms, session_id);
CREATE INDEX conversation_sessions_by_status ON conversation_sessions (status);

-- Raw turn log, append-only, one row per exchange of user and assistant (002 section 3.2).
CREATE TABLE conversation_turns (
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
    authored TEXT,                            -- what the program says in its own name; NULL = all of the reply is the assistant's own
    UNIQUE (session_id, seq)
);
CREATE INDEX conversation_turns_by_conversation ON conversation_turns (conversation_id, created_at_ms);

-- What the model was given for each turn, and what was cut (003 FR-006, 000 section 5).
CREATE TABLE context_snapshots (
    turn_id TEXT PRIMARY KEY,                 -- the turn it was built for
    session_id TEXT NOT NULL,                 -- its session
    message_history_count BIGINT NOT NULL,    -- turns passed verbatim
    message_history_tokens BIGINT NOT NULL,   -- their tokens
    messages_truncated BIGINT NOT NULL,       -- turns of the session that were left out
    today_summary_present BIGINT NOT NULL,    -- 0 or 1
    open_threads_count BIGINT NOT NULL,       -- open loops shown
    last_conversation_present BIGINT NOT NULL,-- 0 or 1
    retrieved_count BIGINT NOT NULL,          -- retrieved items shown
    summary_tokens BIGINT NOT NULL,           -- tokens of the rolling summary shown
    total_tokens BIGINT NOT NULL,             -- tokens of the whole packet
    receipts_json TEXT NOT NULL,              -- JSON array of TierReceipt: budget, used, cut per tier
    compiled_at_ms BIGINT NOT NULL,           -- when the packet was built
    instructions_tokens BIGINT NOT NULL DEFAULT 0, -- instructions, the bootstrap not counted
    tools_tokens BIGINT NOT NULL DEFAULT 0,   -- descriptions of the tools
    bootstrap_tokens BIGINT NOT NULL DEFAULT 0, -- what was carried forward
    message_tokens BIGINT NOT NULL DEFAULT 0  -- the message that was answered
);
CREATE INDEX context_snapshots_by_session ON context_snapshots (session_id, compiled_at_ms);

-- Each compaction: what went in, what came out, why; it can be undone (004).
CREATE TABLE compactions (
    compaction_id TEXT PRIMARY KEY,           -- c_<hex>
    session_id TEXT NOT NULL,                 -- the session
    reason TEXT NOT NULL,                     -- why it ran
    method TEXT NOT NULL,                     -- deterministic | model | truncation
    from_seq BIGINT NOT NULL,                 -- first turn that went in
    through_seq BIGINT NOT NULL,              -- last turn that went in
    tokens_before BIGINT NOT NULL,            -- prompt tokens before
    tokens_after BIGINT NOT NULL,             -- prompt tokens after
    previous_json TEXT NOT NULL,              -- the CompactionMark before, or null: what an undo restores
    mark_json TEXT NOT NULL,                  -- the CompactionMark that came out
    undone_at_ms BIGINT,                      -- when it was undone, or NULL
    created_at_ms BIGINT NOT NULL             -- when it ran
);
CREATE INDEX compactions_by_session ON compactions (session_id, created_at_ms);

-- Updates written down before Telegram may forget them (P1, P2, P3).
CREATE TABLE inbox (
    bot_id BIGINT NOT NULL,                   -- the bot that received it
    update_id BIGINT NOT NULL,                -- Telegram's id; identity only, never an order
    position BIGINT NOT NULL,                 -- order of arrival on this disk
    conversation_id TEXT,                     -- the conversation, NULL when it has none
    payload TEXT NOT NULL,                    -- the raw update as JSON; emptied when it is done
    state TEXT NOT NULL,                      -- received | claimed | parked | done | quarantined
    attempts BIGINT NOT NULL,                 -- how often work on it was begun
    boot_id TEXT,                             -- the process that claimed it
    turn_id TEXT,                             -- the turn that it is part of, given at the first claim
    error TEXT,                               -- why it was quarantined or parked
    received_at_ms BIGINT NOT NULL,           -- when it was written down
    done_at_ms BIGINT,                        -- when it was finished
    waits BIGINT NOT NULL DEFAULT 0,          -- how often the process died while others were at work too or it waited for its model
    chat_id BIGINT,                           -- Telegram's chat, NULL when there is none
    message_id BIGINT,                        -- Telegram's message, NULL when there is none
    PRIMARY KEY (bot_id, update_id)
);
CREATE INDEX inbox_by_state ON inbox (state, position);

-- Message parts written down before they are sent (P4, P5, P6).
CREATE TABLE outbox (
    part_id TEXT PRIMARY KEY,                 -- o_<hex>
    bot_id BIGINT NOT NULL,                   -- the bot that sends it
    conversation_id TEXT NOT NULL,            -- the conversation
    chat_id BIGINT NOT NULL,                  -- Telegram's chat
    thread_id BIGINT,                         -- forum topic, or NULL
    position BIGINT NOT NULL,                 -- order of sending within the process's lifetime and across restarts
    turn_id TEXT,                             -- the turn it answers, NULL for notices
    part_no BIGINT NOT NULL,                  -- 0, 1, 2 … within one message of ours; -1 = the live preview of a stream
    kind TEXT NOT NULL,                       -- reply | notice | preview
    text TEXT NOT NULL,                       -- plain text, at most 4096 UTF-16 units
    entities_json TEXT NOT NULL,              -- JSON array of MessageEntity
    markup_json TEXT,                         -- inline keyboard as JSON, or NULL
    reply_to_message_id BIGINT,               -- quotes this message, or NULL
    edits_message_id BIGINT,                  -- not NULL: edit this message instead of sending a new one
    state TEXT NOT NULL,                      -- queued | sending | sent | failed
    attempts BIGINT NOT NULL,                 -- how often sending was begun
    message_id BIGINT,                        -- Telegram's id once it is known
    after_message_id BIGINT,                  -- highest message id known when it was written down, then when it turned sending: the probe starts above it
    error TEXT,                               -- why it failed
    created_at_ms BIGINT NOT NULL,            -- when it was written down
    sending_at_ms BIGINT,                     -- when sending began
    sent_at_ms BIGINT                         -- when Telegram confirmed it
);
CREATE INDEX outbox_by_state ON outbox (state, position);
CREATE INDEX outbox_by_turn ON outbox (turn_id, part_no);
CREATE INDEX outbox_by_chat ON outbox (chat_id, message_id);

-- What a button means; the button itself carries only the id.
CREATE TABLE buttons (
    button_id TEXT PRIMARY KEY,               -- b_<hex>: the callback data
    conversation_id TEXT NOT NULL,            -- where it was shown
    user_id BIGINT,                           -- who may tap it; NULL = anybody allowed
    group_id TEXT NOT NULL,                   -- buttons of one message: a tap on one uses up all
    action TEXT NOT NULL,                     -- what to do
    payload_json TEXT NOT NULL,               -- with what
    used_at_ms BIGINT,                        -- when it was tapped, or NULL
    expires_at_ms BIGINT NOT NULL,            -- afterwards a tap only says that it is too old
    created_at_ms BIGINT NOT NULL             -- when it was made
);
CREATE INDEX buttons_by_group ON buttons (group_id);
CREATE INDEX buttons_by_expiry ON buttons (expires_at_ms);

-- People who paired with the code on the operator's console, and what they chose.
CREATE TABLE people (
    user_id BIGINT PRIMARY KEY,               -- Telegram's user id
    allowed BIGINT NOT NULL,                  -- 1 = paired
    settings_json TEXT NOT NULL,              -- language, time zone, streaming, persona
    created_at_ms BIGINT NOT NULL             -- when they were first let in
);

-- What a person took of models on a day, by purpose; no text, so it outlives forgetting.
CREATE TABLE usage_days (
    user_id BIGINT NOT NULL,                  -- Telegram's user id
    day TEXT NOT NULL,                        -- YYYY-MM-DD where the person is
    purpose TEXT NOT NULL,                    -- answer, tools, reading, task; notice: the person was told that a limit is near
    tokens BIGINT NOT NULL,                   -- input and output tokens as the provider reported them
    unpriced_tokens BIGINT NOT NULL,          -- of them, those whose price nobody knows
    cost_nanodollars BIGINT NOT NULL,         -- billionths of a US dollar, of what has a known price
    PRIMARY KEY (user_id, day, purpose)
);

-- Chats that cannot be written to (blocked, kicked).
CREATE TABLE unreachable_chats (
    bot_id BIGINT NOT NULL,                   -- the bot
    chat_id BIGINT NOT NULL,                  -- the chat
    reason TEXT NOT NULL,                     -- what Telegram said
    since_at_ms BIGINT NOT NULL,              -- when it said so
    PRIMARY KEY (bot_id, chat_id)
);

-- A group that became a supergroup has a new number; its conversation keeps the key of the old one.
CREATE TABLE chat_moves (
    bot_id BIGINT NOT NULL,                   -- the bot
    from_chat_id BIGINT NOT NULL,             -- the group's number before: the one in its conversation's key
    to_chat_id BIGINT NOT NULL,               -- the supergroup's number, which messages are sent to
    PRIMARY KEY (bot_id, to_chat_id)
);

-- Each start of the process and how it ended.
CREATE TABLE boots (
    boot_id TEXT PRIMARY KEY,                 -- boot_<hex>
    position BIGINT NOT NULL,                 -- 1, 2, 3 …
    report_json TEXT NOT NULL,                -- what the start found and did
    started_at_ms BIGINT NOT NULL,            -- when it started
    stopped_at_ms BIGINT                      -- when it stopped in good order; NULL = it is running or it died
);

-- Something the assistant does later.
CREATE TABLE jobs (
    job_id TEXT PRIMARY KEY,                  -- j_<hex>
    conversation_id TEXT NOT NULL,            -- where it reports
    session_id TEXT,                          -- the session that asked for it
    user_id BIGINT,                           -- who asked for it
    turn_id TEXT,                             -- the turn that asked for it
    call_key TEXT UNIQUE,                     -- turn and call: a repeated call makes no second job
    kind TEXT NOT NULL,                       -- reminder | follow_up
    title TEXT NOT NULL,                      -- what about
    status TEXT NOT NULL,                     -- scheduled | delivered | done | cancelled
    progress TEXT NOT NULL,                   -- a short word on how far it is
    due_at_ms BIGINT,                         -- when
    time_zone TEXT NOT NULL,                  -- the user's, IANA name
    created_at_ms BIGINT NOT NULL,            -- when it was made
    updated_at_ms BIGINT NOT NULL,            -- when its status last changed
    repeats TEXT NOT NULL DEFAULT ''          -- the rule by which it comes again, e.g. week@09:00, '' = it comes once
);
CREATE INDEX jobs_by_status ON jobs (status, due_at_ms);
CREATE INDEX jobs_by_conversation ON jobs (conversation_id, status);

-- Facts, preferences and decisions that outlive their session.
CREATE TABLE memories (
    memory_id TEXT PRIMARY KEY,               -- m_<hex>
    conversation_id TEXT NOT NULL,            -- where it was said; a private chat's never shows in a group
    user_id BIGINT,                           -- about whom
    session_id TEXT NOT NULL,                 -- provenance: session
    turn_id TEXT NOT NULL,                    -- provenance: turn
    kind TEXT NOT NULL,                       -- fact | preference | decision
    subject TEXT NOT NULL,                    -- normalised: a newer value of one subject supersedes the older
    text TEXT NOT NULL,                       -- one sentence
    score DOUBLE PRECISION NOT NULL,          -- 0..1 of the promotion gate
    status TEXT NOT NULL,                     -- active | superseded
    superseded_by TEXT,                       -- memory_id of the newer value
    created_at_ms BIGINT NOT NULL             -- when it was said: of two values the later counts
);
CREATE INDEX memories_by_conversation ON memories (conversation_id, status, created_at_ms);
CREATE INDEX memories_by_subject ON memories (conversation_id, subject);

-- The four tables of the continuity bootstrap (001).
CREATE TABLE continuity_relationship_states (
    owner_key TEXT PRIMARY KEY,               -- <conversation_id>|<user_id>|<persona>
    state_json TEXT NOT NULL,                 -- RelationshipState
    updated_at_ms BIGINT NOT NULL             -- when it was generated
);
CREATE TABLE continuity_arcs (
    arc_id TEXT PRIMARY KEY,                  -- a_<hex>
    owner_key TEXT NOT NULL,                  -- <conversation_id>|<user_id>|<persona>
    kind TEXT NOT NULL,                       -- project | theme | question | story | relationship | constraint
    title TEXT NOT NULL,                      -- a few words
    summary TEXT NOT NULL,                    -- 1-2 sentences
    confidence TEXT NOT NULL,                 -- high | medium | low
    stickiness TEXT NOT NULL,                 -- high | normal | low
    status TEXT NOT NULL,                     -- active | dropped
    sources_json TEXT NOT NULL,               -- JSON array of session, loop and memory ids
    last_touched_at_ms BIGINT NOT NULL,       -- when the matter last came up
    created_at_ms BIGINT NOT NULL             -- when it was generated
);
CREATE INDEX continuity_arcs_by_owner ON continuity_arcs (owner_key, status);
CREATE TABLE continuity_bootstrap_cache (
    owner_key TEXT PRIMARY KEY,               -- <conversation_id>|<user_id>|<persona>
    fingerprint TEXT NOT NULL,                -- prompt version and the times of all inputs
    internal_packet TEXT NOT NULL,            -- injected
    preview_json TEXT NOT NULL,               -- what the user is shown
    generated_at_ms BIGINT NOT NULL           -- when
);
CREATE TABLE continuity_preferences (
    owner_key TEXT PRIMARY KEY,               -- <user_id>|<persona>
    mode TEXT NOT NULL,                       -- ask | use | off
    skip_preview BIGINT NOT NULL,             -- 1 = do not show the preview
    updated_at_ms BIGINT NOT NULL             -- when it was chosen
);

-- What the user chose for one session (001: continuity_mode), with the packet exactly as it was shown.
CREATE TABLE continuity_choices (
    session_id TEXT PRIMARY KEY,              -- the session
    owner_key TEXT NOT NULL,                  -- <conversation_id>|<user_id>|<persona>
    mode TEXT NOT NULL,                       -- use | off
    internal_packet TEXT NOT NULL,            -- injected before the first reply; '' = none, or cleared
    chosen_at_ms BIGINT NOT NULL              -- when it was chosen
);
CREATE INDEX continuity_choices_by_owner ON continuity_choices (owner_key);

-- What each session was about, as far as it was read; one row per session.
CREATE TABLE session_notes (
    session_id TEXT PRIMARY KEY,              -- the session
    conversation_id TEXT NOT NULL,            -- its conversation
    notes_json TEXT NOT NULL,                 -- SessionNotes: what is shown
    model_json TEXT NOT NULL,                 -- SessionNotes as a model last left them, from which it reads on; '' = none has read
    read_through_seq BIGINT NOT NULL,         -- the last turn in notes_json
    model_seq BIGINT NOT NULL,                -- the last turn in model_json, 0 = none
    version BIGINT NOT NULL,                  -- optimistic lock: counts writes of this row
    written_at_ms BIGINT NOT NULL             -- when it was last written
);
CREATE INDEX session_notes_by_conversation ON session_notes (conversation_id, session_id);

-- Readings that wait: a session has a row while it holds turns that nobody has read.
CREATE TABLE readings (
    session_id TEXT PRIMARY KEY,              -- the session
    conversation_id TEXT NOT NULL,            -- its conversation
    user_id BIGINT,                           -- who spoke last: by their clock it is read, to their budget it is booked
    last_seq BIGINT NOT NULL,                 -- the last turn that is to be read
    due_at_ms BIGINT NOT NULL,                -- when: two minutes after the last turn, at once when the session ends
    attempts BIGINT NOT NULL                  -- how often a model was asked and no answer was stored
);
CREATE INDEX readings_by_due ON readings (due_at_ms);
CREATE INDEX readings_by_conversation ON readings (conversation_id);

-- What readings by a model cost and how much of their answers was kept; no text.
CREATE TABLE model_readings (
    reading_id TEXT PRIMARY KEY,              -- r_<hex>
    session_id TEXT NOT NULL,                 -- the session that was read
    conversation_id TEXT NOT NULL,            -- its conversation
    model TEXT NOT NULL,                      -- which model
    from_seq BIGINT NOT NULL,                 -- first turn that was read
    through_seq BIGINT NOT NULL,              -- last turn that was read
    kept BIGINT NOT NULL,                     -- items that passed the check
    dropped_json TEXT NOT NULL,               -- JSON object: why items were dropped → how many
    error TEXT NOT NULL,                      -- the kind of failure, '' = it answered
    input_tokens BIGINT NOT NULL,             -- usage as the provider reported it
    output_tokens BIGINT NOT NULL,            -- usage as the provider reported it
    at_ms BIGINT NOT NULL                     -- when
);
CREATE INDEX model_readings_by_conversation ON model_readings (conversation_id, at_ms);
CREATE INDEX model_readings_by_session ON model_readings (session_id, at_ms);

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

-- How far a conversation's ledger is; one row per conversation that was opened since there is a ledger.
CREATE TABLE ledgers (
    conversation_id TEXT PRIMARY KEY,         -- the conversation
    version BIGINT NOT NULL,                  -- optimistic lock: the version of the last change, 0 = none yet
    next_number BIGINT NOT NULL,              -- the number of the next note; never lowered
    epoch TEXT NOT NULL,                      -- another word whenever something was forgotten or edited: what was made from before is void
    left_json TEXT NOT NULL                   -- JSON object: what of the stores before was not carried over, and why
);

-- Anything that should outlive the message that it came from.
CREATE TABLE notes (
    note_id TEXT PRIMARY KEY,                 -- n_<hex>
    conversation_id TEXT NOT NULL,            -- where it was said; a private chat's never shows in a group
    number BIGINT NOT NULL,                   -- what people, prompts and tools call it; per conversation, never reused
    kind TEXT NOT NULL,                       -- person | fact | preference | constraint | decision | project | event | task | promise | question | story
    text TEXT NOT NULL,                       -- one line that stands alone
    subject TEXT NOT NULL,                    -- what it is a value of, '' = nothing that changes
    owner TEXT NOT NULL,                      -- user | assistant | a name; '' = nobody has to act
    due_at_ms BIGINT,                         -- when it is due
    due_exact BIGINT NOT NULL,                -- 0 = a day without an hour
    time_zone TEXT NOT NULL,                  -- the clock that it is reckoned by, IANA name
    rings_from TEXT NOT NULL,                 -- the first local minute at which it rings, '' = it does not
    repeats TEXT NOT NULL,                    -- RRULE, '' = once
    rings_at_ms BIGINT,                       -- when it rings next, NULL = not any more
    status TEXT NOT NULL,                     -- open | done | dropped | replaced
    about TEXT NOT NULL,                      -- '' = the world, else the persona or story that it belongs to
    weight DOUBLE PRECISION NOT NULL,         -- 0..1: how much it matters to the person
    confidence DOUBLE PRECISION NOT NULL,     -- 0..1: how sure it is
    said_at_ms BIGINT NOT NULL,               -- when it was said
    snoozed_until_ms BIGINT,                  -- until when it is not spoken of
    offered BIGINT NOT NULL,                  -- 1 = the person was asked how it went
    session_id TEXT,                          -- where it was noted
    user_id BIGINT,                           -- who said it
    persona TEXT NOT NULL,                    -- who the assistant was then
    turn_ids_json TEXT NOT NULL,              -- JSON array: every turn that it rests on
    source TEXT NOT NULL,                     -- person | model | keeper | offline | operator
    doubtful BIGINT NOT NULL,                 -- 1 = a message that it rests on was edited since
    replaced_by TEXT,                         -- the note_id that took its place
    version BIGINT NOT NULL,                  -- the ledger's version of its last change
    ends_at_ms BIGINT,                        -- the beginning of its last day where it lasts several, NULL = one day
    lasts_ms BIGINT NOT NULL DEFAULT 0,       -- from its hour until it is over, 0 = no end was said
    rings_again_json TEXT NOT NULL DEFAULT '[]',  -- JSON array: minutes behind each ring of a series when it rings again
    UNIQUE (conversation_id, number)
);
CREATE INDEX notes_by_ring ON notes (rings_at_ms);

-- Dates of a note that rings, where they differ from its rule or have rung.
CREATE TABLE occurrences (
    note_id TEXT NOT NULL,                    -- the note
    original_local TEXT NOT NULL,             -- the date as the rule has it, by the note's clock
    moved_to_ms BIGINT,                       -- when it rings instead
    state TEXT NOT NULL,                      -- moved | left_out | rang | snoozed | done
    due_at_ms BIGINT,                         -- when it is, where that does not follow from its ring
    lasts_ms BIGINT,                          -- how long, where not as long as the others
    PRIMARY KEY (note_id, original_local)
);

-- What was done to notes; append-only but for forgetting. The notes can be rebuilt from it.
CREATE TABLE note_changes (
    conversation_id TEXT NOT NULL,            -- the conversation
    version BIGINT NOT NULL,                  -- the ledger's version with this change: 1, 2, 3 …
    note_id TEXT NOT NULL,                    -- the note
    number BIGINT NOT NULL,                   -- its number
    verb TEXT NOT NULL,                       -- add | change | end | merge | reopen | ring | undo
    before_json TEXT NOT NULL,                -- the fields as they were, {} for a new note
    after_json TEXT NOT NULL,                 -- the fields as they became
    hand TEXT NOT NULL,                       -- person | model | keeper | offline | operator
    cause TEXT NOT NULL,                      -- the turn, tap or reading that it came with
    said TEXT NOT NULL,                       -- the words of a turn that bear it out
    at_ms BIGINT NOT NULL,                    -- when
    PRIMARY KEY (conversation_id, version)
);
CREATE INDEX note_changes_by_note ON note_changes (note_id);
CREATE INDEX note_changes_by_cause ON note_changes (conversation_id, cause);

-- What a hand wanted to write and had no place, for the console; gone with the turns that it cites.
CREATE TABLE note_refusals (
    refusal_id TEXT PRIMARY KEY,              -- f_<hex>
    conversation_id TEXT NOT NULL,            -- the conversation
    session_id TEXT NOT NULL,                 -- the session that was read
    change_json TEXT NOT NULL,                -- what was wanted
    reason TEXT NOT NULL,                     -- why it was refused
    turn_ids_json TEXT NOT NULL,              -- JSON array: the turns that it rests on
    hand TEXT NOT NULL,                       -- who wanted it
    at_ms BIGINT NOT NULL                     -- when
);
CREATE INDEX note_refusals_by_conversation ON note_refusals (conversation_id, at_ms);

-- What a session is called and where it stands, in the keeper's words; how far it was read.
CREATE TABLE session_lines (
    session_id TEXT PRIMARY KEY,              -- the session
    conversation_id TEXT NOT NULL,            -- its conversation
    title TEXT NOT NULL,                      -- a few words, '' = not read yet
    standing TEXT NOT NULL,                   -- two to four sentences
    turn_ids_json TEXT NOT NULL,              -- JSON array: the turns that these rest on
    read_through_seq BIGINT NOT NULL,         -- the last turn that was read
    version BIGINT NOT NULL,                  -- optimistic lock: counts writes of this row
    written_at_ms BIGINT NOT NULL,            -- when
    worked_on_json TEXT NOT NULL DEFAULT '[]' -- JSON array: the turns with text that was pasted, drafted, translated or played
);
CREATE INDEX session_lines_by_conversation ON session_lines (conversation_id);

-- Who reads in a conversation just now; one at a time.
CREATE TABLE keeper_leases (
    conversation_id TEXT PRIMARY KEY,         -- the conversation
    reading_id TEXT NOT NULL,                 -- the reading: r_<hex>
    until_ms BIGINT NOT NULL                  -- when whoever holds it counts as dead
);

-- Logins of the console that were ended before their time; kept until they would have ended anyway.
CREATE TABLE console_logouts (
    login_id TEXT PRIMARY KEY,                -- the random part of the login's cookie, without its signature
    until_ms BIGINT NOT NULL                  -- when the login would have ended by itself
);

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

-- The tools of each server as it described them last.
CREATE TABLE tool_listings (
    server TEXT PRIMARY KEY,                  -- its name in mcp.json
    origin TEXT NOT NULL,                     -- digest of how it's set up there: another one, and it's asked again
    tools_json TEXT NOT NULL,                 -- names, descriptions, schemas and annotations, without what nobody sees
    at_ms BIGINT NOT NULL                     -- when it said so
);

-- One row per message that brought a file. The bytes are kept once, by their digest.
CREATE TABLE files (
    file_id TEXT PRIMARY KEY,                 -- <bot_id>:<chat_id>:<message_id> of the message that brought it
    bot_id BIGINT NOT NULL,                   -- the bot that was sent it: the others cannot fetch it
    conversation_id TEXT NOT NULL,            -- where it was sent; a private chat's never shows in a group
    chat_id BIGINT NOT NULL,                  -- Telegram's chat
    message_id BIGINT NOT NULL,               -- Telegram's message
    user_id BIGINT,                           -- who sent it
    number BIGINT,                            -- what people, prompts and tools call it; per conversation; NULL = not worked on yet
    turn_id TEXT,                             -- the turn that it came with, NULL = not worked on yet
    session_id TEXT,                          -- the session of that turn
    private BIGINT NOT NULL,                  -- 1 = that session is private: no other one is told of it
    telegram_id TEXT NOT NULL,                -- what Telegram is asked for it by
    unique_id TEXT NOT NULL,                  -- the same for every bot and chat
    kind TEXT NOT NULL,                       -- document | picture | voice message | audio | video message | video | GIF
    name TEXT NOT NULL,                       -- as the sender calls it, without folders and control signs
    media_type TEXT NOT NULL,                 -- as Telegram says; once it is here, by its content
    size_bytes BIGINT NOT NULL,               -- as Telegram says; once it is here, counted
    seconds BIGINT NOT NULL,                  -- how long it plays, as Telegram says; 0 = it does not
    digest TEXT NOT NULL,                     -- sha256 of the bytes, '' = they are not here
    state TEXT NOT NULL,                      -- wanted | fetched | read | failed | expired
    reason TEXT NOT NULL,                     -- why it failed: a word, and what it is about behind a space
    unit TEXT NOT NULL,                       -- what its pages are called: page | sheet | slide | chapter | part, '' = it has none
    pages BIGINT NOT NULL,                    -- how many pages it has
    blank_json TEXT NOT NULL,                 -- JSON array: the numbers of pages without text
    language TEXT NOT NULL,                   -- of its text, '' = unknown
    described TEXT NOT NULL,                  -- what it shows or says, in a sentence or two; of a recording what was said
    attempts BIGINT NOT NULL,                 -- how often a model was asked to describe it
    received_at_ms BIGINT NOT NULL            -- when it was written down
);
CREATE INDEX files_by_conversation ON files (conversation_id, number);
CREATE INDEX files_by_digest ON files (digest);
CREATE INDEX files_by_user ON files (user_id);
CREATE INDEX files_by_turn ON files (turn_id);

-- What was read from a file, in pieces that fit into a prompt; searched under `files of <conversation_id>`.
CREATE TABLE file_passages (
    passage_id TEXT PRIMARY KEY,              -- <file_id>/<position>
    file_id TEXT NOT NULL,                    -- the file
    position BIGINT NOT NULL,                 -- 0, 1, 2 … in the order of the file
    page BIGINT NOT NULL,                     -- the page that it stands on, from 1
    text TEXT NOT NULL                        -- the text
);
CREATE INDEX file_passages_by_file ON file_passages (file_id, page);

-- The bytes of files, where several processes share a server; on one machine they lie in a folder.
CREATE TABLE file_chunks (
    digest TEXT NOT NULL,                     -- sha256 of the whole
    position BIGINT NOT NULL,                 -- 0, 1, 2 …
    data BYTEA NOT NULL,                      -- at most a quarter of a megabyte
    PRIMARY KEY (digest, position)
);

-- What a note that is work carries beside its words and dates; gone with the note when that is forgotten.
CREATE TABLE tasks (
    note_id TEXT PRIMARY KEY,                 -- the note: its text, dates and clock
    conversation_id TEXT NOT NULL,            -- where it reports
    user_id BIGINT,                           -- who asked for it, and who pays
    turn_id TEXT NOT NULL,                    -- the turn in which they did
    missed TEXT NOT NULL,                     -- once | skip | HH:MM: what happens to a date that was missed
    first_json TEXT NOT NULL,                 -- a tool that is called before the model is asked, as JSON; '' = none
    seen_digest TEXT NOT NULL,                -- of what that tool returned last: the same again costs nothing; '' = nothing yet
    failures BIGINT NOT NULL,                 -- how often in a row it failed
    paused_why TEXT NOT NULL,                 -- how it failed, so that it rests; '' = it does not; a person's pause is its note's
    created_at_ms BIGINT NOT NULL             -- when it was asked for
);
CREATE INDEX tasks_by_conversation ON tasks (conversation_id);

-- Each date of a task that came, and what became of it; no words: the result is the turn's.
CREATE TABLE task_runs (
    run_id TEXT PRIMARY KEY,                  -- r_<hex> of note and occurrence
    note_id TEXT NOT NULL,                    -- the task
    conversation_id TEXT NOT NULL,            -- where it reports
    occurrence TEXT NOT NULL,                 -- the note's date (`2026-11-29T19:00`), or the tap that asked for it
    due_at_ms BIGINT NOT NULL,                -- when it was to run
    state TEXT NOT NULL,                      -- waiting | done | unchanged | skipped | failed
    why TEXT NOT NULL,                        -- why it was skipped or failed, by the name of a sentence; '' = it was not
    turn_id TEXT,                             -- the turn that it became, NULL for none
    created_at_ms BIGINT NOT NULL,            -- when it was written down
    ended_at_ms BIGINT,                       -- when it ended, however
    UNIQUE (note_id, occurrence)
);
CREATE INDEX task_runs_by_note ON task_runs (note_id, created_at_ms);
CREATE INDEX task_runs_by_time ON task_runs (created_at_ms);

-- One row per answer that waits for its voice.
CREATE TABLE speeches (
    turn_id TEXT PRIMARY KEY,                 -- the answer
    bot_id BIGINT NOT NULL,                   -- the bot that says it
    conversation_id TEXT NOT NULL,            -- the conversation
    chat_id BIGINT NOT NULL,                  -- Telegram's chat
    thread_id BIGINT,                         -- forum topic, or NULL
    user_id BIGINT,                           -- who is answered
    text TEXT NOT NULL,                       -- what is said: plain text
    created_at_ms BIGINT NOT NULL             -- when it was written down
);

-- A login that somebody has begun; the address that comes back is taken once.
CREATE TABLE tool_logins_begun (
    state TEXT PRIMARY KEY,                   -- random; stands in the address that comes back
    server TEXT NOT NULL,                     -- its name in mcp.json
    user_id BIGINT NOT NULL,                  -- who logs in, and nobody else
    conversation_id TEXT NOT NULL,            -- the private chat in which it was begun
    sealed TEXT NOT NULL,                     -- verifier and addresses, sealed with a key made of the bot's token
    used BIGINT NOT NULL,                     -- 1 = an address came back
    expires_at_ms BIGINT NOT NULL,            -- when it's too late
    polls_at_ms BIGINT                        -- when it's asked next; NULL = an address comes back
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

-- One row per poll and conversation; once its end was told to the model, it goes.
CREATE TABLE polls (
    bot_id BIGINT NOT NULL,                   -- the bot that was sent it
    poll_id TEXT NOT NULL,                    -- Telegram's id of the poll, the same wherever it is forwarded to
    conversation_id TEXT NOT NULL,            -- the conversation
    chat_id BIGINT NOT NULL,                  -- Telegram's chat
    thread_id BIGINT,                         -- forum topic, or NULL
    message_id BIGINT NOT NULL,               -- the message that brought it
    user_id BIGINT,                           -- who sent that
    outcome TEXT NOT NULL,                    -- how it ended, '' = it has not ended yet
    turn_id TEXT,                             -- the turn that reads so now, NULL = it has not ended yet
    received_at_ms BIGINT NOT NULL,           -- when it was written down
    PRIMARY KEY (bot_id, poll_id, conversation_id)
);
CREATE INDEX polls_by_conversation ON polls (conversation_id);

-- One row per person and answer that they reacted to; taken back, it goes.
CREATE TABLE reactions (
    bot_id BIGINT NOT NULL,                   -- the bot that answered
    chat_id BIGINT NOT NULL,                  -- Telegram's chat
    message_id BIGINT NOT NULL,               -- the message under which it stands
    user_id BIGINT NOT NULL,                  -- who reacted
    conversation_id TEXT NOT NULL,            -- the conversation
    turn_id TEXT NOT NULL,                    -- the answer
    emoji TEXT NOT NULL,                      -- the reaction, at most three of them
    at_ms BIGINT NOT NULL,                    -- when
    PRIMARY KEY (bot_id, chat_id, message_id, user_id)
);
CREATE INDEX reactions_by_turn ON reactions (turn_id);
