"""The labelled mini-conversations hold their level."""

from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def results():
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(ROOT))
        yield import_module("benchmarks.quality.labelled").run()


@pytest.mark.parametrize("measure", ["open_loops", "references"])
@pytest.mark.parametrize("part", ["all", "en", "de", "es", "pt", "fr", "ru"])
def test_each_language_reaches_nine_tenths(results, measure, part):
    """Open loops and references are right in nine of ten cases in every language."""
    assert results[measure][part]["F1"] >= 0.9
