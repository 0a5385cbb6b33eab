"""The page for developers: its programs run as they stand there, from the checkout and from the memory's own wheel."""

from __future__ import annotations

import importlib.metadata
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from pages import ROOT, blocks, text_of

pytestmark = pytest.mark.sweep

PAGE = ROOT / "docs" / "how-to" / "use-memory-as-a-library.md"
ENDED = """
import asyncio
from memory import Actor, Add, ConversationMemory, End

async def main():
    async with await ConversationMemory.open("data") as memory:
        now_ms = memory.clock.now_ms()
        await memory.change("shop:42", [Add(kind="task", text="Send it", note_id="n_1")], Actor("person", now_ms))
        {end}
        print(done.note.status, again)

asyncio.run(main())
"""


def needed(requirements, extras=("",)):
    """Return the distributions that these requirements bring, themselves included."""
    found = {}
    for line in requirements:
        requirement = Requirement(line)
        if requirement.marker is None or any(requirement.marker.evaluate({"extra": extra}) for extra in extras):
            distribution = importlib.metadata.distribution(requirement.name)
            if distribution.name not in found:
                found |= {distribution.name: distribution} | needed(
                    distribution.requires or (), requirement.extras or ("",)
                )
    return found


@pytest.fixture(scope="module")
def wheel_site(tmp_path_factory):
    """Build the wheel and put it into a folder with what it requires, and nothing else."""
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-P", "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(command, cwd=ROOT / "memory", check=True, capture_output=True)
    (wheel,) = folder.glob("continuity_memory-*.whl")
    site = folder / "site"
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(site)
    (info,) = importlib.metadata.distributions(path=[str(site)])
    for distribution in needed(info.requires or ()).values():
        for top in {Path(file).parts[0] for file in distribution.files or () if ".." not in Path(file).parts}:
            if not (site / top).exists():
                (site / top).symlink_to(Path(str(distribution.locate_file(top))))
    return site


@pytest.fixture(params=["checkout", "wheel"])
def python(request, tmp_path):
    """Return a function that starts Python on a program of the page, in an empty folder."""
    path = str(request.getfixturevalue("wheel_site") if request.param == "wheel" else ROOT)
    isolated = ["-I", "-S"] if request.param == "wheel" else []

    def start(program):
        return subprocess.Popen(
            [sys.executable, *isolated, "-W", "error", "-c", f"import sys; sys.path.insert(0, {path!r})\n{program}"],
            cwd=tmp_path,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    return start


def test_the_example_survives_a_kill_and_answers_questions(python):
    """Killed after its first answer it knows what was said; search, notes, receipt, forgetting do as shown."""
    shop, look, end, _ = blocks(text_of(PAGE), "python")
    after_the_kill, printed = blocks(text_of(PAGE), "text")
    with python(shop) as first:
        first.stdin.write("I prefer email to phone calls. My order has the number 7781.\n")
        first.stdin.flush()
        assert first.stdout.readline() == "Noted.\n"
        first.kill()
    assert python(shop).communicate("Where is it?\n") == (after_the_kill, "")
    assert python(look).communicate() == (printed, "")
    refused = "Refusal(code='ended', number=1, detail='done')"
    assert python(ENDED.format(end=end.strip())).communicate() == (f"done {refused}\n", "")


def test_the_wheel_holds_the_memory_alone(wheel_site):
    """Neither the bot nor what only the bot needs can be imported beside it."""
    program = f"""
import sys; sys.path.insert(0, {str(wheel_site)!r})
from importlib.util import find_spec
from memory import __all__
print([name for name in ("bot", "telegram", "pydantic_ai", "openai", "fastapi", "typer") if find_spec(name)])
"""
    done = subprocess.run([sys.executable, "-I", "-S", "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
