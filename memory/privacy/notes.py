"""The notes, changes and readings that go with a forgetting (P13), gathered by reading alone."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

import orjson

from memory.keeper.edited import still_told
from memory.keeper.session_lines import SessionLine, put_session_line, stored_lines
from memory.keeper.session_lines import without as without_words
from memory.ledger import store
from memory.ledger.erasing import Erased, values_of, without
from memory.ledger.types import Ledger, Note
from memory.ports import Database, Statement
from memory.text import whole_sentences
from memory.types import ConversationTurn

READ_AGAIN_TURNS: Final = 20
"""The last turns of a session whose line goes, at most so many, are read again for a new line."""


@dataclass(frozen=True, slots=True)
class Thinned:
    """A session that loses turns."""

    before: Sequence[ConversationTurn]
    left: Sequence[ConversationTurn]
    """The remaining turns, with their new seqs."""


@dataclass(frozen=True, slots=True)
class NotesPlan:
    """The notes that go, and the statements that remove them."""

    erased: Erased
    statements: tuple[Statement, ...]
    words: tuple[str, ...]
    left: tuple[str, ...]
    """The words of the notes that stay."""


def asked_for(ledger: Ledger, note_ids: Collection[str], user_id: int | None) -> list[Note]:
    """These notes with older and newer values of the same; in a group only this person's."""
    return [note for note in values_of(ledger, note_ids) if user_id is None or note.user_id in {None, user_id}]


class NotesPlanner:
    """Plans the removal of notes from ledgers; reads only, and raises `StorageUnavailable`."""

    def __init__(self, db: Database) -> None:
        self._db = db

    async def plan(
        self,
        ledger: Ledger,
        note_ids: Collection[str],
        turn_ids: Collection[str],
        thinned: Mapping[str, Thinned],
        now_ms: int,
        *,
        staying: Collection[str] = (),
        cut: Collection[str] = (),
        silent: Collection[str] = (),
    ) -> NotesPlan:
        """Return all that goes with these notes and turns; other turns of notes that go are to be read again.

        Notes that are `staying` keep their own words, and rest on those of the turns of which a part stays (`cut`).
        The turns of the notes asked for, and of those forgotten before, are not read again: that would note the same
        once more. Nor are turns told that tell it again (`silent`).
        """
        here = ledger.conversation_id
        rows = await self._db.read("note_changes_since", conversation_id=here, version=0)
        changes = list(map(store.read_change, rows))
        erased = without(ledger, changes, note_ids, turn_ids, staying=staying, cut=cut, silent=silent)
        asked = set(note_ids)
        others = (note for note in erased.gone if not (note.note_id in asked or note.is_forgotten))
        again = {each for note in others for each in note.turn_ids} - set(turn_ids)
        statements = store.rewrite(ledger, erased) if turn_ids or erased.gone else []
        statements += await self._refusals(erased, turn_ids)
        unsaid = {each for change in erased.traces for each in change.after.get("turn_ids", ())}
        statements += await self._lines(here, turn_ids, thinned, await self._places(again), now_ms, silent=unsaid)
        return NotesPlan(erased, tuple(statements), erased.words, tuple(note.text for note in erased.ledger))

    async def read_again(self, turn: ConversationTurn, old: str, now_ms: int) -> list[Statement]:
        """Return the statements that have an edited turn read again at once, with those behind it.

        Of the lines that rest on it what speaks of the words that changed since the `old` message is removed.
        """
        lines = await stored_lines(self._db, turn.conversation_id)
        found = await self._ask(turn.session_id, None, now_ms)
        for session_id, line in sorted(lines.items()):
            new = _reworded(line, turn, old)
            if session_id == turn.session_id:
                new = replace(new, read_through_seq=min(new.read_through_seq, turn.seq - 1))
            if new != line:
                found.append(put_session_line(new if new.standing else replace(new, written_at_ms=now_ms)))
        return found

    async def _refusals(self, erased: Erased, turn_ids: Collection[str]) -> list[Statement]:
        here = erased.ledger.conversation_id
        texts = [note.text for note in erased.gone]
        gone = []
        for row in await self._db.read("note_refusals_all", conversation_id=here):
            cites = not set(turn_ids).isdisjoint(orjson.loads(row["turn_ids_json"]))
            if cites or any(text in row["change_json"] for text in texts):
                gone.append(Statement("erase_note_refusal", {"refusal_id": row["refusal_id"]}))
        return gone

    async def _places(self, turn_ids: Iterable[str]) -> dict[str, dict[str, int]]:
        """Return session → those of its turns, each with its seq."""
        places: dict[str, dict[str, int]] = {}
        for turn_id in turn_ids:
            row = await self._db.read_one("get_turn", turn_id=turn_id)
            if row:
                places.setdefault(row["session_id"], {})[turn_id] = row["seq"]
        return places

    async def _lines(
        self,
        conversation_id: str,
        turn_ids: Collection[str],
        thinned: Mapping[str, Thinned],
        again: Mapping[str, Mapping[str, int]],
        now_ms: int,
        *,
        silent: Collection[str] = (),
    ) -> list[Statement]:
        """Return the statements that remove the lines that rest on gone turns, and have turns read again.

        A line that rests on `silent` turns, which stay without their note, loses its words.
        """
        lines = await stored_lines(self._db, conversation_id)
        statements: list[Statement] = []
        for session_id in sorted({*lines, *thinned, *again}):
            line = lines.get(session_id)
            loss, wanted = thinned.get(session_id), again.get(session_id, {})
            if line is not None:
                new = without_words(_without(line, turn_ids, loss), silent)
                seqs = [turn.seq for turn in loss.left if turn.turn_id in wanted] if loss else wanted.values()
                new = replace(new, read_through_seq=min([new.read_through_seq, *(seq - 1 for seq in seqs)]))
                if new != line:
                    statements.append(put_session_line(replace(new, written_at_ms=now_ms)))
            if loss is not None and not loss.left:
                statements.append(Statement("erase_reading", {"session_id": session_id}))
            elif loss or wanted:
                statements += await self._ask(session_id, loss, now_ms)
        return statements

    async def _ask(self, session_id: str, loss: Thinned | None, now_ms: int) -> list[Statement]:
        """Return the statements that have a session read again at once."""
        last = loss.left[-1] if loss else None
        row = None if last else await self._db.read_one("get_session", session_id=session_id)
        if last is None and row is None:
            return []
        asked = {
            "session_id": session_id,
            "conversation_id": last.conversation_id if last else (row or {})["conversation_id"],
            "user_id": last.user_id if last else (row or {})["user_id"],
            "last_seq": last.seq if last else (row or {})["last_seq"],
            "due_at_ms": now_ms,
        }
        return [Statement("erase_reading", {"session_id": session_id}), Statement("put_reading", asked)]


