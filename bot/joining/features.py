"""The features of the bot."""

from __future__ import annotations

from bot.features.answering import Answering
from bot.features.basics import Basics
from bot.features.continuity.commands import Continuity
from bot.features.continuity.gate import ContinuityGate
from bot.features.continuity.settings import ContinuitySettings
from bot.features.exporting import Exporting
from bot.features.files.commands import FileCommands
from bot.features.forgetting.commands import Forgetting
from bot.features.groups.commands import GroupCommands
from bot.features.loops import Loops
from bot.features.memories import Memories
from bot.features.models.choice import ModelChoice
from bot.features.models.usage import ModelUsage
from bot.features.overview import Overview
from bot.features.receipt import Receipt
from bot.features.reminders import Reminders
from bot.features.sessions import Sessions
from bot.features.tools.listing import ToolList
from bot.features.tools.taps import ToolTaps
from bot.features.undo import Undoing
from bot.features.voice import VoiceChoice
from bot.joining.telegram import TelegramLink
from bot.turns.feature import Feature
from bot.turns.lanes import Lanes
from bot.turns.services import Services
from bot.turns.turn import Turns


def build_features(
    line: TelegramLink, services: Services, continuity_gate: ContinuityGate, turns: Turns, lanes: Lanes
) -> list[Feature]:
    """Return every feature, in the order of its commands."""
    sessions, memories = Sessions(services), Memories(services)
    return [
        Basics(services),
        sessions,
        Answering(services, turns, lanes, sessions),
        Reminders(services),
        Continuity(services, turns, lanes, continuity_gate, sessions),
        ContinuitySettings(services, continuity_gate),
        ModelChoice(services),
        ModelUsage(services),
        Loops(services),
        memories,
        Undoing(services),
        Overview(services),
        Forgetting(services, services.memory.forgetter, turns, lanes),
        Exporting(services, line.bot),
        Receipt(services),
        ToolTaps(services, turns, lanes),
        ToolList(services),
        FileCommands(services),
        VoiceChoice(services),
        GroupCommands(services),
    ]
