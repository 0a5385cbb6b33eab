"""What `memory` promises to whoever builds on it: its public names, its own distribution, no word of the bot."""

from __future__ import annotations

import ast
import tomllib
from importlib import import_module
from pathlib import Path

import pytest

import memory

PACKAGE = Path(memory.__file__).parent
ROOT = PACKAGE.parent

NAMES = """
Actor Add Applied Budget Change CheckpointError Clock Conflict ContinuityError ConversationContextPacket
ConversationMemory ConversationTurn Deed Embedder End Erasure Extension ForgetCounts ForgetRequest Forgotten Ids Ledger
Locked Merge ModelTokens Move Note NoteChange Occasion OpenLoop OpeningReport PendingTurn Prepared Proof Refusal Reopen
Reserved RetrievedItem SchemaMismatch Scope SessionState Statement StorageError StorageUnavailable SummaryWriter
TierReceipt TokenCounter ToolCall UnknownSession UnsafeSettings Unstorable
"""
METHODS = """
begin change close edited evict export forget fresh in_doubt make_room notes open reads_of_turn receipt rest resume run
search session sessions settle warm withdraw
"""
SURFACE = NAMES.split()


def test_the_public_names_are_these():
    """A name is added or taken on purpose, and each can be had."""
    assert memory.__all__ == SURFACE
    assert all(getattr(memory, name) for name in SURFACE)


def test_the_front_door_has_these_methods():
    """The same for what `ConversationMemory` can do."""
    own = vars(memory.ConversationMemory).items()
    functions = [name for name, each in own if callable(getattr(each, "__func__", each))]
    assert sorted(name for name in functions if not name.startswith("_")) == METHODS.split()


def test_an_unknown_name_is_refused():
    """A private module is not reached by a public name."""
    with pytest.raises(AttributeError, match="no public name 'Recorder'"):
        memory.Recorder  # noqa: B018 - the look is the test


def test_type_checkers_see_the_same_names():
    """The stub names what the package names, each from where it is loaded."""
    stub = ast.parse((PACKAGE / "__init__.pyi").read_text(encoding="utf-8"))
    homes = {name.name: node.module for node in stub.body if isinstance(node, ast.ImportFrom) for name in node.names}
    assert sorted(homes) == SURFACE
    assert all(getattr(import_module(home), name) is getattr(memory, name) for name, home in homes.items())
    assert (PACKAGE / "py.typed").exists()


def test_both_distributions_say_the_same():
    """The memory's own wheel has the bot's version, and asks for nothing that the bot does not."""
    bot, alone = (
        tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8"))["project"] for folder in (ROOT, PACKAGE)
    )
    assert alone["version"] == bot["version"]
    assert set(alone["dependencies"]) <= set(bot["dependencies"])
    assert alone["optional-dependencies"]["semantic"] == bot["optional-dependencies"]["semantic"]


def test_no_error_sends_people_to_the_bot():
    """Whoever uses the library alone has no commands of the bot."""
    files = [file for file in PACKAGE.rglob("*") if file.suffix in {".py", ".sql"}]
    assert [file.name for file in files if "python -m bot" in file.read_text(encoding="utf-8")] == []
