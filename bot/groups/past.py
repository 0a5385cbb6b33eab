"""Talk and notes of groups that let members ask for them in private; membership is looked up each time."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from bot.answers.tools.working_copy import near
from bot.groups.members import Members
from bot.intake.updates import Me
from bot.people.choices import NAME, PersonalChoices, choices_in, group_of
from memory.context.finds import without_forgotten
from memory.context.repeats import ANSWER, REPLY
from memory.ledger import views
from memory.ledger.types import Note
from memory.opening import ConversationMemory
from memory.packets import RetrievedItem
from memory.search.query import Query
from memory.search.relevance import near_enough

MOST_GROUPS: Final = 20
MOST_NOTES: Final = 6
MOST_FOUND: Final = 8
BEFORE: Final = "before it became a supergroup"
"""The title of that one for the model."""
SPEAKER: Final = "User: "
"""Before a member's words in a find of the search."""


@dataclass(frozen=True, slots=True)
class OpenGroup:
    """A group whose memory a member may ask."""

    number: int
    """As in its conversations' keys."""
    title: str


@dataclass(frozen=True, slots=True)
class SaidThere:
    """One thing that was said in a group."""

    text: str
    who: str
    """The speaker; "" for unknown."""
    at_ms: int


Found = Note | SaidThere
"""A note of a group, or words."""


class GroupPast:
    """Searches the memory of groups for one of their members."""

    def __init__(self, memory: ConversationMemory, people: PersonalChoices, members: Members, me: Me) -> None:
        self._memory = memory
        self._people = people
        self.members = members
        self._me = me

    async def is_any_open(self) -> bool:
        """Return whether the admins of any group allow it. Raises `StorageUnavailable`."""
        return bool(await self._people.open_groups())

    async def open_to(self, user_id: int | None) -> list[OpenGroup]:
        """Return the groups that allow it and that somebody is in just now. Raises `StorageUnavailable`."""
        rows = (await self._people.open_groups())[:MOST_GROUPS]
        standings = await asyncio.gather(*(self.members.standing(row["user_id"], user_id) for row in rows))
        return [
            OpenGroup(row["user_id"], str(choices_in(row["settings_json"]).get(NAME) or row["user_id"]))
            for row, standing in zip(rows, standings, strict=True)
            if standing
        ]

    def before(self, conversation_id: str) -> OpenGroup | None:
        """Return the group that a supergroup was before, where its conversation is kept beside its own; else None."""
        number = group_of(conversation_id)
        was = self._me.earlier.get(number) if number is not None else None
        return OpenGroup(was, BEFORE) if was is not None else None

    async def told(self, group: OpenGroup, query: str) -> Sequence[Found]:
        """Return the finds for a query in a group, in all of its topics. Raises `StorageUnavailable`."""
        numbers = filter(None, (group.number, self._me.earlier.get(group.number)))
        prefixes = [f"tg:{self._me.bot_id}:{number}:%" for number in numbers]
        rows = [await self._memory.db.read("conversations_of_group", prefix=each) for each in prefixes]
        ids = [row["conversation_id"] for found in rows for row in found]
        noted = [note for each in ids for note in await self._noted(each, query)]
        items = [item for each in ids for item in await self._said(each, query)]
        kept = sorted(near_enough(items), key=lambda item: -item.score)[:MOST_FOUND]
        names = await self._people.names({item.user_id for item in kept if item.user_id is not None})
        return [*noted[:MOST_NOTES], *(_find(item, names) for item in kept)]

    async def _noted(self, conversation_id: str, query: str) -> list[Note]:
        return near(views.standing(await self._memory.ledgers.read(conversation_id)), query)[:MOST_NOTES]

    async def _said(self, conversation_id: str, query: str) -> list[RetrievedItem]:
        ledger, now_ms = await self._memory.ledgers.read(conversation_id), self._memory.clock.now_ms()
        silent = [*views.forgotten_turns(ledger)]
        asked = Query(conversation_id, query, exclude_turn_ids=silent, limit=MOST_FOUND, now_ms=now_ms)
        found = await self._memory.searcher.search(asked)
        return without_forgotten([item for item in found if item.source == "turn"], ledger)


def _find(item: RetrievedItem, names: Mapping[int, str]) -> SaidThere:
    """The words of a member, without the answer where both are shown."""
    said, _, answer = f"\n{item.text.strip()}".partition(ANSWER)
    said = said.strip().removeprefix(SPEAKER)
    return SaidThere(said or answer.partition(REPLY)[0], names.get(item.user_id or 0, "") if said else "", item.at_ms)


def meant(groups: Collection[OpenGroup], title: str) -> list[OpenGroup]:
    """Return the groups that a title means, all of them without one: those called so, else those that hold it."""
    wanted = title.strip().casefold()
    called = [group for group in groups if group.title.casefold() == wanted]
    return called or [group for group in groups if wanted in group.title.casefold()]
