-- Queries of the inbox, the outbox, buttons, people and boots. One line of why above each.

-- name: inbox_insert
-- P1, P2: an update that is known already changes nothing; the number of changed rows tells.
INSERT INTO inbox (bot_id, update_id, position, conversation_id, payload, state, attempts, error, received_at_ms,
    done_at_ms, chat_id, message_id)
VALUES (:bot_id, :update_id, :position, :conversation_id, :payload, :state, 0, :error, :received_at_ms,
    :done_at_ms, :chat_id, :message_id)
ON CONFLICT (bot_id, update_id) DO NOTHING;

-- name: inbox_is_known
-- A tap that is refused unstored may be one that was obeyed: Telegram delivers again what it doesn't know to be taken.
SELECT update_id FROM inbox WHERE bot_id = :bot_id AND update_id = :update_id;

-- name: inbox_claim
-- P3: who works on it, for which turn, and how often it was begun.
UPDATE inbox SET state = 'claimed', attempts = attempts + 1, boot_id = :boot_id, turn_id = :turn_id
WHERE bot_id = :bot_id AND update_id = :update_id AND state IN ('received', 'claimed', 'parked');

-- name: inbox_done
-- P2: only an unfinished update can be finished; the payload has served its purpose and goes.
UPDATE inbox SET state = 'done', done_at_ms = :done_at_ms, payload = ''
WHERE bot_id = :bot_id AND update_id = :update_id AND state IN ('received', 'claimed', 'parked');

-- name: inbox_release
-- An orderly stop is no failure: what it cut short does not count as an attempt.
UPDATE inbox SET state = 'received', attempts = attempts - 1 WHERE state = 'claimed' AND boot_id = :boot_id;

-- name: inbox_excuse
-- A death that nobody can hold against this turn is taken back, and counted by itself.
UPDATE inbox SET state = 'received', attempts = attempts - 1, waits = waits + 1
WHERE turn_id = :turn_id AND state = 'claimed';

-- name: inbox_blame
-- The process died in the midst of it before its claim was stored: that was an attempt all the same.
UPDATE inbox SET attempts = attempts + 1
WHERE bot_id = :bot_id AND update_id = :update_id AND state = 'received' AND turn_id IS NULL;

-- name: inbox_reopen
-- The user said go: the parked turn is worked on as if it had just come.
UPDATE inbox SET state = 'received', attempts = 0, waits = 0, received_at_ms = :at_ms, error = NULL
WHERE turn_id = :turn_id AND state = 'parked';

-- name: inbox_parked_here
-- Messages whose answer never came, for the next one; each answer that could not be had was told in a notice of its turn.
SELECT bot_id, update_id, position, payload, state, attempts, waits, boot_id, turn_id, received_at_ms, error, (
    SELECT COUNT(*) FROM outbox WHERE outbox.turn_id = inbox.turn_id AND outbox.part_no = 0 AND outbox.kind = 'notice'
) AS tries
FROM inbox WHERE conversation_id = :conversation_id AND state = 'parked' ORDER BY position;

-- name: inbox_take_up
-- The next message of their person takes them up: claimed for its turn, before it is claimed itself.
UPDATE inbox SET state = 'claimed', boot_id = :boot_id, turn_id = :turn_id, attempts = 0, waits = 0,
    received_at_ms = :at_ms, error = NULL
WHERE turn_id = :was AND state = 'parked';

-- name: sessions_begun
-- Whether a clean start came behind a message, and in which session it was written.
SELECT session_id, origin, created_at_ms FROM conversation_sessions
WHERE conversation_id = :conversation_id ORDER BY created_at_ms DESC, session_id LIMIT 100;

-- name: parked_buttons_move
-- [Try again] under a message that became part of another turn is that turn's.
UPDATE buttons SET payload_json = REPLACE(payload_json, :was, :turn_id)
WHERE conversation_id = :conversation_id AND used_at_ms IS NULL AND payload_json LIKE '%"' || :was || '"%'
    AND action IN ('answer_parked', 'skip_parked', 'fresh_parked');

-- name: parked_buttons_on_screen
-- The notices that still offer to try a turn again, when it is answered all the same.
SELECT DISTINCT outbox.message_id
FROM buttons JOIN outbox ON outbox.conversation_id = buttons.conversation_id
    AND outbox.markup_json LIKE '%' || buttons.button_id || '%'
