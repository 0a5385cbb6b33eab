-- Tasks by the clock: notes that ring and whose text is work for the model. When and what stands in the note.

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
