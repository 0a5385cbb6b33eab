"""What is said instead of tapping a button of the preview."""

from __future__ import annotations

import pytest

from bot.features.continuity.word import choice_in
from memory.language.languages import Languages


@pytest.mark.parametrize(
    ("text", "choice"),
    [
        ("yes", "use"), ("Yes please!", "use"), ("continue", "use"), ("go on", "use"), ("Weitermachen", "use"),
        ("ja bitte", "use"), ("sí", "use"), ("oui", "use"), ("да", "use"), ("ok", "use"), ("no", "fresh"),
        ("no thanks", "fresh"), ("start fresh", "fresh"), ("nein danke", "fresh"), ("when is the exam?", None),
        ("no idea what to cook", None), ("yes, and call Ana tomorrow", None), ("hi again", None),
        ("never mind that", None), ("sure, carry on", "use"), ("jo passt, weiter", "use"), ("claro, sigue", "use"),
        ("sigue", "use"), ("oui vas-y continue", "use"), ("sim, continua", "use"), ("ага, давай дальше", "use"),
        ("продолжай", "use"), ("ok, avanti", "use"), ("carry on with the report", None), ("sigue lloviendo", None),
        ("weiter zum Arzt", None), ("дальше купить хлеб", None), ("on continue le dossier demain", None),
    ],
)  # fmt: skip
def test_only_a_bare_word_chooses(text: str, choice: str | None):
    """A yes, a no, or the words of a button; whatever says more is a message."""
    assert choice_in(text, Languages.load()) == choice