WHERE buttons.conversation_id = :conversation_id AND buttons.action = 'answer_parked' AND buttons.used_at_ms IS NULL
    AND buttons.payload_json LIKE '%"' || :turn_id || '"%' AND outbox.message_id IS NOT NULL;

-- name: inbox_skip
-- The user said never mind.
UPDATE inbox SET state = 'done', done_at_ms = :at_ms, payload = '' WHERE turn_id = :turn_id AND state = 'parked';

-- name: inbox_park
-- A turn that waits for the user's word (provider down, or too old to be answered unasked).
UPDATE inbox SET state = 'parked', error = :error, turn_id = :turn_id
WHERE bot_id = :bot_id AND update_id = :update_id AND state IN ('received', 'claimed', 'parked');

-- name: turn_of_message
-- Which turn answered a message that is edited now; edits before this one have a turn's id too, and none that is stored.
SELECT inbox.turn_id FROM inbox JOIN conversation_turns ON conversation_turns.turn_id = inbox.turn_id
WHERE inbox.bot_id = :bot_id AND inbox.conversation_id = :conversation_id AND inbox.message_id = :message_id
ORDER BY inbox.position DESC LIMIT 1;

-- name: messages_of_turn
-- How many messages a turn answered at once.
SELECT COUNT(DISTINCT message_id) AS n FROM inbox WHERE turn_id = :turn_id;

-- name: parked_turn_of_message
-- The turn in which a message that is edited now waits for the person's word, and what for.
SELECT turn_id, error FROM inbox
WHERE bot_id = :bot_id AND conversation_id = :conversation_id AND message_id = :message_id AND state = 'parked'
ORDER BY position DESC LIMIT 1;

-- name: inbox_quarantine
-- P3: three failures; kept for the operator, never tried again by itself.
UPDATE inbox SET state = 'quarantined', error = :error, done_at_ms = :done_at_ms
WHERE bot_id = :bot_id AND update_id = :update_id AND state IN ('received', 'claimed', 'parked');

-- name: inbox_unfinished
-- What a start replays, in order of arrival.
SELECT bot_id, update_id, position, payload, state, attempts, waits, boot_id, turn_id, received_at_ms
FROM inbox WHERE state IN ('received', 'claimed') AND bot_id = :bot_id ORDER BY position;

-- name: inbox_received_turn
-- The updates of a turn that the user put back to work with [Try again], [Answer now] or /retry.
SELECT bot_id, update_id, position, payload, state, attempts, waits, boot_id, turn_id, received_at_ms
FROM inbox WHERE turn_id = :turn_id AND state = 'received' ORDER BY position;

-- name: inbox_held
-- Messages that wait for a word on what to carry forward, and those that a begun turn took in already, in order.
SELECT bot_id, update_id, position, payload, state, attempts, waits, boot_id, turn_id, received_at_ms
FROM inbox
WHERE conversation_id = :conversation_id
    AND ((state = 'parked' AND error IN (:one, :other)) OR (state = 'claimed' AND turn_id = :turn_id))
ORDER BY position;

-- name: inbox_held_anywhere
-- What waits for such a word in any conversation, for the start.
SELECT bot_id, update_id, position, payload, state, attempts, waits, boot_id, turn_id, received_at_ms
FROM inbox WHERE bot_id = :bot_id AND state = 'parked' AND error = :mark ORDER BY conversation_id, position;

-- name: inbox_hold
-- Whoever is first lets the waiting messages of a turn go on; the number of changed rows tells.
UPDATE inbox SET error = :mark WHERE turn_id = :turn_id AND state = 'parked' AND error = :was;

-- name: inbox_parked_latest
-- The newest parked turn of a conversation, for /retry.
SELECT turn_id FROM inbox WHERE conversation_id = :conversation_id AND state = 'parked' ORDER BY position DESC LIMIT 1;

-- name: inbox_parked_count
-- How many rows go back to work, or are skipped, together; fewer, and somebody else was first.
SELECT COUNT(*) AS n FROM inbox WHERE turn_id = :turn_id AND state = 'parked';

-- name: inbox_reopened
-- A turn that a tap or /retry put back to work waits for its lane: a further /retry adds nothing.
SELECT update_id FROM inbox
WHERE state = 'received' AND conversation_id = :conversation_id AND turn_id IS NOT NULL AND update_id <> :update_id LIMIT 1;

-- name: inbox_open_ids
-- What of a batch is left to do when a part of it was finished meanwhile.
SELECT update_id FROM inbox
WHERE state IN ('received', 'claimed', 'parked') AND bot_id = :bot_id AND conversation_id = :conversation_id;

