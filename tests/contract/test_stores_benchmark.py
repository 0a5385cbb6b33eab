"""The side-by-side of stores: each that is here keeps a turn, and is measured beside the floor."""

import pytest

from benchmarks.stores.keep import measure


@pytest.mark.parametrize("store", ["ours", "pickle"])
async def test_a_store_is_measured_beside_the_floor(tmp_path, store):
    """A turn of the store and one of the floor are both timed, with a history before them."""
    figures = await measure(store, 3, 2, tmp_path)

    assert all(figures[name] > 0 for name in ("turn_ms", "floor_ms", "ratio"))
