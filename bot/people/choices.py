"""People's own choices: time zone, language, name, model and the rest of `people.settings_json`."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import orjson

from bot.lines import is_group
from bot.sentences import base_of
from memory.errors import StorageUnavailable
from memory.ports import Clock, Database, Row, Statement
from memory.zones import known_zone, zone_names

TIME_ZONE = "time_zone"
NAME = "name"
"""The name of somebody, or of a group, at their last message."""
CALLED = "called"
"""The name that somebody gave themselves."""
LANGUAGE = "language"
"""The code of the language that somebody wants to be spoken to in; "" for the one that they write."""
MODEL = "model"
"""The name of the model that somebody chose; "" for the operator's default."""
VOICE = "voice"
"""True for who wants answers in private said aloud, too."""
OPEN = "asked_in_private"
"""True for a group whose admins let its members ask in private about its messages."""
FOLLOW_UPS = "follow_ups"
"""True for who wants to be asked once how it went."""
NAME_CHARS = 40
_NOT_IN_NAMES = re.compile(r"[^\w .'\u2019-]+")


@dataclass(frozen=True, slots=True)
class TimeZone:
    """Somebody's clock; not `chosen` when it is only the bot's own."""

    name: str
    chosen: bool


class PersonalChoices:
    """Reads and changes the choices of people; nobody needs a row before the first choice."""

    def __init__(self, db: Database, clock: Clock, default_time_zone: str) -> None:
        self._db = db
        self._clock = clock
        self._default_time_zone = default_time_zone
        self._names: dict[int, str] = {}
        """The names that this process has stored for people and groups."""

    @staticmethod
    def reads_of_turn(conversation_id: str, user_id: int | None) -> list[Statement]:
        """Return the reads of each answer, so that they can be made ahead."""
        if user_id is None:
            return []
        whose, group = {"user_id": user_id}, group_of(conversation_id)
        return [
            _language_read(conversation_id, user_id),
            Statement("person_choices", whose),
            Statement("person_choices", {"user_id": group}) if group else Statement("groups_open", {}),
        ]

    async def choices(self, user_id: int | None) -> dict[str, Any]:
        """Return everything that somebody chose. Raises `StorageUnavailable`."""
        row = await self._db.read_one("person_choices", user_id=user_id) if user_id is not None else None
        return choices_in(row["settings_json"]) if row else {}

    async def time_zone(self, user_id: int | None) -> TimeZone:
        """Return somebody's time zone, the bot's own when they chose none or it cannot be read just now."""
        try:
            return self.zone_in(await self.choices(user_id))
        except StorageUnavailable:
            return self.zone_in({})

    async def clock(self, conversation_id: str, user_id: int | None) -> TimeZone:
        """Return the clock of a conversation: a group's own or, until it has one, that of who asks. Never raises."""
        group = group_of(conversation_id)
        own = await self.time_zone(group) if group else None
        return own if own and own.chosen else await self.time_zone(user_id)

    async def reader(self, conversation_id: str, user_id: int | None) -> TimeZone:
        """Return the clock of somebody who reads a list, in a group their own where they have one. Never raises."""
        own = await self.time_zone(user_id)
        return own if own.chosen else await self.clock(conversation_id, user_id)

    def zone_in(self, choices: Mapping[str, Any]) -> TimeZone:
        """Return the time zone that was chosen, the bot's own when none was."""
        chosen = choices.get(TIME_ZONE)
        if isinstance(chosen, str) and known_zone(chosen) is not None:
            return TimeZone(chosen, chosen=True)
        return TimeZone(self._default_time_zone, chosen=False)

    async def language(
        self, conversation_id: str, user_id: int | None, phone: str | None = None, *, as_written: bool = False
    ) -> str:
        """Return the language in which to speak to somebody; before they wrote anything that of their phone (`pt-BR`).

        In a group in which they wrote nothing theirs in private, else its members'. "en" when nothing is known or can
        be read. With `as_written` their choice does not count.
        """
        known, members = await self._known(conversation_id, user_id, as_written=as_written)
        if known is None and user_id is not None and group_of(conversation_id) is not None:
            scheme, bot_id, *_ = conversation_id.split(":")
            known = await self.known_language(f"{scheme}:{bot_id}:{user_id}:0", user_id, as_written=as_written)
        return known or members or (phone or "en").partition("-")[0].lower()

    async def known_language(
        self, conversation_id: str, user_id: int | None, *, as_written: bool = False
    ) -> str | None:
        """Return the language that somebody chose, else the one that they write in here; None for neither.

        They write in the language of most of their last messages, of several that of a group's others, else the latest:
        one drafted letter changes nothing. In a group its own choice counts, and that of no member.
        """
        return (await self._known(conversation_id, user_id, as_written=as_written))[0]

    async def _known(
        self, conversation_id: str, user_id: int | None, *, as_written: bool
    ) -> tuple[str | None, str | None]:
        """The language that was chosen or that somebody writes in, and the one of a group's members."""
        try:
            read = _language_read(conversation_id, user_id)
            rows = await self._db.read(read.name, **read.params)
        except StorageUnavailable:
            return None, None
        settings_json = rows[0]["settings_json"] if rows and not as_written else None
        chosen = choices_in(settings_json).get(LANGUAGE) if settings_json else None
        wrote = [(row["language"], row.get("own", 1)) for row in rows if row["language"]]
        own, members = ([language for language, is_own in wrote if bool(is_own) is mine] for mine in (True, False))
        return str(chosen) if chosen else mostly(own, members), mostly(members)

    async def with_their_hours(self, language: str, user_id: int | None) -> str:
        """Return a language with the hours that somebody chose for it: 3:15pm."""
        try:
            own = str((await self.choices(user_id)).get(LANGUAGE) or "")
        except StorageUnavailable:
            return language
        return own if own and base_of(own) == language else language

    async def names(self, user_ids: Collection[int]) -> dict[int, str]:
        """Return the names by which people of a group were seen to speak. Raises `StorageUnavailable`."""
        return names_in({user_id: await self.choices(user_id) for user_id in user_ids})

    async def open_groups(self) -> Sequence[Row]:
        """Return the groups that let their members ask in private, with their choices. Raises `StorageUnavailable`."""
        return await self._db.read("groups_open")

    async def groups_with_open_notes(self, bot_id: int, user_id: int) -> list[str]:
        """Return the titles of the groups in which somebody said what is open there. Raises `StorageUnavailable`."""
        rows = await self._db.read("groups_with_open_notes", user_id=user_id, prefix=f"tg:{bot_id}:-%")
        groups = dict.fromkeys(filter(None, (group_of(row["conversation_id"]) for row in rows)))
        return list((await self.names(groups)).values())

    async def speakers(self, conversation_id: str, also: Collection[int]) -> dict[int, str]:
        """Return the names of those who wrote in a group, and of others; as far as they are known.

        Raises `StorageUnavailable`.
        """
        rows = await self._db.read("group_speakers", conversation_id=conversation_id)
        return await self.names({*(row["user_id"] for row in rows), *also})

    async def seen(
        self, conversation_id: str, user_id: int | None, name: str, *, title: str, zone: str
    ) -> list[Statement]:
        """Return the statements that store a person's name, and of a group its title and, while it has none, a clock.

        `zone` is the time zone of this person, "" for none. No statement when all is known. `StorageUnavailable`.
        """
        group = group_of(conversation_id)
        found = [] if user_id is None or not name else await self._named(user_id, {NAME: name})
        if group is not None:
            fresh = {NAME: title} if title else {}
            fresh |= {TIME_ZONE: zone} if zone and not (await self.time_zone(group)).chosen else {}
            found += await self._named(group, fresh)
        return found

    async def _named(self, whose: int, fresh: Mapping[str, str]) -> list[Statement]:
        """Return the statements that add this to somebody's choices; a name stored by this process is not looked up."""
        if not fresh or (fresh.get(NAME) == self._names.get(whose) and TIME_ZONE not in fresh):
            return []
        self._names[whose] = fresh.get(NAME, "")
        there = await self.choices(whose)
        return [] if fresh.items() <= there.items() else [await self.choose(whose, **fresh)]

    async def choose(self, user_id: int, **chosen: Any) -> Statement:
        """Return the statement that adds these choices to those that stand. Raises `StorageUnavailable`."""
        choices = {**await self.choices(user_id), **chosen}
        values = {
            "user_id": user_id,
            "settings_json": orjson.dumps(choices).decode(),
            "created_at_ms": self._clock.now_ms(),
        }
        return Statement("person_choose", values, expect=1)


