"""Rows of the continuity tables to frozen values and back, as statements; nothing here touches a database."""

from __future__ import annotations

import json

from pydantic import TypeAdapter

from memory.continuity.types import (
    Arc,
    BootstrapOwner,
    CachedBootstrap,
    DroppedArc,
    Mode,
    PastSession,
    Preference,
    RelationshipState,
    Selection,
    SessionChoice,
)
from memory.ports import Row, Statement
from memory.types import Contract

_IDS = TypeAdapter(tuple[str, ...])


class _Preview(Contract):
    """The content of `preview_json`: all for showing a preview and assembling the packet without some arcs."""

    relationship: RelationshipState
    selection: Selection


def session_from(row: Row) -> PastSession:
    """Return one session as the bootstrap reads it."""
    return PastSession(**{name: row[name] for name in ("session_id", "title", "turn_count", "last_turn_at_ms")})


def dropped_from(row: Row) -> DroppedArc:
    """Return the remains of an arc that the user dropped."""
    return DroppedArc(arc_id=row["arc_id"], sources=_IDS.validate_json(row["sources_json"]))


def cached_from(row: Row | None) -> CachedBootstrap | None:
    """Return the last generation; None when there is none, or an older program wrote it in another shape."""
    if row is None:
        return None
    try:
        preview = _Preview.model_validate_json(row["preview_json"])
    except ValueError:
        return None
    return CachedBootstrap(
        fingerprint=row["fingerprint"],
        internal_packet=row["internal_packet"],
        relationship=preview.relationship,
        selection=preview.selection,
        generated_at_ms=row["generated_at_ms"],
    )


def preference_from(row: Row | None, default: Mode) -> Preference:
    """Return the user's choice, the bot's `default` when there is none."""
    if row is None:
        return Preference(mode=default, is_chosen=False)
    return Preference(mode=row["mode"], skip_preview=bool(row["skip_preview"]))


def choice_from(row: Row | None) -> SessionChoice | None:
    """Return the choice made for a session, or None."""
    return None if row is None else SessionChoice.model_validate(dict(row))


def save_bootstrap(owner: BootstrapOwner, bootstrap: CachedBootstrap) -> list[Statement]:
    """Return the statements that put one generation in the place of the one before."""
    key = owner.artifact_key
    preview = _Preview(
        relationship=bootstrap.relationship,
        selection=bootstrap.selection.model_copy(update={"left_out": ()}),
    )
    relationship = {
        "owner_key": key,
        "state_json": bootstrap.relationship.model_dump_json(),
        "updated_at_ms": bootstrap.generated_at_ms,
    }
    cache = {
        "owner_key": key,
        "fingerprint": bootstrap.fingerprint,
        "internal_packet": bootstrap.internal_packet,
        "preview_json": preview.model_dump_json(),
        "generated_at_ms": bootstrap.generated_at_ms,
    }
    return [
        Statement("put_continuity_relationship", relationship),
        Statement("delete_active_continuity_arcs", {"owner_key": key}),
        *(_put_arc(key, arc, bootstrap.generated_at_ms) for arc in bootstrap.selection.arcs),
        Statement("put_continuity_cache", cache),
    ]


def drop_arc(owner: BootstrapOwner, arc_id: str) -> Statement:
    """Return the statement that marks one arc as dropped; an arc that is not there is no error."""
    return Statement("drop_continuity_arc", {"arc_id": arc_id, "owner_key": owner.artifact_key})


def save_preference(owner: BootstrapOwner, preference: Preference, at_ms: int) -> Statement:
    """Return the statement that stores the user's choice for the persona."""
    params = {
        "owner_key": owner.preference_key,
        "mode": preference.mode,
        "skip_preview": int(preference.skip_preview),
        "updated_at_ms": at_ms,
    }
    return Statement("put_continuity_preference", params)


def save_choice(owner: BootstrapOwner, choice: SessionChoice) -> Statement:
    """Return the statement that stores the choice for a session."""
    return Statement("put_continuity_choice", {"owner_key": owner.artifact_key, **choice.model_dump()})


def clear_owner(owner: BootstrapOwner) -> list[Statement]:
    """Return the statements that remove the artifacts of one owner and keep the preference (001)."""
    return _clear(f"{owner.artifact_key}|")


def clear_conversation(conversation_id: str) -> list[Statement]:
    """Return the same for everybody in a conversation: whenever something there is forgotten (P13)."""
    return _clear(f"{conversation_id}|")


def forget_conversation(conversation_id: str) -> list[Statement]:
    """Return the statements that leave nothing of a conversation, its sessions' choices included (P13)."""
    prefix = f"{conversation_id}|"
    return [*_clear(prefix), Statement("delete_continuity_choices", {"prefix": prefix})]


def forget_preferences(user_id: int) -> Statement:
    """Return the statement that removes a person's choices, for every persona."""
    return Statement("delete_continuity_preferences", {"prefix": f"{user_id}|"})


def _clear(prefix: str) -> list[Statement]:
    """Return the four statements of a clearing."""
    names = (
        "clear_continuity_relationships",
        "clear_continuity_arcs",
        "clear_continuity_caches",
        "blank_continuity_choices",
    )
    return [Statement(name, {"prefix": prefix}) for name in names]


def _put_arc(owner_key: str, arc: Arc, at_ms: int) -> Statement:
    """Return the statement that stores one selected arc."""
    params = {
        "arc_id": arc.arc_id,
        "owner_key": owner_key,
        "kind": arc.kind,
        "title": arc.title,
        "summary": arc.summary,
        "confidence": arc.confidence,
        "stickiness": arc.stickiness,
        "sources_json": json.dumps(arc.sources),
        "last_touched_at_ms": arc.last_touched_at_ms,
        "created_at_ms": at_ms,
    }
    return Statement("put_continuity_arc", params)
