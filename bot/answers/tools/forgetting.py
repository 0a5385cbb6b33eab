"""The tool `forget`: a note, or a detail of one, is used no more; messages go by the person's tap alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from bot.answers.answer_buttons import Rows, forget_buttons
from bot.answers.tools.desk import Desk, Refused
from bot.answers.tools.working_copy import fields_of
from memory.ledger.apply import folded, joined
from memory.ledger.erasing import values_of
from memory.ledger.types import Add, Change, End, Ledger, Note, Reopen


def _values_of(ledger: Ledger, notes: Sequence[Note]) -> list[Note]:
    """These notes with the older and newer values of the same things; of those that stand only these.

    “Not Nuno, only Mum is allergic” was merged into the note on her: forgetting it left nobody allergic (a trial).
    """
    named = {note.note_id for note in notes}
    kept = {number: each for number, each in ledger.notes.items() if not each.is_open or each.note_id in named}
    return values_of(replace(ledger, notes=kept), named)


class ForgetTool:
    """Notes forgotten in one turn."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._forgotten: tuple[str, ...] = ()
        """The turns on which notes rest that are to be forgotten."""
        self._gone: tuple[str, ...] = ()
        """Ids of the forgotten notes."""
        self._details: dict[str, str] = {}
        """Of a note of which a detail is forgotten, by its id: the note in its place."""

    @property
    def buttons(self) -> Rows:
        """The buttons that delete the messages behind forgotten notes."""
        return forget_buttons(self._forgotten, self._gone, self._details)

    async def forget(self, numbers: Any, text: str) -> str:
        """Use notes no more, or a detail of one. Raises `Refused`."""
        desk = self._desk
        notes, problems = desk.picked(numbers, ended=True)
        there = (
            "What was said about it stays in the messages. The button under your answer shows which of them, or which "
            "part of them, would go, and deletes that once the person says yes there; other notes from them stay."
        )
        if text.strip():
            return f"{self._detail(notes, text)}\n{there}"
        gone = [f"Used no more: {', '.join(f'#{note.number}' for note in notes)}."] if notes else []
        gone += self._in_place_of(notes)
        values = _values_of(desk.notes.ledger, notes)
        turn_ids = [turn_id for note in values for turn_id in note.turn_ids if turn_id != desk.ask.turn_id]
        self._forgotten = joined(self._forgotten, turn_ids)
        for note in values:
            self._let_go(note)
        said = there if turn_ids else "No message that said it is left, so there is no button." if gone else ""
        return "\n".join(filter(None, [*gone, said, *problems]))

    def _in_place_of(self, notes: Sequence[Note]) -> list[str]:
        """The notes that stand in place of such as ended, and were not named: they stay, and the model is told so."""
        ledger, named = self._desk.notes.ledger, {note.note_id for note in notes}
        newest = {each.note_id: each for note in notes if (each := ledger.newest(note)).is_open}
        stand = (each for note_id, each in newest.items() if note_id not in named)
        return [f"In its place stands, and stays unless you name it, too: {self._desk.line(each)}" for each in stand]

    def _detail(self, notes: Sequence[Note], text: str) -> str:
        """Let another note stand for one, which goes with its wording. Raises `Refused`."""
        desk = self._desk
        if len(notes) != 1 or not notes[0].is_open:
            raise Refused("Not done: text is for one note that stands, as it shall stand without the detail.")
        [note] = notes
        if folded(text) == folded(note.text):
            raise Refused("Not done: text is the note without the detail, and this is the note as it stands.")
        kept = fields_of(note)
        for each in _values_of(desk.notes.ledger, notes):
            self._let_go(each)
        note_id = desk.note_id("forget", text, note.number)
        fields = kept | {"turn_ids": (desk.ask.turn_id,), "session_id": note.session_id, "user_id": note.user_id}
        said = desk.done("Now", Add(kind=note.kind, text=text, note_id=note_id, fields=fields))
        self._details[note.note_id] = note_id
        return said

    def _let_go(self, note: Note) -> None:
        """Use a note no more: neither it nor talk about it is in a prompt or a search from now on."""
        desk = self._desk
        self._gone = joined(self._gone, [note.note_id])
        if note.is_forgotten:
            return
        if not note.is_open:
            desk.notes.apply(Reopen(number=note.number))
        desk.notes.apply(Change(number=note.number, fields={"confidence": 0.0}))
        desk.notes.apply(End(number=note.number, how="dropped", turn_ids=(desk.ask.turn_id,)))