-- name: inbox_open_taps
-- The taps on a button that are not worked off yet.
SELECT update_id FROM inbox
WHERE state IN ('received', 'claimed', 'parked') AND bot_id = :bot_id AND conversation_id = :conversation_id
    AND payload LIKE '%' || :button_id || '%';

-- name: inbox_last_position
-- The counter goes on from here.
SELECT COALESCE(MAX(position), 0) AS position FROM inbox;

-- name: inbox_purge_done
-- Bookkeeping of finished updates is needed only as long as Telegram may deliver them again (24 h, kept for 14 days).
-- One that brought a poll is needed until that has ended.
DELETE FROM inbox WHERE state = 'done' AND done_at_ms < :before_ms AND NOT EXISTS (
    SELECT 1 FROM polls WHERE polls.conversation_id = inbox.conversation_id AND polls.message_id = inbox.message_id
);

-- name: outbox_insert
-- P4: written down with the turn, before anything is sent; what is sent as soon as that is stored bears its mark already (P5).
INSERT INTO outbox (part_id, bot_id, conversation_id, chat_id, thread_id, position, turn_id, part_no, kind, text,
    entities_json, markup_json, reply_to_message_id, edits_message_id, state, attempts, message_id, after_message_id,
    error, created_at_ms, sending_at_ms, sent_at_ms)
VALUES (:part_id, :bot_id, :conversation_id, :chat_id, :thread_id, :position, :turn_id, :part_no, :kind, :text,
    :entities_json, :markup_json, :reply_to_message_id, :edits_message_id, :state, :attempts, NULL, :after_message_id,
    NULL, :created_at_ms, :sending_at_ms, NULL);

-- name: outbox_sending
-- P5: the mark before the call, with the highest message id known.
UPDATE outbox SET state = 'sending', attempts = attempts + 1, sending_at_ms = :at_ms, after_message_id = :after_message_id
WHERE part_id = :part_id AND state IN ('queued', 'sending');

-- name: outbox_sent
-- P5: the record after the call; the sound of a voice message is not needed any more.
UPDATE outbox SET state = 'sent', message_id = :message_id, sent_at_ms = :at_ms, error = NULL,
    text = CASE WHEN kind = 'voice' THEN '' ELSE text END
WHERE part_id = :part_id;

-- name: outbox_failed
-- Telegram will never take it.
UPDATE outbox SET state = 'failed', error = :error WHERE part_id = :part_id;

-- name: outbox_unsent
-- What a start finds: parts to probe (sending) and parts to send (queued), in order.
SELECT * FROM outbox WHERE state IN ('queued', 'sending') AND bot_id = :bot_id ORDER BY position;

-- name: outbox_known_ids
-- The probe never touches a message that is known. Private chats share a counter: what others wrote and what was sent to
-- them meanwhile is left out, so that few ids are left to try.
SELECT message_id FROM outbox
WHERE bot_id = :bot_id AND message_id > :after_message_id
    AND (chat_id = :chat_id OR (:chat_id > -1000000000000 AND chat_id > -1000000000000))
UNION
SELECT message_id FROM inbox
WHERE bot_id = :bot_id AND message_id > :after_message_id
    AND (chat_id = :chat_id OR (:chat_id > -1000000000000 AND chat_id > -1000000000000));

-- name: outbox_doubtful
-- Other parts on the same counter of which nobody knows whether they were sent: each may have an id in between.
SELECT COUNT(*) AS n FROM outbox
WHERE bot_id = :bot_id AND state = 'sending' AND part_id <> :part_id
    AND (chat_id = :chat_id OR (:chat_id > -1000000000000 AND chat_id > -1000000000000));

-- name: outbox_high_water
-- The highest message id that was ever known, per chat.
SELECT chat_id, MAX(message_id) AS message_id, MAX(after_message_id) AS after_message_id
FROM outbox WHERE bot_id = :bot_id GROUP BY chat_id;

-- name: outbox_preview
-- The live preview of a turn, if one was shown: the final text edits it, unless a notice took its place.
SELECT part_id, message_id, state FROM outbox WHERE turn_id = :turn_id AND part_no = -1 AND NOT EXISTS (
    SELECT 1 FROM outbox AS notice
    WHERE notice.turn_id = :turn_id AND notice.kind = 'notice' AND notice.edits_message_id = outbox.message_id
) ORDER BY position DESC LIMIT 1;

