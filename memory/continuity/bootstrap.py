"""The application functions of the continuity bootstrap (001): preview, choice, refresh, clear, every stage.

`memory/continuity/` decides, this module reads and stores. Telegram, command line and an HTTP service call it alike.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Collection, Sequence
from typing import Literal, cast

from memory.continuity import rows
from memory.continuity.generate import generate, with_selection
from memory.continuity.offer import Offer, SessionOrigin, injection, offer, session_mode
from memory.continuity.packet import fit, internal_packet, preview
from memory.continuity.scoring import without
from memory.continuity.staleness import RefreshDecision, fingerprint, staleness
from memory.continuity.text import repair_mojibake
from memory.continuity.types import (
    Arc,
    BootstrapInputs,
    BootstrapOwner,
    CachedBootstrap,
    DroppedArc,
    Mode,
    Persona,
    Preference,
    SessionChoice,
    Stages,
)
from memory.errors import ContinuityError, UnknownSession
from memory.keeper.surroundings import ZoneOf, utc
from memory.ledger import views
from memory.ledger.ledgers import Ledgers
from memory.ports import Clock, Database, Row, Statement, TokenCounter
from memory.types import Contract

SESSIONS_MAX = 30
PACKET_MAX_TOKENS = 900

_log = logging.getLogger(__name__)


class BootstrapPreview(Contract):
    """The lines shown to the user, and the caller's next step."""

    offer: Offer
    mode: Mode
    skip_preview: bool
    text: str = ""
    """The "carry forward" wording, "" when there is nothing to carry."""
    arcs: tuple[Arc, ...] = ()
    """In the order of the text; each can be dropped by its `arc_id` before continuing."""

    @property
    def available(self) -> bool:
        """True when there is something to carry forward."""
        return bool(self.arcs)


