"""Telegram misbehaves around a send: each part is on the screen once and in order, or its chat is left alone."""

from __future__ import annotations

import pytest
from bot.playground.faults import FaultKind
from story import PERSON, answered, answers_to, rows, stored_turns

pytestmark = pytest.mark.acceptance