def _language_read(conversation_id: str, user_id: int | None) -> Statement:
    """The query for the language of a person in a chat, or in a group."""
    group = group_of(conversation_id)
    if group is None:
        return Statement("person_language", {"conversation_id": conversation_id, "user_id": user_id})
    whose = {"user_id": user_id, "group_id": group}
    return Statement("group_language", {"conversation_id": conversation_id, **whose})


def group_of(conversation_id: str) -> int | None:
    """Return the number under which the choices of a group are kept, None where one person writes.

    The number in the conversation's key stays when the group becomes a supergroup.
    """
    return int(conversation_id.split(":")[2]) if is_group(conversation_id) else None


def mostly(languages: Sequence[str], members: Sequence[str] = ()) -> str | None:
    """Return the one that is there most often, of several that of most members, then the first; None for none."""
    own, others = Counter(languages), Counter(members)
    return max(languages, key=lambda each: (own[each], others[each], -languages.index(each)), default=None)


def plain_name(given: str) -> str:
    """Return a name as a prompt may show it: on one line, short, without anything that is not part of names."""
    return " ".join(_NOT_IN_NAMES.sub(" ", given).split())[:NAME_CHARS].strip()


def choices_in(settings_json: str) -> dict[str, Any]:
    """Return the choices in a row; none when it cannot be read."""
    try:
        found = orjson.loads(settings_json)
    except orjson.JSONDecodeError:
        return {}
    return found if isinstance(found, dict) else {}


def names_in(chosen: Mapping[int, Mapping[str, Any]]) -> dict[int, str]:
    """Return how people and groups are called, by their choices: as they said, else as they were seen to write."""
    found = {whose: choices.get(CALLED) or choices.get(NAME) for whose, choices in chosen.items()}
    return {whose: name for whose, name in found.items() if isinstance(name, str) and name}


def find_time_zone(said: str) -> str | None:
    """Return the IANA name that somebody means ("berlin", "america/new york"), None when there is none or several."""
    wanted = "_".join(said.strip().lower().split())
    by_name = {name.lower(): name for name in zone_names()}
    if wanted in by_name:
        return by_name[wanted]
    cities = [name for lower, name in by_name.items() if "/" in name and lower.rsplit("/", 1)[1] == wanted]
    plain = [name for name in cities if name.count("/") == 1 and not name.startswith(("Etc/", "US/", "posix/"))]
    found = plain or cities
    return found[0] if len(found) == 1 else None
