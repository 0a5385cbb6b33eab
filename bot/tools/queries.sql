-- Queries of tool calls and of what people chose about tools. One line of why above each.

-- name: tool_call_insert
-- Before anything happens: a call is known by turn, tool, arguments and count, and only one process writes it down.
INSERT INTO tool_calls (call_id, conversation_id, user_id, turn_id, number, server, tool, title, digest, changes,
    arguments_json, state, is_foreign, boot_id, runs, created_at_ms, started_at_ms, expires_at_ms)
SELECT :call_id, :conversation_id, :user_id, :turn_id, COALESCE(MAX(number), 0) + 1, :server, :tool, :title, :digest,
    :changes, :arguments_json, :state, 0, :boot_id, :runs, :created_at_ms, :started_at_ms, :expires_at_ms
FROM tool_calls WHERE conversation_id = :conversation_id
RETURNING number;

-- name: tool_call_find
-- A tap on a question about it.
SELECT * FROM tool_calls WHERE call_id = :call_id;

-- name: tool_call_numbered
-- read_result asks for more of what was cut.
SELECT * FROM tool_calls WHERE conversation_id = :conversation_id AND number = :number;

-- name: tool_calls_of_turn
-- A turn that is answered again makes nothing twice.
SELECT * FROM tool_calls WHERE turn_id = :turn_id ORDER BY number;

-- name: tool_calls_waiting
-- Nobody is asked the same twice while a question stands.
SELECT * FROM tool_calls WHERE conversation_id = :conversation_id AND state = 'asked' ORDER BY number;

-- name: tool_calls_allowed
-- A yes was given and the model has not heard of the end: a tap that died goes on with those beside it.
SELECT * FROM tool_calls
WHERE conversation_id = :conversation_id AND told_turn_id IS NULL AND expires_at_ms IS NOT NULL
    AND state IN ('planned', 'done', 'failed')
ORDER BY number;

-- name: web_calls_with
-- Whether an address came from a page or a search: the person is asked about any other one.
SELECT * FROM tool_calls
WHERE conversation_id = :conversation_id AND server = '' AND tool IN ('read_page', 'web_search') AND state = 'done'
    AND result LIKE '%' || :address || '%'
ORDER BY number DESC LIMIT 30;

-- name: web_pages_read
-- "What did that article say?", weeks later.
SELECT * FROM tool_calls
WHERE conversation_id = :conversation_id AND server = '' AND tool = 'read_page' AND state = 'done'
    AND LOWER(result) LIKE '%' || :word || '%'
ORDER BY number DESC LIMIT 50;

-- name: tool_calls_running
-- What a process may have been in the midst of when it died.
SELECT * FROM tool_calls WHERE state = 'running' ORDER BY created_at_ms;

-- name: tool_calls_run_out
-- Questions that nobody answered.
SELECT * FROM tool_calls WHERE state = 'asked' AND expires_at_ms < :now_ms ORDER BY expires_at_ms LIMIT 100;

-- name: tool_calls_untold
-- What was decided behind the model's back; it is told with the next message.
SELECT * FROM tool_calls
WHERE conversation_id = :conversation_id AND user_id = :user_id AND told_turn_id IS NULL AND expires_at_ms IS NOT NULL
    AND state IN ('done', 'failed', 'declined', 'expired', 'left')
ORDER BY number LIMIT 20;

-- name: tool_call_plan
-- The person said yes: from one state only, so that of two taps one counts.
UPDATE tool_calls SET state = 'planned', boot_id = :boot_id WHERE call_id = :call_id AND state = :was;

-- name: tool_call_run
-- The last thing before the effect.
UPDATE tool_calls SET state = 'running', boot_id = :boot_id, runs = runs + 1, started_at_ms = :at_ms
WHERE call_id = :call_id AND state IN ('planned', 'running');

-- name: tool_call_end
-- The first thing after it; not when somebody else has settled it meanwhile.
UPDATE tool_calls SET state = :state, result = :result, is_foreign = :is_foreign, cost_nanodollars = :cost_nanodollars,
    ended_at_ms = :at_ms
WHERE call_id = :call_id AND state IN ('planned', 'running') AND boot_id = :boot_id;

-- name: tool_call_doubt
-- Nobody knows whether it happened: the person is asked, once.
UPDATE tool_calls SET state = 'unknown', expires_at_ms = :at_ms, ended_at_ms = :at_ms
WHERE call_id = :call_id AND state = 'running';

-- name: tool_call_close
-- The person said no, or nothing.
UPDATE tool_calls SET state = :state, ended_at_ms = :at_ms WHERE call_id = :call_id AND state = :was;

-- name: tool_call_told
-- The model knows.
UPDATE tool_calls SET told_turn_id = :turn_id WHERE call_id = :call_id;

-- name: tool_question_shown
-- The message that asks about a call, so that it can say what became of it, and what its buttons mean.
SELECT outbox.message_id, outbox.state, buttons.payload_json FROM outbox JOIN buttons ON outbox.markup_json LIKE '%' || buttons.button_id || '%'
WHERE outbox.turn_id = :turn_id AND buttons.conversation_id = :conversation_id
    AND buttons.payload_json LIKE '%' || :call_id || '%'
ORDER BY outbox.position DESC LIMIT 1;

-- name: tool_calls_purge
-- Long ago: what a result said stands in its turn as far as it was shown.
DELETE FROM tool_calls WHERE created_at_ms < :before_ms;

-- name: tool_choices_of
-- What this person chose in this chat, and what the operator switched off for everybody.
SELECT conversation_id, name, choice, digest, definition_json FROM tool_choices
WHERE (conversation_id = :conversation_id AND user_id = :user_id) OR conversation_id = '';

