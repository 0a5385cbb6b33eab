"""What the features work with; built once in `joining.py` and handed in."""

from __future__ import annotations

from dataclasses import dataclass

from bot.answers.responder import Responder
from bot.delivery.commit import Committer
from bot.delivery.sender import Delivery
from bot.delivery.streaming import LivePreviews
from bot.intake.inbox import Inbox
from bot.intake.updates import Me
from bot.meters import Meters
from bot.pauses import Pauses
from bot.people.choices import PersonalChoices
from bot.people.personas import Personas
from bot.reminders.scheduler import ReminderScheduler
from bot.settings import Settings
from bot.turns.model_waits import ModelWaits
from memory.context.assembler import Assembler
from memory.context.compactor import Compactor
from memory.continuity.bootstrap import Bootstrap
from memory.language.languages import Languages
from memory.notes.current import CurrentNotes
from memory.notes.readings import Readings
from memory.ports import Clock, Database, Ids, TokenCounter
from memory.search.searcher import Searcher
from memory.sessions.recorder import Recorder
from memory.storage.checkpoint import CheckpointFiles
from memory.storage.store import Store


@dataclass(frozen=True, slots=True)
class Services:
    """The parts of one bot."""

    settings: Settings
    me: Me
    clock: Clock
    ids: Ids
    counter: TokenCounter
    languages: Languages
    db: Database
    store: Store
    checkpoints: CheckpointFiles
    recorder: Recorder
    searcher: Searcher
    notes: CurrentNotes
    assembler: Assembler
    compactor: Compactor
    inbox: Inbox
    committer: Committer
    delivery: Delivery
    previews: LivePreviews
    responder: Responder
    waiting: ModelWaits
    people: PersonalChoices
    reminders: ReminderScheduler
    personas: Personas
    bootstrap: Bootstrap
    meters: Meters
    pauses: Pauses
    readings: Readings
