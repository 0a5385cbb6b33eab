"""The planner of a forgetting (P13), which only reads; `erasure` and `cutting` decide, `forget` does it."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Sequence
from dataclasses import replace

from memory.context import restating
from memory.ledger.store import erase_everything
from memory.ledger.types import Ledger, Note
from memory.ports import Clock, Database, TokenCounter
from memory.privacy import calls, erasure
from memory.privacy.cutting import Cut, Cutting
from memory.privacy.notes import NotesPlanner, Thinned, asked_for
from memory.privacy.plan import ForgetPlan, ForgetRequest
from memory.search.searcher import unindex_turn
from memory.sessions.evidence import state_of_row
from memory.sessions.fold import KEPT_TURNS, Fold
from memory.sessions.hydrator import Hydrator
from memory.state import state_manager
from memory.storage.extension import Erasure, Extension
from memory.storage.store import SessionRow, Store, read_session_row, update_session
from memory.storage.turn_rows import LoggedTurn, rewrite_turn
from memory.types import ConversationTurn, SessionState

SAMPLED_TURNS = 50
"""The last turns of a session that goes whole, at most so many, are looked for in the files afterwards."""
YIELD_EVERY = 20


class ForgetPlanner:
    """Makes the plan that `Forgetter.forget` carries out; reads only."""

    def __init__(
        self, db: Database, hydrator: Hydrator, counter: TokenCounter, clock: Clock, extensions: Sequence[Extension]
    ) -> None:
        self._db = db
        self._hydrator = hydrator
        self._counter = counter
        self._store = Store(db)
        self._notes = NotesPlanner(db)
        self._clock = clock
        self._extensions = tuple(extensions)

    async def sessions(self, conversation_id: str) -> list[SessionRow]:
        """Return the sessions of a conversation. Raises `StorageUnavailable`."""
        return [
            read_session_row(row) for row in await self._db.read("erased_sessions", conversation_id=conversation_id)
        ]

    async def plan(self, request: ForgetRequest, ledger: Ledger) -> ForgetPlan:
        """Return the rows that go, of the conversation with this ledger. Raises `StorageUnavailable`."""
        plan = ForgetPlan()
        asked = asked_for(ledger, request.note_ids, request.user_id)
        rests_on = {each for note in asked for each in note.turn_ids}
        named = {*request.turn_ids, *(rests_on if request.messages_too else ())}
        if asked or request.beside_stays:
            said = [turn.user_text for turn in await self._store.turns(rests_on)]
            plan.staying = restating.told_beside(list(ledger), asked, said) | set(request.kept_ids)
            named -= await self._cut(plan, request, ledger, asked, named)
        plan.touched = frozenset(named | rests_on)
        going = [note for note in ledger if note.note_id not in plan.staying]
        named |= await self._came_of(going, {note.note_id for note in asked}, named, request.session_ids)
        touched = {turn.session_id for turn in await self._store.turns(named)}
        for row in await self.sessions(request.conversation_id):
            wanted = request.everything or row.session_id in request.session_ids
            if wanted and request.user_id is None:
                await self._drop_session(plan, row)
            elif wanted or row.session_id in touched:
                await self._thin_session(plan, row, request, None if wanted else named)
            else:
                plan.states[row.session_id] = row, state_of_row(row)[0] or _new_state(row)
        gone_notes = await self._drop_notes(plan, request, ledger, {note.note_id for note in asked})
        await self._rewrite_sessions(plan, request.conversation_id)
        await self._drop_memories(plan, request)
        await self._drop_jobs(plan, request)
        await self._clear_states(plan, gone_notes)
        await self._drop_elsewhere(plan, request)
        return plan

    async def _cut(
        self, plan: ForgetPlan, request: ForgetRequest, ledger: Ledger, asked: Sequence[Note], named: set[str]
    ) -> set[str]:
        """Plan to cut the telling part out of the named turns; return those of them that have no such part.

        Such a turn stays if another one tells the matter, it shares only names with it, and another note rests on it.
        """
        turns = [turn for turn in await self._store.turns(named) if request.user_id in (None, turn.user_id)]
        if not (turns and (asked or request.words)):
            plan.told = [turn.user_text for turn in turns]
            return set()
        staying = [note for note in ledger if note.note_id in plan.staying]
        said = [turn.user_text for turn in turns]
        others = [note for note in ledger if note.note_id not in plan.staying and not named.isdisjoint(note.turn_ids)]
        cutting, also = (
            Cutting(gone, request.words, staying, said, request.conversation_id) for gone in (asked, [*asked, *others])
        )
        found = {turn.turn_id: cutting.of(turn) for turn in turns}
        found |= {turn.turn_id: also.of(turn) for turn in turns if (cut := found[turn.turn_id]) and cut.turn != turn}
        silent = {turn.turn_id for turn in turns if (cut := found.get(turn.turn_id)) and cut.turn is turn}
        plan.cuts = {id_: self._counted(cut) for id_, cut in found.items() if cut and id_ not in silent}
        plan.told = [cutting.told(turn.user_text) for turn in turns if turn.turn_id not in {*silent, *plan.cuts}]
        plan.told += [cut.said for cut in plan.cuts.values()]
        noted = {each for note in staying for each in note.turn_ids}
        beside = {turn.turn_id for turn in turns if turn.turn_id in silent & noted and cutting.meets(turn)}
        return beside - {*request.turn_ids} if len(silent) < len(turns) else set()

    def _counted(self, cut: Cut) -> Cut:
        """The cut with the tokens of its turn counted again."""
        texts = {"user_tokens": cut.turn.user_text, "assistant_tokens": cut.turn.assistant_text}
        tokens = {name: self._counter.count(text) for name, text in texts.items()}
        return replace(cut, turn=cut.turn.model_copy(update={**tokens, "tool_tokens": 0}))

    async def _came_of(
        self, notes: Sequence[Note], asked: Collection[str], turn_ids: Collection[str], session_ids: Collection[str]
    ) -> set[str]:
        """Return the turns that came by themselves of the notes that go: those asked for, or resting on gone turns."""
        gone = set(asked) | {note.note_id for note in notes if note.session_id in session_ids}
        gone |= {note.note_id for note in notes if not set(turn_ids).isdisjoint(note.turn_ids)}
        found = [await each.turns_of_notes(self._db, gone) for each in self._extensions if each.turns_of_notes]
        return {turn_id for turn_ids in found for turn_id in turn_ids}

    async def _drop_session(self, plan: ForgetPlan, row: SessionRow) -> None:
        """Let a whole session go; of a long one only the last turns are looked for afterwards."""
        key = row.session_id
        plan.checkpoints.append(key)
        plan.session_ids.add(key)
        plan.turns += (await self._store.count_turns(key))[0]
        plan.summaries += bool(row.rolling_summary)
        plan.gone |= {found["turn_id"] for found in await self._db.read("turn_ids_of_session", session_id=key)}
        for turn in await self._store.last_turns(key, SAMPLED_TURNS):
            plan.turn_ids.add(turn.turn_id)
            plan.gone_texts += erasure.texts_of(turn)
            plan.quotable += (turn.user_text, turn.assistant_text)
            plan.said.append(turn.user_text)
            plan.whole.append(turn.user_text)
        for name in (
            *("erase_turns", "erase_snapshots", "erase_compactions", "erase_choice", "erase_session"),
            *("erase_reading", "erase_model_readings", "erase_session_line"),
        ):
            plan.add(name, session_id=key)
        plan.add("unpoint_conversation", conversation_id=row.conversation_id, session_id=key)

    async def _thin_session(
        self, plan: ForgetPlan, row: SessionRow, request: ForgetRequest, named: Collection[str] | None
    ) -> None:
        """Let some turns of a session go (`named`, None = all), and rebuild it from the rest."""
        before = await self._store.logged_between(row.session_id, 1)
        doomed = [
            logged.turn
            for logged in before
            if (named is None or logged.turn.turn_id in named) and request.user_id in (None, logged.turn.user_id)
        ]
        if not doomed:
            return
        gone = {turn.turn_id for turn in doomed}
        whole = [turn for turn in doomed if turn.turn_id not in plan.cuts]
        cuts = [plan.cuts[turn.turn_id] for turn in doomed if turn.turn_id in plan.cuts]
        said = [*(turn.user_text for turn in whole), *(cut.said for cut in cuts)]
        answered = [*(turn.assistant_text for turn in whole), *(cut.answered for cut in cuts)]
        plan.logs[row.session_id] = before
        plan.turn_ids |= gone
        plan.gone |= gone
        kept = plan.left_of(before)
        plan.before[row.session_id] = [logged.turn for logged in before]
        plan.turns += len(whole)
        stays = {text for cut in plan.cuts.values() for text in erasure.called_by(cut.turn)}
        called = (text for turn in doomed for text in erasure.called_by(turn) if text not in stays)
        plan.gone_texts += [*said, *answered, *called]
        plan.quotable += [*said, *answered]
        plan.said += [each for each in said if each]
        plan.whole += [turn.user_text for turn in whole]
        plan.left_texts += [text for logged in kept for text in (logged.turn.user_text, logged.turn.assistant_text)]
        plan.left[row.session_id] = [logged.turn for logged in erasure.renumbered(kept)]
        plan.states[row.session_id] = row, state_of_row(row)[0] or _new_state(row)
        for turn_id in sorted(gone):
            if turn_id not in plan.cuts:
                plan.add("erase_turn", turn_id=turn_id, session_id=row.session_id)
            plan.add("erase_snapshot", turn_id=turn_id)

    async def _rewrite_sessions(self, plan: ForgetPlan, conversation_id: str) -> None:
        """Make sessions again from their remaining turns, if they lose some or their tool calls repeat gone words."""
        words = calls.needles(plan.quotable, plan.notes)
        rows = await self._db.read("sessions_with_calls", conversation_id=conversation_id) if words else []
        for session_id in sorted({*plan.left, *(found["session_id"] for found in rows)} & plan.states.keys()):
            before = plan.logs.get(session_id) or await self._store.logged_between(session_id, 1)
            kept = plan.left_of(before)
            silent = calls.silenced(kept, words)
            if session_id not in plan.left and silent == kept:
                continue
            row, old = plan.states[session_id]
            after = erasure.renumbered(silent)
            plan.left.setdefault(session_id, [logged.turn for logged in after])
            plan.checkpoints.append(session_id)
            plan.summaries += bool(old.rolling_summary)
            plan.statements += [rewrite_turn(logged) for logged in erasure.moved(before, after)]
            for turn in (logged.turn for logged in after if logged.turn.turn_id in plan.cuts):
                is_read = turn.turn_id not in old.undone
                plan.statements += [
                    unindex_turn(turn.turn_id),
                    *(await self._hydrator.derived(turn) if is_read else []),
                ]
            plan.add("erase_compactions", session_id=session_id)
            plan.states[session_id] = row, await refolded(self._hydrator.fold, old, after)

    async def _clear_states(self, plan: ForgetPlan, gone_notes: Collection[str]) -> None:
        """Write the sessions that lost turns, and those with gone matters in their loops or shown list."""
        ended = {job["job_id"] for job in plan.jobs} | set(gone_notes)
        for session_id, (row, state) in plan.states.items():
            cleared = erasure.without(state, (erasure.cited_by(state) & plan.gone) | ended)
            if cleared is state and session_id not in plan.left:
                continue
            if session_id not in plan.left:
                plan.checkpoints.append(session_id)
            title = state_manager.session_title(cleared)
            plan.statements.append(update_session(cleared, version=row.version, title=title, at_ms=row.created_at_ms))

    async def _drop_notes(
        self, plan: ForgetPlan, request: ForgetRequest, ledger: Ledger, asked: set[str]
    ) -> frozenset[str]:
        """Let notes go with all their changes; return their ids."""
        if request.wholly:
            changes = await self._db.read("note_changes_since", conversation_id=ledger.conversation_id, version=0)
            plan.gone_texts += [row["said"] for row in changes if row["said"]]
            plan.notes += [note.text for note in ledger if not note.is_wordless]
            plan.gone_texts += plan.notes
            plan.statements += erase_everything(ledger.conversation_id)
            return frozenset(note.note_id for note in ledger)
        wanted = asked | {note.note_id for note in ledger if note.session_id in plan.session_ids}
        if request.everything:
            wanted |= {note.note_id for note in ledger if note.user_id == request.user_id}
        thinned = {each: Thinned(plan.before[each], plan.left[each]) for each in plan.left}
        notes = await self._notes.plan(
            ledger,
            wanted,
            plan.gone,
            thinned,
            self._clock.now_ms(),
            staying=plan.staying,
            cut=plan.cuts.keys(),
            silent=request.silent_ids,
        )
        plan.statements += notes.statements
        plan.note_ids |= notes.erased.touched
        worded = [note for note in notes.erased.gone if not note.is_wordless]
        plan.notes += [note.text for note in worded if note.status != "replaced"]
        plan.values += [note.text for note in worded]
        plan.matters += map(restating.matter_of, worded)
        if not plan.gone:
            plan.resting = frozenset(each for note in notes.erased.gone for each in note.turn_ids)
        plan.touched |= {each for note in notes.erased.gone for each in note.turn_ids}
        plan.gone_texts += notes.words
        plan.quotable += notes.words
        plan.left_texts += notes.left
        return frozenset(note.note_id for note in notes.erased.gone)

    async def _drop_memories(self, plan: ForgetPlan, request: ForgetRequest) -> None:
        """Let go of rows of these turns in the store before the ledger."""
        for row in await self._db.read("erased_memories", conversation_id=request.conversation_id):
            theirs = request.user_id in (None, row["user_id"])
            source = row["turn_id"] in plan.gone or row["session_id"] in plan.session_ids
            if theirs and (request.everything or source):
                plan.gone_texts.append(row["text"])
                plan.notes.append(row["text"])
                plan.add("erase_memory", memory_id=row["memory_id"])
                plan.add("unlink_memory", memory_id=row["memory_id"])

    async def _drop_jobs(self, plan: ForgetPlan, request: ForgetRequest) -> None:
        jobs = await self._db.read("erased_jobs", conversation_id=request.conversation_id)
        plan.jobs = [
            job
            for job in jobs
            if request.user_id in (None, job["user_id"])
            and (request.everything or job["turn_id"] in plan.gone or job["session_id"] in plan.session_ids)
        ]
        for job in plan.jobs:
            plan.gone_texts.append(job["title"])
            plan.add("erase_job", job_id=job["job_id"])

    async def _drop_elsewhere(self, plan: ForgetPlan, request: ForgetRequest) -> None:
        """Let the extensions' copies go, and with everything the conversation itself."""
        going = Erasure(
            request.conversation_id,
            everything=request.wholly,
            turn_ids=frozenset(plan.turn_ids),
            session_ids=frozenset(plan.session_ids),
            words=tuple(erasure.traces(plan.gone_texts, ())),
            at_ms=self._clock.now_ms(),
        )
        for extension in self._extensions:
            if extension.count:
                plan.beside.update(await extension.count(self._db, going))
            if extension.erase:
                plan.statements += await extension.erase(self._db, going)
        if going.everything:
            plan.add("erase_conversation", conversation_id=request.conversation_id)


async def refolded(fold: Fold, old: SessionState, left: Sequence[LoggedTurn]) -> SessionState:
    """Return the state folded from these turns alone; other tasks get their turn while a long session is folded."""
    state = erasure.blank(old)
    recent: list[ConversationTurn] = []
    for number, logged in enumerate(left):
        state = fold.advance(state, logged, recent)
        recent = [*recent, logged.turn][-KEPT_TURNS:]
        if number % YIELD_EVERY == YIELD_EVERY - 1:
            await asyncio.sleep(0)
    return erasure.carried(state, old, {logged.turn.turn_id for logged in left})


def _new_state(row: SessionRow) -> SessionState:
    return state_manager.new_state(row.session_id, row.conversation_id)
