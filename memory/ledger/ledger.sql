-- Queries of the ledger: its version, its notes, their dates, and what was done to them.

-- name: ledger_of
-- How far a conversation's ledger is; no row before it was first opened. `added` is how many notes there have to be.
SELECT conversation_id, version, next_number, epoch, left_json,
    (SELECT COUNT(*) FROM note_changes WHERE note_changes.conversation_id = :conversation_id AND verb = 'add') AS added
FROM ledgers WHERE conversation_id = :conversation_id;

-- name: ledger_version
-- Whether a ledger that is at hand still stands.
SELECT version, epoch FROM ledgers WHERE conversation_id = :conversation_id;

-- name: ledger_begin
-- The first row; whoever comes second loses.
INSERT INTO ledgers (conversation_id, version, next_number, epoch, left_json)
VALUES (:conversation_id, :version, :next_number, :epoch, :left_json) ON CONFLICT (conversation_id) DO NOTHING;

-- name: ledger_move
-- No row changes when somebody else wrote first, or something was forgotten.
UPDATE ledgers SET version = :version, next_number = :next_number
WHERE conversation_id = :conversation_id AND version = :from_version AND epoch = :epoch;

-- name: ledger_unforgotten
-- Whether what an answer or a reading was made from still stands.
SELECT 1 AS found FROM ledgers WHERE conversation_id = :conversation_id AND epoch = :epoch;

-- name: ledger_renew
-- Something was forgotten or edited: what was made from it before has no place any more.
UPDATE ledgers SET version = :version, epoch = :epoch
WHERE conversation_id = :conversation_id AND version = :from_version AND epoch = :from_epoch;

-- name: ledger_mend
-- A row that was altered on the disk, as its changes have it.
INSERT INTO ledgers (conversation_id, version, next_number, epoch, left_json)
VALUES (:conversation_id, :version, :next_number, :epoch, :left_json)
ON CONFLICT (conversation_id) DO UPDATE SET version = excluded.version, next_number = excluded.next_number,
    epoch = excluded.epoch, left_json = excluded.left_json;

-- name: ledgers_left
-- For `status` and doctor: what of the stores before was not carried over.
SELECT conversation_id, left_json FROM ledgers WHERE left_json <> '{}' ORDER BY conversation_id;

-- name: ledger_ids
-- For doctor: every conversation that has a ledger.
SELECT conversation_id FROM ledgers ORDER BY conversation_id;

-- name: notes_of
-- The notes of a conversation in their order.
SELECT note_id, conversation_id, number, kind, text, subject, owner, due_at_ms, due_exact, time_zone, rings_from, repeats,
    rings_at_ms, status, about, weight, confidence, said_at_ms, snoozed_until_ms, offered, session_id, user_id, persona,
    turn_ids_json, source, doubtful, replaced_by, version, ends_at_ms, lasts_ms, rings_again_json
FROM notes WHERE conversation_id = :conversation_id ORDER BY number;

-- name: occurrences_of
-- The dates of a conversation's notes.
SELECT o.note_id, o.original_local, o.moved_to_ms, o.due_at_ms, o.lasts_ms, o.state
FROM occurrences o JOIN notes n ON n.note_id = o.note_id
WHERE n.conversation_id = :conversation_id ORDER BY o.note_id, o.original_local;

-- name: note_put
-- A note as it stands now.
INSERT INTO notes (note_id, conversation_id, number, kind, text, subject, owner, due_at_ms, due_exact, time_zone, rings_from,
    repeats, rings_at_ms, status, about, weight, confidence, said_at_ms, snoozed_until_ms, offered, session_id, user_id,
    persona, turn_ids_json, source, doubtful, replaced_by, version, ends_at_ms, lasts_ms, rings_again_json)
VALUES (:note_id, :conversation_id, :number, :kind, :text, :subject, :owner, :due_at_ms, :due_exact, :time_zone, :rings_from,
    :repeats, :rings_at_ms, :status, :about, :weight, :confidence, :said_at_ms, :snoozed_until_ms, :offered, :session_id,
    :user_id, :persona, :turn_ids_json, :source, :doubtful, :replaced_by, :version, :ends_at_ms, :lasts_ms,
    :rings_again_json)
ON CONFLICT (note_id) DO UPDATE SET kind = excluded.kind, text = excluded.text, subject = excluded.subject,
    owner = excluded.owner, due_at_ms = excluded.due_at_ms, due_exact = excluded.due_exact, time_zone = excluded.time_zone,
    rings_from = excluded.rings_from, repeats = excluded.repeats, rings_at_ms = excluded.rings_at_ms,
    status = excluded.status, about = excluded.about, weight = excluded.weight, confidence = excluded.confidence,
    said_at_ms = excluded.said_at_ms, snoozed_until_ms = excluded.snoozed_until_ms, offered = excluded.offered,
    turn_ids_json = excluded.turn_ids_json, doubtful = excluded.doubtful, replaced_by = excluded.replaced_by,
    version = excluded.version, ends_at_ms = excluded.ends_at_ms, lasts_ms = excluded.lasts_ms,
    rings_again_json = excluded.rings_again_json;

-- name: occurrences_clear
-- Before the dates of a note are written anew.
DELETE FROM occurrences WHERE note_id = :note_id;

-- name: occurrence_put
-- One date of a note.
INSERT INTO occurrences (note_id, original_local, moved_to_ms, due_at_ms, lasts_ms, state)
VALUES (:note_id, :original_local, :moved_to_ms, :due_at_ms, :lasts_ms, :state);

