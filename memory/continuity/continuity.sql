-- Queries of the continuity bootstrap (001). `owner_key` is <conversation_id>|<user_id>|<persona>.

-- name: continuity_sessions
-- What one user did in one conversation, newest first: the position is the number of conversations ago.
SELECT session_id, title, turn_count, last_turn_at_ms
FROM conversation_sessions
WHERE conversation_id = :conversation_id AND user_id = :user_id AND turn_count > 0 AND origin <> 'private'
ORDER BY last_turn_at_ms DESC, session_id
LIMIT :limit;

-- name: continuity_activity
-- For the heartbeat: one page of the sessions that went on since the last pass, latest first.
SELECT session_id, conversation_id, user_id, last_turn_at_ms
FROM conversation_sessions
WHERE last_turn_at_ms > :since_ms AND turn_count > 0 AND user_id IS NOT NULL AND origin <> 'private'
    AND (last_turn_at_ms < :before_ms OR (last_turn_at_ms = :before_ms AND session_id < :before_id))
ORDER BY last_turn_at_ms DESC, session_id DESC
LIMIT :limit;

-- name: continuity_session
-- The facts that decide about injection into one session.
SELECT session_id, conversation_id, user_id, origin, turn_count
FROM conversation_sessions
WHERE session_id = :session_id;

-- name: continuity_cache
-- The last generation of an owner.
SELECT fingerprint, internal_packet, preview_json, generated_at_ms
FROM continuity_bootstrap_cache
WHERE owner_key = :owner_key;

-- name: put_continuity_cache
-- One row per owner: a new generation takes the place of the old.
INSERT INTO continuity_bootstrap_cache (owner_key, fingerprint, internal_packet, preview_json, generated_at_ms)
VALUES (:owner_key, :fingerprint, :internal_packet, :preview_json, :generated_at_ms)
ON CONFLICT (owner_key) DO UPDATE SET
    fingerprint = excluded.fingerprint,
    internal_packet = excluded.internal_packet,
    preview_json = excluded.preview_json,
    generated_at_ms = excluded.generated_at_ms;

-- name: put_continuity_relationship
-- One row per owner.
INSERT INTO continuity_relationship_states (owner_key, state_json, updated_at_ms)
VALUES (:owner_key, :state_json, :updated_at_ms)
ON CONFLICT (owner_key) DO UPDATE SET state_json = excluded.state_json, updated_at_ms = excluded.updated_at_ms;

-- name: delete_active_continuity_arcs
-- Before a new generation is stored; what the user dropped stays, so that it is not offered again.
DELETE FROM continuity_arcs WHERE owner_key = :owner_key AND status = 'active';

-- name: put_continuity_arc
-- An arc that was dropped comes back only when something new was said about it: then it is active again.
INSERT INTO continuity_arcs (
    arc_id, owner_key, kind, title, summary, confidence, stickiness, status, sources_json, last_touched_at_ms, created_at_ms
) VALUES (
    :arc_id, :owner_key, :kind, :title, :summary, :confidence, :stickiness, 'active', :sources_json,
    :last_touched_at_ms, :created_at_ms
)
ON CONFLICT (arc_id) DO UPDATE SET
    title = excluded.title,
    summary = excluded.summary,
    confidence = excluded.confidence,
    stickiness = excluded.stickiness,
    status = 'active',
    sources_json = excluded.sources_json,
    last_touched_at_ms = excluded.last_touched_at_ms,
    created_at_ms = excluded.created_at_ms;

-- name: continuity_dropped_arcs
-- What the user took off the preview, and the evidence it stood on; the words are not needed any more.
SELECT arc_id, sources_json
FROM continuity_arcs
WHERE owner_key = :owner_key AND status = 'dropped'
ORDER BY arc_id;

-- name: drop_continuity_arc
-- The words go, the id and the evidence stay, so that the same matter is not offered again.
UPDATE continuity_arcs SET status = 'dropped', title = '', summary = ''
WHERE arc_id = :arc_id AND owner_key = :owner_key;

-- name: continuity_preference
-- What the user chose for this persona.
SELECT mode, skip_preview FROM continuity_preferences WHERE owner_key = :owner_key;

-- name: put_continuity_preference
-- Survives every clearing.
INSERT INTO continuity_preferences (owner_key, mode, skip_preview, updated_at_ms)
VALUES (:owner_key, :mode, :skip_preview, :updated_at_ms)
ON CONFLICT (owner_key) DO UPDATE SET
    mode = excluded.mode,
    skip_preview = excluded.skip_preview,
    updated_at_ms = excluded.updated_at_ms;

-- name: continuity_choice
-- What was chosen for one session.
SELECT session_id, mode, internal_packet, chosen_at_ms FROM continuity_choices WHERE session_id = :session_id;

-- name: put_continuity_choice
-- The last word counts: /continue lifts a fresh start.
INSERT INTO continuity_choices (session_id, owner_key, mode, internal_packet, chosen_at_ms)
VALUES (:session_id, :owner_key, :mode, :internal_packet, :chosen_at_ms)
ON CONFLICT (session_id) DO UPDATE SET
    owner_key = excluded.owner_key,
    mode = excluded.mode,
    internal_packet = excluded.internal_packet,
    chosen_at_ms = excluded.chosen_at_ms;

-- name: clear_continuity_relationships
-- `prefix` ends with "|": a whole owner_key and "|", or the beginning of several.
DELETE FROM continuity_relationship_states WHERE substr(owner_key || '|', 1, length(:prefix)) = :prefix;

-- name: clear_continuity_arcs
-- Dropped ones too: clearing starts again.
DELETE FROM continuity_arcs WHERE substr(owner_key || '|', 1, length(:prefix)) = :prefix;

-- name: clear_continuity_caches
-- The packet and the preview.
DELETE FROM continuity_bootstrap_cache WHERE substr(owner_key || '|', 1, length(:prefix)) = :prefix;

-- name: blank_continuity_choices
-- The choice stays (a fresh start stays fresh), the packet with people's words goes.
UPDATE continuity_choices SET internal_packet = '' WHERE substr(owner_key || '|', 1, length(:prefix)) = :prefix;

-- name: delete_continuity_choices
-- The sessions themselves are forgotten.
DELETE FROM continuity_choices WHERE substr(owner_key || '|', 1, length(:prefix)) = :prefix;

-- name: delete_continuity_preferences
-- A person is forgotten: `prefix` is <user_id> and "|".
DELETE FROM continuity_preferences WHERE substr(owner_key || '|', 1, length(:prefix)) = :prefix;