-- name: outbox_notice
-- The question that was asked about a turn last, so that it can be taken back.
SELECT message_id FROM outbox
WHERE turn_id = :turn_id AND part_no = 0 AND kind = 'notice' ORDER BY position DESC LIMIT 1;

-- name: turn_taken_for_tap
-- Whether a turn's message answered a preview: what was carried was said with its id.
SELECT 1 AS one FROM outbox WHERE turn_id = :turn_id AND kind = :kind LIMIT 1;

-- name: message_of_button
-- Where a button stands on the screen; NULL while that was not sent.
SELECT COALESCE(message_id, edits_message_id) AS message_id FROM outbox
WHERE conversation_id = :conversation_id AND markup_json LIKE '%' || :button_id || '%' ORDER BY position DESC LIMIT 1;

-- name: outbox_last_position
-- The counter goes on from here.
SELECT COALESCE(MAX(position), 0) AS position FROM outbox;

-- name: button_insert
-- What a button means stays here; Telegram sees only the id.
INSERT INTO buttons (button_id, conversation_id, user_id, group_id, action, payload_json, used_at_ms, expires_at_ms, created_at_ms)
VALUES (:button_id, :conversation_id, :user_id, :group_id, :action, :payload_json, NULL, :expires_at_ms, :created_at_ms);

-- name: button_find
-- A tap.
SELECT button_id, conversation_id, user_id, group_id, action, payload_json, used_at_ms, expires_at_ms
FROM buttons WHERE button_id = :button_id;

-- name: offers_to_answer_again
-- Whether a message that was changed again has its offer already, or had one that was taken.
SELECT button_id, payload_json, used_at_ms FROM buttons
WHERE conversation_id = :conversation_id AND action = 'answer_again'
ORDER BY created_at_ms DESC LIMIT 100;

-- name: offers_on_screen
-- The offers that nobody took, with the message in which each stands.
SELECT DISTINCT buttons.button_id, buttons.payload_json, outbox.message_id, outbox.markup_json
FROM buttons JOIN outbox ON outbox.conversation_id = buttons.conversation_id
    AND outbox.markup_json LIKE '%' || buttons.button_id || '%'
WHERE buttons.conversation_id = :conversation_id AND buttons.action = 'answer_again' AND buttons.used_at_ms IS NULL
    AND outbox.message_id IS NOT NULL;

-- name: conversations_looking
-- Where an offer says, for all that is stored, that the bot is still looking.
SELECT DISTINCT conversation_id FROM buttons
WHERE action = 'answer_again' AND used_at_ms IS NULL AND payload_json LIKE '%"looks_since":%';

-- name: offers_looking
-- Those offers, with the message in which each stands; NULL while that is on its way.
SELECT buttons.button_id, buttons.user_id, buttons.payload_json, outbox.bot_id, outbox.chat_id, outbox.thread_id,
    outbox.message_id, outbox.markup_json
FROM buttons JOIN outbox ON outbox.conversation_id = buttons.conversation_id
    AND outbox.markup_json LIKE '%' || buttons.button_id || '%'
WHERE buttons.conversation_id = :conversation_id AND buttons.action = 'answer_again' AND buttons.used_at_ms IS NULL
    AND buttons.payload_json LIKE '%"looks_since":%' AND outbox.edits_message_id IS NULL
    AND (outbox.message_id IS NOT NULL OR outbox.state IN ('queued', 'sending'));

-- name: button_looked
-- The bot looks no more, unless the message was edited once more meanwhile: then that looks.
UPDATE buttons SET payload_json = :payload_json
WHERE button_id = :button_id AND payload_json = :before_json AND used_at_ms IS NULL;

-- name: previews_shown
-- Those of the last hours, the newest first; by their expiry, which has an index.
SELECT button_id, conversation_id, user_id, group_id, payload_json, used_at_ms, created_at_ms FROM buttons
WHERE expires_at_ms > :after_ms AND conversation_id = :conversation_id AND action = 'carry_on'
ORDER BY created_at_ms DESC, button_id DESC LIMIT 20;

-- name: button_means
-- The same button, the newest text; one that was used meanwhile stays as it was.
UPDATE buttons SET payload_json = :payload_json WHERE button_id = :button_id AND used_at_ms IS NULL;

-- name: button_group_size
-- How many rows a first tap uses up.
SELECT COUNT(*) AS n FROM buttons WHERE group_id = :group_id;

