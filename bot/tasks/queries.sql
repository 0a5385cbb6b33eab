-- Queries of tasks by the clock and their runs. One line of why above each.

-- name: task_put
-- With the note; a turn that is answered again writes the same.
INSERT INTO tasks (note_id, conversation_id, user_id, turn_id, missed, first_json, seen_digest, failures, paused_why,
    created_at_ms)
VALUES (:note_id, :conversation_id, :user_id, :turn_id, :missed, :first_json, :seen_digest, :failures, :paused_why,
    :created_at_ms)
ON CONFLICT (note_id) DO UPDATE SET missed = :missed, first_json = :first_json, seen_digest = '', failures = 0,
    paused_why = '';

-- name: task_find
-- A run, or a tap, of it.
SELECT * FROM tasks WHERE note_id = :note_id;

-- name: tasks_of
-- /tasks, and which of the notes that ring are work.
SELECT * FROM tasks WHERE conversation_id = :conversation_id ORDER BY created_at_ms, note_id;

-- name: task_mark
-- How it stands after a run, or after a tap on [Pause] or [Go on].
UPDATE tasks SET failures = :failures, paused_why = :paused_why, seen_digest = :seen_digest WHERE note_id = :note_id;

-- name: task_goes_on
-- The person said in words that it goes on: failures of before count no more.
UPDATE tasks SET failures = 0, paused_why = '' WHERE note_id = :note_id;

-- name: task_run_put
-- With the ring of its note: one date is one run, whoever looks.
INSERT INTO task_runs (run_id, note_id, conversation_id, occurrence, due_at_ms, state, why, turn_id, created_at_ms,
    ended_at_ms)
VALUES (:run_id, :note_id, :conversation_id, :occurrence, :due_at_ms, :state, :why, :turn_id, :created_at_ms,
    :ended_at_ms);

-- name: task_run_find
-- Its update came to its turn.
SELECT * FROM task_runs WHERE run_id = :run_id;

-- name: task_run_end
-- What became of it, with its turn or without one.
UPDATE task_runs SET state = :state, why = :why, turn_id = :turn_id, ended_at_ms = :at_ms
WHERE run_id = :run_id AND state = 'waiting';

-- name: task_runs_of
-- The history of a task, the latest first.
SELECT * FROM task_runs WHERE note_id = :note_id ORDER BY created_at_ms DESC, run_id LIMIT :limit;

-- name: task_run_done
-- What the last one came to, however many were left out since.
SELECT * FROM task_runs WHERE note_id = :note_id AND state = 'done' ORDER BY created_at_ms DESC, run_id LIMIT 1;

-- name: task_runs_latest
-- /tasks: how each went last.
SELECT * FROM task_runs WHERE conversation_id = :conversation_id AND created_at_ms = (
    SELECT MAX(created_at_ms) FROM task_runs AS later WHERE later.note_id = task_runs.note_id
) ORDER BY run_id;

-- name: task_figures
-- What answers of this person took lately: an estimate for one to come.
SELECT AVG(turn_figures.cost_nanodollars) AS cost_nanodollars
FROM turn_figures JOIN conversation_turns ON conversation_turns.turn_id = turn_figures.turn_id
WHERE conversation_turns.conversation_id = :conversation_id AND turn_figures.model IS NOT NULL
    AND turn_figures.at_ms >= :since_ms;

-- name: task_runs_purge
-- History does not go back for ever.
DELETE FROM task_runs WHERE created_at_ms < :before_ms AND state <> 'waiting';

-- name: task_turns_of
-- P13: the results of a task go with its note.
SELECT turn_id FROM task_runs WHERE note_id = :note_id AND turn_id IS NOT NULL;

-- name: erase_tasks
-- P13: behind the notes that go, of which a trace without words may be left; a task without its note is nobody's.
DELETE FROM tasks WHERE conversation_id = :conversation_id
    AND NOT EXISTS (SELECT 1 FROM notes WHERE notes.note_id = tasks.note_id AND notes.confidence > 0);

-- name: erase_task_calls
-- P13: with it what was looked at for it.
DELETE FROM tool_calls WHERE conversation_id = :conversation_id AND turn_id IN (
    SELECT turn_id FROM task_runs WHERE NOT EXISTS (SELECT 1 FROM notes WHERE notes.note_id = task_runs.note_id AND notes.confidence > 0)
);

-- name: erase_task_runs
-- P13: with it what it did.
DELETE FROM task_runs WHERE conversation_id = :conversation_id
    AND NOT EXISTS (SELECT 1 FROM notes WHERE notes.note_id = task_runs.note_id AND notes.confidence > 0);

-- name: exported_tasks
-- What a person takes with them.
SELECT tasks.note_id, tasks.missed, tasks.first_json, tasks.failures, tasks.paused_why, tasks.created_at_ms
FROM tasks WHERE conversation_id = :conversation_id ORDER BY created_at_ms, note_id;

-- name: exported_task_runs
-- With what became of each date.
SELECT note_id, occurrence, due_at_ms, state, why, turn_id, ended_at_ms FROM task_runs
WHERE conversation_id = :conversation_id ORDER BY created_at_ms, run_id;

-- name: task_totals
-- For doctor and `status`: how many there are, and how many rest after failures.
SELECT COUNT(*) AS n, SUM(CASE WHEN paused_why NOT IN ('', 'person') THEN 1 ELSE 0 END) AS paused FROM tasks
JOIN notes ON notes.note_id = tasks.note_id WHERE notes.status = 'open' AND notes.rings_at_ms IS NOT NULL;
