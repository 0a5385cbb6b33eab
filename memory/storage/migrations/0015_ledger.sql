-- One ledger of notes a conversation, in place of memories, session notes, loops and reminders.
-- Portable subset (SQLite, PostgreSQL): TEXT and BIGINT only, JSON as TEXT, times and ids are parameters.

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
    UNIQUE (conversation_id, number)
);
CREATE INDEX notes_by_ring ON notes (rings_at_ms);

-- Dates of a note that rings, where they differ from its rule or have rung.
CREATE TABLE occurrences (
    note_id TEXT NOT NULL,                    -- the note
    original_local TEXT NOT NULL,             -- the date as the rule has it, by the note's clock
    moved_to_ms BIGINT,                       -- when it rings instead
    state TEXT NOT NULL,                      -- moved | left_out | rang | snoozed | done
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
    written_at_ms BIGINT NOT NULL             -- when
);
CREATE INDEX session_lines_by_conversation ON session_lines (conversation_id);

-- Who reads in a conversation just now; one at a time.
CREATE TABLE keeper_leases (
    conversation_id TEXT PRIMARY KEY,         -- the conversation
    reading_id TEXT NOT NULL,                 -- the reading: r_<hex>
    until_ms BIGINT NOT NULL                  -- when whoever holds it counts as dead
);