-- name: button_use
-- Once: a tap on one button of a message uses up all of them; a second tap changes no row and loses.
UPDATE buttons SET used_at_ms = :at_ms WHERE group_id = :group_id AND used_at_ms IS NULL;

-- name: buttons_purge
-- Old buttons answer "too old" also without their row.
DELETE FROM buttons WHERE expires_at_ms < :before_ms;

-- name: people_all
-- Who was paired, and what they chose.
SELECT user_id, allowed, settings_json FROM people;

-- name: person_pair
-- Paired with the code on the console.
INSERT INTO people (user_id, allowed, settings_json, created_at_ms) VALUES (:user_id, 1, '{}', :created_at_ms)
ON CONFLICT (user_id) DO UPDATE SET allowed = 1;

-- name: chat_unreachable
-- Blocked or kicked.
INSERT INTO unreachable_chats (bot_id, chat_id, reason, since_at_ms) VALUES (:bot_id, :chat_id, :reason, :since_at_ms)
ON CONFLICT (bot_id, chat_id) DO UPDATE SET reason = :reason, since_at_ms = :since_at_ms;

-- name: chat_reachable
-- They wrote again.
DELETE FROM unreachable_chats WHERE bot_id = :bot_id AND chat_id = :chat_id;

-- name: chat_moves
-- Known at start; whether the supergroup had a conversation of its own before anybody here knew.
SELECT from_chat_id, to_chat_id, EXISTS (SELECT 1 FROM conversations WHERE conversation_id =
    'tg:' || CAST(chat_moves.bot_id AS TEXT) || ':' || CAST(chat_moves.to_chat_id AS TEXT) || ':0') AS apart
FROM chat_moves WHERE bot_id = :bot_id;

-- name: groups_of_old
-- Groups that may have become supergroups while nobody here was told: their numbers are short, and no move is known.
SELECT user_id, settings_json FROM people WHERE user_id < 0 AND user_id > -1000000000000 AND user_id NOT IN (
    SELECT from_chat_id FROM chat_moves WHERE bot_id = :bot_id);

-- name: chat_move_insert
-- Only of a group that we know.
INSERT INTO chat_moves (bot_id, from_chat_id, to_chat_id)
SELECT :bot_id, :from_chat_id, :to_chat_id
WHERE NOT EXISTS (SELECT 1 FROM chat_moves WHERE bot_id = :bot_id AND to_chat_id = :to_chat_id)
    AND (EXISTS (SELECT 1 FROM conversations WHERE conversation_id = :before_id)
        OR EXISTS (SELECT 1 FROM jobs WHERE conversation_id = :before_id)
        OR EXISTS (SELECT 1 FROM outbox WHERE conversation_id = :before_id));

-- name: unreachable_chats
-- Known at start.
SELECT chat_id, reason FROM unreachable_chats WHERE bot_id = :bot_id;

-- name: boot_insert
-- The start report, for `status`.
INSERT INTO boots (boot_id, position, report_json, started_at_ms, stopped_at_ms)
SELECT :boot_id, COALESCE(MAX(position), 0) + 1, :report_json, :started_at_ms, NULL FROM boots;

-- name: boot_report
-- What the start found and did, once it is known.
UPDATE boots SET report_json = :report_json WHERE boot_id = :boot_id;

-- name: boot_stopped
-- It stopped in good order.
UPDATE boots SET stopped_at_ms = :stopped_at_ms WHERE boot_id = :boot_id;

-- name: boots_latest
-- For status and doctor.
SELECT boot_id, position, report_json, started_at_ms, stopped_at_ms FROM boots ORDER BY position DESC LIMIT :limit;

-- name: people_followed_up
-- Who may want to be asked how it went; what they chose is read again before.
SELECT user_id FROM people WHERE settings_json LIKE '%"follow_ups":true%' ORDER BY user_id;

-- name: groups_open
-- Groups whose admins let their members ask in private what was said there.
SELECT user_id, settings_json FROM people
WHERE user_id < 0 AND settings_json LIKE '%"asked_in_private":true%' ORDER BY user_id;

-- name: groups_with_open_notes
-- Where somebody said, among several, what is still open: their own list does not have it.
SELECT DISTINCT conversation_id FROM notes
WHERE user_id = :user_id AND status = 'open' AND about = '' AND conversation_id LIKE :prefix
    AND kind IN ('project', 'event', 'task', 'promise', 'question')
ORDER BY conversation_id;

-- name: conversations_of_group
-- A group, and each of its topics.
SELECT conversation_id FROM conversations WHERE conversation_id LIKE :prefix ORDER BY conversation_id;

