"""The wheel alone, away from this checkout: everything that the program needs lies in it."""

import os
import subprocess
import sys
import zipfile

import pytest
from pages import ROOT

pytestmark = pytest.mark.sweep


@pytest.fixture(scope="module")
def unpacked(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True, timeout=120)
    (wheel,) = folder.glob("*.whl")
    with zipfile.ZipFile(wheel) as packed:
        packed.extractall(folder / "site")
    return folder / "site"


@pytest.mark.acceptance
def test_a_talk_needs_nothing_but_the_wheel(unpacked, tmp_path):
    """`continuity-bot chat` notes and lists from an installed wheel: languages, queries, migrations are all there."""
    env = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "PYTHONPATH": str(unpacked)}
    done = subprocess.run(
        [sys.executable, "-m", "bot", "chat"], check=True, cwd=tmp_path, env=env, timeout=120,
        input="My dog is called Rex.\n/memory\n", capture_output=True, text=True,
    )  # fmt: skip

    assert "Rex" in done.stdout.partition("/memory")[2]


def test_the_wheel_holds_every_file_of_the_packages(unpacked):
    """Nothing that lies in `bot/` or `memory/` is left out: pages, queries, languages, personas."""
    tracked = subprocess.run(
        ["git", "ls-files", "bot", "memory"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.split()
    missing = [name for name in tracked if not (unpacked / name).exists()]

    assert [name for name in missing if not name.endswith("pyproject.toml")] == []