class Bootstrap:
    """The continuity bootstrap of every user and persona over one database: a view of the ledger, framed by persona.

    Everything is deterministic and offline. `default_mode` holds for a user who has not chosen.
    """

    def __init__(
        self,
        db: Database,
        clock: Clock,
        counter: TokenCounter,
        ledgers: Ledgers,
        *,
        zone_of: ZoneOf = utc,
        default_mode: Mode = "use",
    ) -> None:
        self._db = db
        self._clock = clock
        self._counter = counter
        self._ledgers = ledgers
        self._zone_of = zone_of
        self._default_mode: Mode = default_mode
        self._storing = asyncio.Lock()
        """Held from reading the inputs to storing the result: a drop or a clearing is never overwritten."""

    async def owner_of(self, session_id: str, persona: Persona) -> BootstrapOwner:
        """Return the owner of a session's bootstrap: its conversation and its primary user, with this persona.

        Raises `UnknownSession`, and `ContinuityError` for a session that nobody is known to have opened.
        """
        session = await self._db.read_one("continuity_session", session_id=session_id)
        if session is None:
            raise UnknownSession(f"there is no session '{session_id}'; ask for the sessions of its conversation")
        if session["user_id"] is None:
            raise ContinuityError(f"session '{session_id}' has no primary user, so nothing is carried forward into it")
        return BootstrapOwner(conversation_id=session["conversation_id"], user_id=session["user_id"], persona=persona)

    async def preference(self, owner: BootstrapOwner) -> Preference:
        """Return the user's choice for this persona; the default when there is none."""
        row = await self._db.read_one("continuity_preference", owner_key=owner.preference_key)
        return rows.preference_from(row, self._default_mode)

    def preferring(self, owner: BootstrapOwner, preference: Preference) -> Statement:
        """Return the statement that stores a choice, for the caller's own transaction."""
        return rows.save_preference(owner, preference, self._clock.now_ms())

    async def prefer(self, owner: BootstrapOwner, preference: Preference, *, also: Sequence[Statement] = ()) -> None:
        """Store the user's choice for this persona, with the statements in `also`; it survives clearing."""
        await self._db.write(rows.save_preference(owner, preference, self._clock.now_ms()), *also)

    async def preview(
        self,
        owner: BootstrapOwner,
        *,
        origin: SessionOrigin = "gap",
        asked_for: bool = False,
        dropped: Collection[str] = (),
    ) -> BootstrapPreview:
        """Return the lines to carry forward, and whether to ask, use or say nothing (`GET /continuity/preview`).

        Mode off and a fresh start generate nothing unless the user asked for it (/continue). A stale bootstrap is made
        again first, so forgotten or closed matters never show. Arcs in `dropped` are left out.
        """
        chosen = await self.preference(owner)
        quiet = BootstrapPreview(offer="nothing", mode=chosen.mode, skip_preview=chosen.skip_preview)
        if offer(chosen, available=True, origin=origin, asked_for=asked_for) == "nothing":
            return quiet
        selection = without((await self._current(owner)).selection, frozenset(dropped))
        decided = offer(chosen, available=bool(selection.core), origin=origin, asked_for=asked_for)
        return quiet.model_copy(update={"offer": decided, "text": preview(selection), "arcs": selection.arcs})

    async def choose(  # the arguments are the fields of POST /continuity/choice
        self,
        owner: BootstrapOwner,
        session_id: str,
        mode: Literal["use", "off"],
        *,
        remember: bool = False,
        skip_preview: bool = False,
        dropped: Sequence[str] = (),
        also: Sequence[Statement] = (),
    ) -> SessionChoice:
        """Store the user's choice for one session, with the packet as it was shown (`POST /continuity/choice`).

        One transaction: dropped arcs, the choice, with `remember` the preference, and the caller's statements in `also`
        (the session's `isolated`, the used button, …): a crash leaves all of it or nothing. A second call for the same
        session replaces the first. Ids in `dropped` that are not on the preview are ignored.
        Raises `UnknownSession`, also for a session of another conversation, and `ContinuityError` when the owner is
        not the session's primary user; then nothing is stored.
        """
        await self._own_session(owner, session_id)
        async with self._storing:
            effects: list[Statement] = []
            packet = ""
            if dropped or mode == "use":
                kept, effects = await self._without(owner, frozenset(dropped))
                packet = kept.internal_packet if mode == "use" and kept.selection.core else ""
            now_ms = self._clock.now_ms()
            choice = SessionChoice(session_id=session_id, mode=mode, internal_packet=packet, chosen_at_ms=now_ms)
            effects.append(rows.save_choice(owner, choice))
            if remember:
                chosen = Preference(mode=mode, skip_preview=skip_preview)
                effects.append(rows.save_preference(owner, chosen, now_ms))
            await self._db.write(*effects, *also)
        return choice

    async def choice(self, session_id: str) -> SessionChoice | None:
        """Return the choice made for a session, or None."""
        return rows.choice_from(await self._db.read_one("continuity_choice", session_id=session_id))

    async def refresh(self, owner: BootstrapOwner) -> Stages:
        """Generate again even if the cache is fresh, store it and return every stage (`POST /continuity/refresh`).

        Mode off does not keep it from running: it was asked for.
        """
        async with self._storing:
            stages = await self._generate(owner, await self._inputs(owner))
            await self._save(owner, stages)
        return stages

    async def refresh_if_stale(self, owner: BootstrapOwner) -> RefreshDecision:
        """Generate when it is stale and wanted, as the heartbeat does; return whether it ran and why.

        In mode off nothing is read, generated or paid for.
        """
        if (await self.preference(owner)).mode == "off":
            return RefreshDecision(go=False, reason="mode is off")
        inputs = await self._inputs(owner)
        cached = await self._cached(owner)
        decision = staleness(cached, fingerprint(owner, inputs), inputs.newest_at_ms)
        if decision.go:
            await self.refresh(owner)
        return decision

    async def clear(self, owner: BootstrapOwner) -> None:
        """Remove relationship state, arcs and cache of an owner; the preference and fresh starts stay (001)."""
        async with self._storing:
            await self._db.write(*rows.clear_owner(owner))

    async def clear_conversation(self, conversation_id: str, *, also: Sequence[Statement] = ()) -> None:
        """Do the same for everybody in a conversation when something there is forgotten (P13).

        `also` are the statements that forget it: in one transaction, and no generation can come in between.
        """
        async with self._storing:
            await self._db.write(*also, *rows.clear_conversation(conversation_id))

    async def forget_conversation(self, conversation_id: str, *, also: Sequence[Statement] = ()) -> None:
        """Leave nothing of a conversation, the choices of its sessions included; `also` as above (P13)."""
        async with self._storing:
            await self._db.write(*also, *rows.forget_conversation(conversation_id))

    async def stages(self, owner: BootstrapOwner) -> Stages:
        """Return every stage of a generation without storing anything."""
        return await self._generate(owner, await self._inputs(owner))

    async def packet_for(self, owner: BootstrapOwner, session_id: str) -> str:
        """Return the internal packet for the next prompt of a session, complete with its guardrails, or "".

        It is given only before the first reply is stored, only in mode "use", only to the session's primary user, and
        only when there is something to carry. A restart changes none of this. Raises `UnknownSession`.
        """
        session = await self._session(owner, session_id)
        choice = await self.choice(session_id)
        mode = session_mode(await self.preference(owner), choice, cast("SessionOrigin", session["origin"]))
        decision = injection(
            mode, stored_turns=session["turn_count"], user_id=owner.user_id, primary_user_id=session["user_id"]
        )
        _log.debug("bootstrap injection: session=%s go=%s reason=%s", session_id, decision.go, decision.reason)
        if not decision.go:
            return ""
        if choice is not None and choice.internal_packet:
            return choice.internal_packet
        current = await self._current(owner)
        return current.internal_packet if current.selection.core else ""

    async def warm_up(self) -> None:
        """Load the slow library of `repair_mojibake` in a thread, so that the first generation delays nobody."""
        await asyncio.to_thread(repair_mojibake, "é")

    async def _generate(self, owner: BootstrapOwner, inputs: BootstrapInputs) -> Stages:
        """Generate, and keep within the token budget."""
        stages = generate(owner, inputs)
        fitted = fit(stages.relationship, stages.selection, self._counter, PACKET_MAX_TOKENS)
        return with_selection(stages, fitted)

    async def _current(self, owner: BootstrapOwner) -> CachedBootstrap:
        """Return the cache when it is fresh, else generate, store and return that."""
        async with self._storing:
            return await self._current_locked(owner)

    async def _current_locked(self, owner: BootstrapOwner) -> CachedBootstrap:
        """Do the work of `_current` for a caller that holds the lock."""
        inputs = await self._inputs(owner)
        cached = await self._cached(owner)
        if cached is not None and not staleness(cached, fingerprint(owner, inputs), inputs.newest_at_ms).go:
            return cached
        return await self._save(owner, await self._generate(owner, inputs))

    async def _without(self, owner: BootstrapOwner, arc_ids: frozenset[str]) -> tuple[CachedBootstrap, list[Statement]]:
        """Return the current bootstrap without some arcs, and the statements that make it stay so."""
        current = await self._current_locked(owner)
        gone = tuple(
            DroppedArc(arc_id=arc.arc_id, sources=arc.sources)
            for arc in current.selection.arcs
            if arc.arc_id in arc_ids
        )
        if not gone:
            return current, []
        inputs = await self._inputs(owner)
        after = inputs.model_copy(update={"dropped": (*inputs.dropped, *gone)})
        selection = without(current.selection, arc_ids)
        kept = current.model_copy(
            update={
                "fingerprint": fingerprint(owner, after),
                "selection": selection,
                "internal_packet": internal_packet(current.relationship, selection),
            }
        )
        return kept, [*(rows.drop_arc(owner, arc.arc_id) for arc in gone), *rows.save_bootstrap(owner, kept)]

    async def _save(self, owner: BootstrapOwner, stages: Stages) -> CachedBootstrap:
        """Store one generation in one transaction. The caller holds the lock."""
        made = CachedBootstrap(
            fingerprint=stages.fingerprint,
            internal_packet=stages.internal_packet,
            relationship=stages.relationship,
            selection=stages.selection,
            generated_at_ms=self._clock.now_ms(),
        )
        await self._db.write(*rows.save_bootstrap(owner, made))
        return made

    async def _inputs(self, owner: BootstrapOwner) -> BootstrapInputs:
        """Read the inputs of this owner's bootstrap and of its fingerprint: one conversation, one user."""
        whose = {"conversation_id": owner.conversation_id, "user_id": owner.user_id}
        sessions = await self._db.read("continuity_sessions", **whose, limit=SESSIONS_MAX)
        dropped = await self._db.read("continuity_dropped_arcs", owner_key=owner.artifact_key)
        ledger, now_ms = await self._ledgers.read(owner.conversation_id), self._clock.now_ms()
        own = [note for note in ledger if note.user_id in (None, owner.user_id)]
        notes = views.best_first(views.within(own, views.Scope(persona=owner.persona.name)), now_ms)
        return BootstrapInputs(
            sessions=tuple(map(rows.session_from, sessions)),
            notes=tuple(notes),
            version=ledger.version,
            now_ms=now_ms,
            zone=await self._zone_of(owner.conversation_id, owner.user_id),
            dropped=tuple(map(rows.dropped_from, dropped)),
        )

    async def _cached(self, owner: BootstrapOwner) -> CachedBootstrap | None:
        """Return the last generation, or None."""
        return rows.cached_from(await self._db.read_one("continuity_cache", owner_key=owner.artifact_key))

    async def _session(self, owner: BootstrapOwner, session_id: str) -> Row:
        """Return the session's row. Raises `UnknownSession`, also for one of another conversation."""
        session = await self._db.read_one("continuity_session", session_id=session_id)
        if session is None or session["conversation_id"] != owner.conversation_id:
            raise UnknownSession(
                f"session '{session_id}' is not in conversation '{owner.conversation_id}'; name one that is"
            )
        return session

    async def _own_session(self, owner: BootstrapOwner, session_id: str) -> None:
        """Raise unless the owner is the primary user of a session of the conversation."""
        session = await self._session(owner, session_id)
        if session["user_id"] != owner.user_id:
            raise ContinuityError(
                f"session '{session_id}' was opened by another user; only they choose what is carried forward into it"
            )