-- Choices of people.

-- name: person_choices
-- What somebody chose: time zone and more.
SELECT settings_json FROM people WHERE user_id = :user_id;

-- name: person_language
-- What somebody chose, and in which languages they wrote lately in a conversation, the latest first; nothing forwarded.
SELECT p.settings_json, t.language FROM (SELECT 1 AS one) o
LEFT JOIN people p ON p.user_id = :user_id
LEFT JOIN (SELECT language, created_at_ms FROM conversation_turns
           WHERE conversation_id = :conversation_id AND user_id = :user_id AND language IS NOT NULL AND third_party = 0
           ORDER BY created_at_ms DESC LIMIT 10) t ON o.one = 1
ORDER BY t.created_at_ms DESC;

-- name: group_language
-- What was chosen for a group, and in which languages a member (own = 1) and all of them wrote lately, the latest first.
SELECT p.settings_json, t.language, t.own FROM (SELECT 1 AS one) o
LEFT JOIN people p ON p.user_id = :group_id
LEFT JOIN (
    SELECT * FROM (SELECT language, created_at_ms, 1 AS own FROM conversation_turns
        WHERE conversation_id = :conversation_id AND user_id = :user_id AND language IS NOT NULL AND third_party = 0
        ORDER BY created_at_ms DESC LIMIT 10) mine
    UNION ALL
    SELECT * FROM (SELECT language, created_at_ms, 0 AS own FROM conversation_turns
        WHERE conversation_id = :conversation_id AND language IS NOT NULL AND third_party = 0
        ORDER BY created_at_ms DESC LIMIT 20) everybody) t ON o.one = 1
ORDER BY t.created_at_ms DESC;

-- name: group_speakers
-- Who wrote in a conversation, the latest first.
SELECT user_id FROM conversation_turns WHERE conversation_id = :conversation_id AND user_id IS NOT NULL
GROUP BY user_id ORDER BY MAX(created_at_ms) DESC LIMIT 50;

-- name: person_choose
-- A choice does not let anybody in: `allowed` stays, and is 0 for who was never paired.
INSERT INTO people (user_id, allowed, settings_json, created_at_ms)
VALUES (:user_id, 0, :settings_json, :created_at_ms)
ON CONFLICT (user_id) DO UPDATE SET settings_json = :settings_json;

-- name: inbox_one
-- What became of one message, for whoever asks with its key; over HTTP `message_id` is a digest of the whole request.
SELECT state, turn_id, error, message_id FROM inbox WHERE bot_id = :bot_id AND update_id = :update_id;

-- name: outbox_message_of
-- Where a part is on the screen, to be edited; NULL while it was not sent.
SELECT message_id FROM outbox WHERE part_id = :part_id;

-- name: outbox_of_turn
-- What was said about a turn that has no answer.
SELECT text FROM outbox WHERE turn_id = :turn_id AND kind <> 'preview' ORDER BY position;

-- name: turn_usage
-- Who wrote an answer and what it cost.
SELECT model, input_tokens, output_tokens FROM conversation_turns WHERE turn_id = :turn_id;

-- Forgetting (P13): words that stand in messages and on buttons, and what a person chose.

-- name: prompt_texts_keep
-- The same instructions and descriptions of tools stand in many prompts.
INSERT INTO prompt_texts (digest, text) VALUES (:instructions_digest, :instructions), (:tools_digest, :tools)
ON CONFLICT (digest) DO NOTHING;

-- name: prompt_keep
-- With the turn: what the model was given for it.
INSERT INTO prompts (turn_id, conversation_id, packet_json, instructions_digest, tools_digest, digest, at_ms)
VALUES (:turn_id, :conversation_id, :packet_json, :instructions_digest, :tools_digest, :digest, :at_ms);

-- name: prompt_of_turn
-- To show what the model was given.
SELECT p.packet_json, p.digest, p.at_ms, i.text AS instructions, t.text AS tools
FROM prompts p
LEFT JOIN prompt_texts i ON i.digest = p.instructions_digest
LEFT JOIN prompt_texts t ON t.digest = p.tools_digest
WHERE p.turn_id = :turn_id;

-- name: prompts_purge
-- Older than the setting says.
DELETE FROM prompts WHERE at_ms < :before_ms;

-- name: prompt_texts_purge
-- What stands in no prompt any more.
DELETE FROM prompt_texts WHERE digest NOT IN (SELECT instructions_digest FROM prompts)
    AND digest NOT IN (SELECT tools_digest FROM prompts);

