"""The services of the features; built once in `joining/` and handed in."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from bot.answers.responder import Responder
from bot.delivery.commit import Committer
from bot.delivery.sender import Delivery
from bot.delivery.streaming import LivePreviews
from bot.files.describing import Describer
from bot.files.room import FileRoom
from bot.files.speech.speaker import Speaker
from bot.groups.past import GroupPast
from bot.intake.inbox import Inbox
from bot.intake.media import own_words
from bot.intake.updates import Envelope, Me
from bot.meters.meters import Meters
from bot.pauses import Pauses
from bot.people.choices import PersonalChoices
from bot.people.personas import Personas
from bot.reminders.scheduler import ReminderScheduler
from bot.sentences import base_of
from bot.settings import Settings
from bot.tasks.starts import TaskStarts
from bot.tools.calls import Calls
from bot.tools.shelf import Shelf
from bot.tools.tool import Place
from bot.turns.model_waits import ModelWaits
from memory.opening import ConversationMemory
from memory.ports import Clock, Database, Ids, Statement
from memory.storage.ahead import Ahead, read_ahead

FIRST_CHARS = 400
"""Of a first message so much tells its language."""


@dataclass(frozen=True, slots=True)
class Services:
    """The parts of one bot."""

    settings: Settings
    me: Me
    clock: Clock
    ids: Ids
    memory: ConversationMemory
    db: Database
    """The memory's, with the bot's tables."""
    inbox: Inbox
    committer: Committer
    delivery: Delivery
    previews: LivePreviews
    responder: Responder
    waiting: ModelWaits
    people: PersonalChoices
    reminders: ReminderScheduler
    tasks: TaskStarts
    files: FileRoom
    groups: GroupPast
    """Questions of members about their groups, and who is in one."""
    describer: Describer
    """Describes pictures."""
    speaker: Speaker
    """Says answers aloud."""
    personas: Personas
    calls: Calls
    """Makes the calls of those tools."""
    shelf: Shelf
    """Tools beyond the notes."""
    meters: Meters
    pauses: Pauses
    behind: Callable[..., object]
    """Runs work that nobody waits for, by its name; it ends with the bot."""


async def reads_ahead(services: Services, batch: Sequence[Envelope]) -> Ahead:
    """Return the reads that a turn is sure to make; none for an update that does not become one. Never raises."""
    last = batch[-1]
    if batch[0].kind != "text":
        return Ahead({})
    place = Place(last.conversation_id, last.user_id, last.private)
    return await read_ahead(
        services.db,
        *services.people.reads_of_turn(last.conversation_id, last.user_id),
        *services.memory.reads_of_turn(last.conversation_id),
        *services.files.shelf.reads_of_turn(last.conversation_id),
        Statement("polls_ended", {"conversation_id": last.conversation_id}),
        *(_reads_by_model(services, place, last) if services.settings.by_model else ()),
    )


def _reads_by_model(services: Services, place: Place, last: Envelope) -> list[Statement]:
    parked = Statement("inbox_parked_here", {"conversation_id": last.conversation_id})
    return [parked, *services.calls.reads_of_turn(place, last.turn_id or "")]


async def language_of(services: Services, envelope: Envelope) -> str:
    """Return the language in which the sender of an update is spoken to; of their first message here that one's.

    In a group with the hours that they chose in private.
    """
    spoken = await _spoken(services, envelope)
    return spoken if envelope.private else await services.people.with_their_hours(spoken, envelope.user_id)


async def _spoken(services: Services, envelope: Envelope) -> str:
    here, user_id = envelope.conversation_id, envelope.user_id
    if known := await services.people.known_language(here, user_id):
        return known
    elsewhere = await services.people.language(here, user_id, envelope.language)
    if envelope.kind != "text" or envelope.third_party:
        return elsewhere
    said = own_words(envelope.text[:FIRST_CHARS]) if envelope.files else envelope.text[:FIRST_CHARS]
    return services.memory.languages.detect(said, base_of(elsewhere)).code
