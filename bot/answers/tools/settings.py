"""The tool `settings`: clock, language and name, as the person gives them; a group's clock is its own."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

from bot import replies
from bot.answers.tools.desk import Desk, Refused
from bot.people.choices import CALLED, LANGUAGE, TIME_ZONE, PersonalChoices, find_time_zone, group_of, plain_name
from bot.sentences import LANGUAGES, TWELVE
from memory.ledger import series
from memory.ledger.spans import as_meant
from memory.ledger.types import Change, Note
from memory.ports import Statement

AS_WRITTEN: Final = "auto"
"""The language of a person who wants to be spoken to in the one that they write."""


class SettingsTool:
    """Files chosen in one turn."""

    def __init__(self, desk: Desk, people: PersonalChoices) -> None:
        self._desk = desk
        self._people = people
        self._choices: dict[str, str] = {}
        self._of_group: tuple[Statement, ...] = ()
        self.effects: tuple[Statement, ...] = ()
        """To be committed with the turn; none of it can fail the turn."""

    @property
    def chosen(self) -> list[str]:
        """The choices as a person reads them: `Bob`, `Asia/Tokyo`, `Deutsch`."""
        said = self._choices
        language = [replies.tongue(said[LANGUAGE])] if LANGUAGE in said else []
        return [*(said[name] for name in (CALLED, TIME_ZONE) if name in said), *language]

    async def choose(self, time_zone: str, language: str, name: str) -> str:
        """Keep the choices with the turn, and tell those that hold now. Raises `Refused`, `StorageUnavailable`."""
        user_id = self._desk.ask.user_id
        if user_id is None:
            raise Refused("Not done: nobody is known to write here.")
        said: list[str] = []
        chosen: dict[str, str] = {}
        if time_zone.strip():
            zone = find_time_zone(time_zone)
            if zone is None:
                raise Refused(f"Not done: {time_zone!r} is no IANA time zone. Write it like Europe/Berlin.")
            chosen[TIME_ZONE] = zone
            said += self._moved_to(zone) if await self._is_own_clock(zone) else [self._kept_apart()]
        code, _, region = language.strip().lower().replace("_", "-").partition("-")
        if (code, region) in {("en", "us"), ("en", "12h")}:
            chosen[LANGUAGE] = TWELVE
            said.append("Buttons and lists speak English, with hours like 3:15pm, from the next message on.")
        elif code in {*LANGUAGES, AS_WRITTEN}:
            chosen[LANGUAGE] = "" if code == AS_WRITTEN else code
            said.append(f"Buttons and lists speak {code} from the next message on; you answer in what they write.")
        elif code:
            said.append(f"Buttons and lists speak {', '.join(LANGUAGES)} alone; {AS_WRITTEN}: as they write.")
        if called := plain_name(name):
            chosen[CALLED] = called
            said.append(f"The person is called {called}; that needs no note.")
        if not chosen:
            raise Refused(f"Not done: {' '.join(said) or 'give time_zone, language or name.'}")
        self._choices |= chosen
        statement = await self._people.choose(user_id, **self._choices)
        self.effects = (replace(statement, expect=None), *self._of_group)
        return " ".join(said)

    async def _is_own_clock(self, zone: str) -> bool:
        """Whether this chat goes by the person's clock; a group that has none yet takes it over."""
        people, group = self._people, group_of(self._desk.ask.conversation_id)
        if group is None:
            return True
        if (await people.time_zone(group)).chosen:
            return False
        self._of_group = (replace(await people.choose(group, **{TIME_ZONE: zone}), expect=None),)
        return True

    def _kept_apart(self) -> str:
        return f"Kept for private chats. The group's clock stays {self._desk.zone}: /timezone here changes it."

    def _moved_to(self, zone: str) -> list[str]:
        """Reckon by this clock from now on, and name the reminders that ring by another one."""
        desk = self._desk
        guessed = "" if desk.zone_known else desk.zone
        desk.zone, desk.zone_known = zone, True
        said = [desk.now, *self._read_by(guessed, zone)]
        others = [note for note in desk.notes.open() if note.rings_at_ms is not None and note.time_zone != zone]
        for note in others if guessed else ():
            if note.time_zone == guessed and not note.repeats and note.due_at_ms is None:
                desk.notes.apply(Change(number=note.number, fields=_by_clock(note, zone)))
        others = [each for note in others if (each := desk.notes.find(note.number))]
        if others:
            mend = "These were set by another clock; by this one they ring as it stands here. Where the person meant"
            said.append(f"{mend} another hour, mend it with remind:\n{desk.shown(others)}\n")
        return [" ".join(said)]

    def _read_by(self, guessed: str, zone: str) -> list[str]:
        """Let what was noted with a day or hour, while the clock was a guess, mean the same by this one; name that."""
        desk = self._desk
        means = as_meant(desk.notes.open(), guessed, zone)
        for change in means:
            desk.notes.apply(change)
        moved = filter(None, (desk.notes.find(change.number) for change in means))
        hours = [f"#{note.number}" for note in moved if note.due_exact]
        return [f"By this clock now, at the hours that were said: {', '.join(hours)}."] if hours else []


def _by_clock(note: Note, zone: str) -> dict[str, Any]:
    """The fields of a reminder that rings at the same moments, told by another clock than the one that was guessed."""
    moments = [series.at_ms_of(local, note.time_zone) for local in series.singles(note)]
    return {"time_zone": zone, **series.ringing_at([series.local_of(at_ms, zone) for at_ms in moments], zone)}