-- name: erase_prompts
-- P13: any prompt of the conversation may repeat what is forgotten, in its history or in a summary.
DELETE FROM prompts WHERE conversation_id = :conversation_id;

-- name: turn_figures_keep
-- With the turn: what it took.
INSERT INTO turn_figures (turn_id, model, input_tokens, cached_tokens, output_tokens, cost_nanodollars, queue_ms,
    packet_ms, model_ms, at_ms)
VALUES (:turn_id, :model, :input_tokens, :cached_tokens, :output_tokens, :cost_nanodollars, :queue_ms, :packet_ms,
    :model_ms, :at_ms);

-- name: turn_figures_purge
-- Charts do not go back for ever.
DELETE FROM turn_figures WHERE at_ms < :before_ms;

-- name: model_use_keep
-- What a model took to read or to sum up.
INSERT INTO model_uses (use_id, purpose, model, input_tokens, cached_tokens, output_tokens, cost_nanodollars, at_ms)
VALUES (:use_id, :purpose, :model, :input_tokens, :cached_tokens, :output_tokens, :cost_nanodollars, :at_ms);

-- name: model_uses_purge
-- Charts do not go back for ever.
DELETE FROM model_uses WHERE at_ms < :before_ms;

-- name: model_use_totals
-- For `status`: what was taken behind the replies, by purpose.
SELECT purpose, COUNT(*) AS n, SUM(input_tokens + output_tokens) AS tokens,
    SUM(COALESCE(cost_nanodollars, 0)) AS cost_nanodollars,
    SUM(CASE WHEN cost_nanodollars IS NULL THEN 1 ELSE 0 END) AS unpriced
FROM model_uses GROUP BY purpose;

-- name: erased_inbox
-- Messages that were put aside and still hold their text.
SELECT bot_id, update_id, payload FROM inbox
WHERE conversation_id = :conversation_id AND state IN ('parked', 'quarantined') AND payload <> '';

-- name: erased_buttons
-- What the buttons of a conversation mean may repeat its words.
SELECT button_id, payload_json FROM buttons WHERE conversation_id = :conversation_id;

-- name: erase_sent_texts
-- What was sent (or never will be) is needed by nobody: the row keeps its message id, the words go.
UPDATE outbox SET text = '', entities_json = '[]', markup_json = NULL, error = NULL
WHERE conversation_id = :conversation_id AND state IN ('sent', 'failed') AND text <> '';

-- name: erase_turn_texts
-- The parts of an answer that is gone are not sent any more after a restart.
UPDATE outbox SET text = '', entities_json = '[]', markup_json = NULL, error = 'forgotten', state = 'failed'
WHERE turn_id = :turn_id AND state IN ('queued', 'sending');

-- name: erase_all_texts
-- Everything is forgotten: nothing that waits is sent after a restart.
UPDATE outbox SET text = '', entities_json = '[]', markup_json = NULL, error = NULL,
    state = CASE WHEN state IN ('queued', 'sending') THEN 'failed' ELSE state END
WHERE conversation_id = :conversation_id AND text <> '';

-- name: erase_payload
-- A message that was put aside: it is not worked on again.
UPDATE inbox SET payload = '', error = NULL, state = 'done', done_at_ms = :at_ms
WHERE bot_id = :bot_id AND update_id = :update_id AND state IN ('parked', 'quarantined');

-- name: erase_button
-- A tap on it then says that it is too old.
DELETE FROM buttons WHERE button_id = :button_id;

-- name: erase_settings
-- A person is forgotten: what they chose goes, that they are allowed stays.
UPDATE people SET settings_json = '{}' WHERE user_id = :user_id;

-- name: erase_usage
-- A person is forgotten.
DELETE FROM usage_days WHERE user_id = :user_id;

-- Export: what is kept about a person.

-- name: exported_person
-- What somebody chose.
SELECT allowed, settings_json FROM people WHERE user_id = :user_id;

-- name: exported_usage
-- Tokens per day.
SELECT day, CAST(SUM(tokens) AS BIGINT) AS tokens FROM usage_days WHERE user_id = :user_id AND purpose <> 'notice'
GROUP BY day ORDER BY day;

-- The model's tokens per person and day.