-- name: tool_choose
-- The newest choice counts.
INSERT INTO tool_choices (conversation_id, user_id, name, choice, digest, definition_json, at_ms)
VALUES (:conversation_id, :user_id, :name, :choice, :digest, :definition_json, :at_ms)
ON CONFLICT (conversation_id, user_id, name) DO UPDATE SET choice = :choice, digest = :digest,
    definition_json = :definition_json, at_ms = :at_ms;

-- name: tool_unchoose
-- As if nothing had been chosen, also about its parts (the sites of `read_page`).
DELETE FROM tool_choices
WHERE conversation_id = :conversation_id AND user_id = :user_id AND (name = :name OR name LIKE :name || ':%');

-- name: erase_tool_calls
-- P13: a call goes with the turn that asked for it, and with the one that told of it.
DELETE FROM tool_calls WHERE turn_id = :turn_id OR told_turn_id = :turn_id;

-- name: erase_all_tool_calls
-- P13: everything of a conversation.
DELETE FROM tool_calls WHERE conversation_id = :conversation_id;

-- name: erase_tool_choices
-- P13: choices go with everything else.
DELETE FROM tool_choices WHERE conversation_id = :conversation_id;

-- name: exported_tool_calls
-- What a person takes with them: calls that were made for them, whole results included.
SELECT number, server, tool, arguments_json, state, result, created_at_ms, ended_at_ms FROM tool_calls
WHERE conversation_id = :conversation_id ORDER BY number;

-- name: exported_tool_choices
-- What somebody chose about tools.
SELECT conversation_id, name, choice, at_ms FROM tool_choices WHERE user_id = :user_id ORDER BY conversation_id, name;

-- name: tool_listings
-- What servers offer, without starting them.
SELECT server, origin, tools_json FROM tool_listings;

-- name: tool_listing_keep
-- A server that says something else now.
INSERT INTO tool_listings (server, origin, tools_json, at_ms) VALUES (:server, :origin, :tools_json, :at_ms)
ON CONFLICT (server) DO UPDATE SET origin = :origin, tools_json = :tools_json, at_ms = :at_ms;

-- name: login_begin
-- Before the person goes there: a login that was begun outlives the process.
INSERT INTO tool_logins_begun (state, server, user_id, conversation_id, sealed, used, expires_at_ms, polls_at_ms)
VALUES (:state, :server, :user_id, :conversation_id, :sealed, 0, :expires_at_ms, :polls_at_ms);

-- name: logins_polled
-- Codes that somebody may be entering: the next one to be asked about first.
SELECT * FROM tool_logins_begun WHERE polls_at_ms IS NOT NULL AND used = 0 ORDER BY polls_at_ms;

-- name: login_poll
-- Before a code is asked about: of several processes one does.
UPDATE tool_logins_begun SET polls_at_ms = :at_ms WHERE state = :state AND polls_at_ms = :was_at_ms AND used = 0;

-- name: logins_else_use
-- Whoever is in needs no other code of theirs.
UPDATE tool_logins_begun SET used = 1 WHERE server = :server AND user_id = :user_id AND polls_at_ms IS NOT NULL;

-- name: login_begun
-- An address came back.
SELECT * FROM tool_logins_begun WHERE state = :state;

-- name: login_use
-- Before the code goes out: it's taken once.
UPDATE tool_logins_begun SET used = 1 WHERE state = :state AND used = 0;

-- name: logins_begun_purge
-- A day after it was too late nobody sends it any more.
DELETE FROM tool_logins_begun WHERE expires_at_ms < :before_ms;

-- name: login_keep
-- The newest login of a person at a server counts.
INSERT INTO tool_logins (server, user_id, conversation_id, origin, sealed, version, tools_json, at_ms)
VALUES (:server, :user_id, :conversation_id, :origin, :sealed, 1, '[]', :at_ms)
ON CONFLICT (server, user_id) DO UPDATE SET conversation_id = :conversation_id, origin = :origin, sealed = :sealed,
    version = tool_logins.version + 1, tools_json = '[]', at_ms = :at_ms;

-- name: login_renew
-- A server gave new tokens; not over what another process has renewed meanwhile.
UPDATE tool_logins SET sealed = :sealed, version = version + 1
WHERE server = :server AND user_id = :user_id AND version = :version;

-- name: login_tools_keep
-- What this account is offered now.
UPDATE tool_logins SET tools_json = :tools_json WHERE server = :server AND user_id = :user_id;

-- name: login_find
-- Whose account a call uses.
SELECT * FROM tool_logins WHERE server = :server AND user_id = :user_id;

-- name: login_anywhere
-- Whether a server is one where people log in is known before it's asked; logins of another setup say nothing of it.
SELECT user_id FROM tool_logins WHERE server = :server AND origin = :origin ORDER BY user_id LIMIT 1;

-- name: login_end
-- The person logs out, or the server takes the login no more; not one that was renewed meanwhile.
DELETE FROM tool_logins WHERE server = :server AND user_id = :user_id AND version = :version;

-- name: erase_tool_logins
-- P13: logins go with everything else.
DELETE FROM tool_logins WHERE conversation_id = :conversation_id;

-- name: erase_logins_begun
-- P13: those that are under way, too.
DELETE FROM tool_logins_begun WHERE conversation_id = :conversation_id;

-- name: exported_tool_logins
-- Where somebody is logged in; what opens it stays here.
SELECT server, at_ms FROM tool_logins WHERE user_id = :user_id ORDER BY server;