def _reworded(line: SessionLine, turn: ConversationTurn, old: str) -> SessionLine:
    """The line of a session without what rests on the words that an edit changed in a turn."""
    bare = _without(line, {turn.turn_id}, None)
    told = [line.title, *whole_sentences(line.standing)]
    kept = still_told([*filter(None, told)], old, turn.user_text) if turn.turn_id in line.turn_ids else told
    title, standing = line.title if line.title in kept else "", " ".join(each for each in told[1:] if each in kept)
    is_told = bool(title or standing)
    return replace(line, title=title, standing=standing, worked_on=bare.worked_on) if is_told else bare


def _without(line: SessionLine, turn_ids: Collection[str], loss: Thinned | None) -> SessionLine:
    """The line of a session without these turns: wordless if it rested on one, and read as far as turns stay."""
    read = line.read_through_seq
    lost = False
    line = replace(line, worked_on=tuple(each for each in line.worked_on if each not in turn_ids))
    if loss is not None:
        kept = {turn.turn_id for turn in loss.left}
        lost = any(turn.turn_id not in kept - set(turn_ids) for turn in loss.before if turn.seq <= read)
        read = sum(turn.turn_id in kept for turn in loss.before if turn.seq <= read)
    if not lost and set(turn_ids).isdisjoint(line.turn_ids):
        return replace(line, read_through_seq=read)
    read = max(0, read - READ_AGAIN_TURNS)
    return replace(line, title="", standing="", turn_ids=(), read_through_seq=read)