-- name: usage_add
-- In the turn's transaction.
INSERT INTO usage_days (user_id, day, purpose, tokens, unpriced_tokens, cost_nanodollars)
VALUES (:user_id, :day, :purpose, :tokens, :unpriced_tokens, :cost_nanodollars)
ON CONFLICT (user_id, day, purpose) DO UPDATE SET tokens = usage_days.tokens + excluded.tokens,
    unpriced_tokens = usage_days.unpriced_tokens + excluded.unpriced_tokens,
    cost_nanodollars = usage_days.cost_nanodollars + excluded.cost_nanodollars;

-- name: usage_since
-- Before a model is asked, and for /usage.
SELECT day, purpose, tokens, unpriced_tokens, cost_nanodollars FROM usage_days
WHERE user_id = :user_id AND day >= :day ORDER BY day, purpose;

-- name: answer_of_message
-- The answer that a message of ours shows, under which somebody reacted.
SELECT outbox.conversation_id, outbox.turn_id FROM outbox
    JOIN conversation_turns ON conversation_turns.turn_id = outbox.turn_id
WHERE outbox.bot_id = :bot_id AND outbox.chat_id = :chat_id AND outbox.message_id = :message_id
    AND outbox.kind IN ('reply', 'voice')
LIMIT 1;

-- name: reaction_keep
-- The last one of a person counts.
INSERT INTO reactions (bot_id, chat_id, message_id, user_id, conversation_id, turn_id, emoji, at_ms)
VALUES (:bot_id, :chat_id, :message_id, :user_id, :conversation_id, :turn_id, :emoji, :at_ms)
ON CONFLICT (bot_id, chat_id, message_id, user_id) DO UPDATE SET emoji = excluded.emoji, at_ms = excluded.at_ms;

-- name: reaction_drop
-- It was taken back.
DELETE FROM reactions
WHERE bot_id = :bot_id AND chat_id = :chat_id AND message_id = :message_id AND user_id = :user_id;

-- name: reaction_counts
-- For the operator: how often people reacted with what.
SELECT emoji, COUNT(*) AS n FROM reactions GROUP BY emoji ORDER BY n DESC, emoji LIMIT 8;

-- name: erase_reactions
-- P13: with the answer that is forgotten.
DELETE FROM reactions WHERE turn_id = :turn_id;

-- name: erase_all_reactions
-- P13: with everything of a conversation.
DELETE FROM reactions WHERE conversation_id = :conversation_id;

-- name: poll_sent
-- Committed with the update that brings it; forwarded once more, the last message counts.
INSERT INTO polls (bot_id, poll_id, conversation_id, chat_id, thread_id, message_id, user_id, outcome, turn_id, received_at_ms)
VALUES (:bot_id, :poll_id, :conversation_id, :chat_id, :thread_id, :message_id, :user_id, '', NULL, :received_at_ms)
ON CONFLICT (bot_id, poll_id, conversation_id) DO UPDATE SET message_id = excluded.message_id, user_id = excluded.user_id;

-- name: poll_places
-- Where a poll was sent that has ended now; its end names no chat.
SELECT conversation_id, chat_id, thread_id, message_id, user_id FROM polls WHERE bot_id = :bot_id AND poll_id = :poll_id;

-- name: poll_ended
-- With the turn that reads so now: the next answer is told.
UPDATE polls SET outcome = :outcome, turn_id = :turn_id
WHERE bot_id = :bot_id AND poll_id = :poll_id AND conversation_id = :conversation_id;

-- name: poll_gone
-- Nothing tells of it any more.
DELETE FROM polls WHERE bot_id = :bot_id AND poll_id = :poll_id AND conversation_id = :conversation_id;

-- name: polls_ended
-- What the model was not told yet.
SELECT polls.bot_id, polls.poll_id, polls.conversation_id, polls.outcome, polls.turn_id, conversation_turns.session_id
FROM polls JOIN conversation_turns ON conversation_turns.turn_id = polls.turn_id
WHERE polls.conversation_id = :conversation_id AND polls.outcome <> '' ORDER BY polls.received_at_ms, polls.poll_id;

-- name: polls_purge
-- Who has not ended it by then never does.
DELETE FROM polls WHERE received_at_ms < :before_ms;

-- name: erase_polls
-- P13: with the message that brought it.
DELETE FROM polls WHERE turn_id = :turn_id OR EXISTS (
    SELECT 1 FROM inbox WHERE inbox.turn_id = :turn_id AND inbox.conversation_id = polls.conversation_id
    AND inbox.message_id = polls.message_id
);

-- name: erase_all_polls
-- P13: with everything of a conversation.
DELETE FROM polls WHERE conversation_id = :conversation_id;
