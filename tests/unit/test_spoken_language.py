"""The language in which somebody is spoken to."""

from __future__ import annotations

import pytest

from bot.people.choices import mostly


@pytest.mark.parametrize(
    ("own", "members", "language"),
    [
        (["en", "fr"], ["fr", "fr"], "fr"),  # a short line of a French group that was taken for English
        (["en", "fr"], [], "en"),
        (["en", "fr"], ["de"], "en"),
        (["de", "de", "fr"], ["fr", "fr", "fr"], "de"),
        ([], ["fr"], None),
    ],
)
def test_somebody_writes_in_the_language_of_most_of_their_messages(own, members, language):
    """Of two that are there as often, the latest first, that of the others of their group."""
    assert mostly(own, members) == language
