"""What the features work with; built once in `app.py` and handed in."""

from __future__ import annotations

from dataclasses import dataclass

from bot.closing import Closing
from bot.delivery import Delivery
from bot.intake import Inbox
from bot.jobs import Jobs
from bot.people import People
from bot.personas import Personas
from bot.responder import Responder
from bot.settings import Settings
from bot.streaming import Stage
from bot.updates import Me
from bot.waiting import Waiting
from memory.assembler import Assembler
from memory.bootstrap import Bootstrap
from memory.checkpoint import CheckpointFiles
from memory.compactor import Compactor
from memory.languages import Languages
from memory.ports import Clock, Database, Ids, TokenCounter
from memory.recorder import Recorder
from memory.search import Searcher
from memory.store import Store


@dataclass(frozen=True, slots=True)
class Services:
    """The adapters and rooms of one bot."""

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
    assembler: Assembler
    compactor: Compactor
    inbox: Inbox
    closing: Closing
    delivery: Delivery
    stage: Stage
    responder: Responder
    waiting: Waiting
    people: People
    jobs: Jobs
    personas: Personas
    bootstrap: Bootstrap
