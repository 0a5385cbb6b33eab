-- Session notes, and the readings that write them.
-- Portable subset (SQLite, PostgreSQL): TEXT and BIGINT only, JSON as TEXT, times and ids are parameters.

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

-- What was said before there were readings is read behind the next start.
INSERT INTO readings (session_id, conversation_id, user_id, last_seq, due_at_ms, attempts)
SELECT session_id, conversation_id, user_id, last_seq, last_turn_at_ms, 0 FROM conversation_sessions WHERE last_seq > 0;