-- name: note_change_put
-- What was done; two with one version cannot be.
INSERT INTO note_changes (conversation_id, version, note_id, number, verb, before_json, after_json, hand, cause, said, at_ms)
VALUES (:conversation_id, :version, :note_id, :number, :verb, :before_json, :after_json, :hand, :cause, :said, :at_ms);

-- name: note_changes_since
-- What was done since a version, in its order; 0 = all.
SELECT conversation_id, version, note_id, number, verb, before_json, after_json, hand, cause, said, at_ms
FROM note_changes WHERE conversation_id = :conversation_id AND version > :version ORDER BY version;

-- name: note_changes_by_cause
-- What came with one turn, tap or reading.
SELECT conversation_id, version, note_id, number, verb, before_json, after_json, hand, cause, said, at_ms
FROM note_changes WHERE conversation_id = :conversation_id AND cause = :cause ORDER BY version;

-- name: note_changes_later
-- Which notes were changed since a moment, and in which fields.
SELECT note_id, after_json, at_ms FROM note_changes
WHERE conversation_id = :conversation_id AND verb = 'change' AND at_ms > :at_ms;

-- name: note_changes_after
-- What was done after a moment, in its order.
SELECT conversation_id, version, note_id, number, verb, before_json, after_json, hand, cause, said, at_ms
FROM note_changes WHERE conversation_id = :conversation_id AND at_ms > :at_ms ORDER BY version;

-- name: note_changes_of
-- The history of one note.
SELECT conversation_id, version, note_id, number, verb, before_json, after_json, hand, cause, said, at_ms
FROM note_changes WHERE note_id = :note_id ORDER BY version;

-- name: note_changes_of_session
-- For a checkpoint: what was done last to the notes of one session, the latest first.
SELECT c.conversation_id, c.version, c.note_id, c.number, c.verb, c.before_json, c.after_json, c.hand, c.cause, c.said, c.at_ms
FROM note_changes c JOIN notes n ON n.note_id = c.note_id
WHERE n.conversation_id = :conversation_id AND n.session_id = :session_id ORDER BY c.version DESC LIMIT :limit;

-- name: notes_ringing
-- What is due to ring, the longest due first.
SELECT note_id, conversation_id, number, rings_at_ms FROM notes
WHERE rings_at_ms <= :now_ms AND conversation_id LIKE :prefix ORDER BY rings_at_ms, note_id LIMIT :limit;

-- name: notes_next_ring
-- When to look again.
SELECT MIN(rings_at_ms) AS rings_at_ms FROM notes WHERE rings_at_ms IS NOT NULL AND conversation_id LIKE :prefix;

-- name: note_refusal_put
-- What a hand wanted and did not get.
INSERT INTO note_refusals (refusal_id, conversation_id, session_id, change_json, reason, turn_ids_json, hand, at_ms)
VALUES (:refusal_id, :conversation_id, :session_id, :change_json, :reason, :turn_ids_json, :hand, :at_ms)
ON CONFLICT (refusal_id) DO NOTHING;

-- name: note_refusals_of
-- What was refused in a conversation, the latest first.
SELECT refusal_id, session_id, change_json, reason, turn_ids_json, hand, at_ms FROM note_refusals
WHERE conversation_id = :conversation_id ORDER BY at_ms DESC, refusal_id LIMIT :limit;

-- name: note_refusals_of_turn
-- What of one turn had no place when it was committed: the model hears of it with the next message.
SELECT change_json, reason FROM note_refusals
WHERE conversation_id = :conversation_id AND hand = :hand AND turn_ids_json = :turn_ids_json ORDER BY refusal_id;

-- name: erase_note_refusals
-- With everything else that says it (P13).
DELETE FROM note_refusals WHERE conversation_id = :conversation_id;

-- name: note_refusals_all
-- What may cite a turn that is forgotten.
SELECT refusal_id, change_json, turn_ids_json FROM note_refusals WHERE conversation_id = :conversation_id;

-- name: erase_note_refusal
-- What was refused and cites what is forgotten (P13).
DELETE FROM note_refusals WHERE refusal_id = :refusal_id;

-- name: erase_note
-- A note goes (P13).
DELETE FROM notes WHERE note_id = :note_id;

-- name: erase_notes_of_number
-- Before an altered row is written again: whatever it is called now.
DELETE FROM notes WHERE conversation_id = :conversation_id AND number = :number;

-- name: erase_all_notes
-- The conversation itself goes.
DELETE FROM notes WHERE conversation_id = :conversation_id;

-- name: erase_all_note_changes
-- With everything that was ever done.
DELETE FROM note_changes WHERE conversation_id = :conversation_id;

-- name: erase_all_occurrences
-- Before the notes, by which they are found.
DELETE FROM occurrences WHERE note_id IN (SELECT note_id FROM notes WHERE conversation_id = :conversation_id);

-- name: note_change_unsay
-- A change that stays, without the turn it came with (P13).
UPDATE note_changes SET cause = '', said = '' WHERE conversation_id = :conversation_id AND version = :version;

-- name: erase_note_changes
-- With everything that was done to it.
DELETE FROM note_changes WHERE note_id = :note_id;

-- name: erase_ledger
-- The conversation itself goes.
DELETE FROM ledgers WHERE conversation_id = :conversation_id;
