"""What the pages say is there: links, commands, make targets, tests, settings, tables, fault points."""

from __future__ import annotations

import importlib
import os
import re
import subprocess
import sys
from functools import cache

import pytest
import typer
from commands_page import PAGE as COMMANDS_PAGE
from commands_page import page as commands_page
from loopback import forked
from pages import ROOT, blocks, code, pages, text_of
from settings_page import PAGE as SETTINGS_PAGE
from settings_page import page as settings_page

from bot import cli, sentences
from bot.settings import Settings
from memory.process.mapped import cache_folder

COMMAND = re.compile(r"continuity-bot\b([^|;&#]*)")
TEST = re.compile(r"tests/[\w/-]+(?:\.py)?(?:::\w+)?")
KILLED = re.compile(r"^ +\(kill -9.*\n", re.MULTILINE)
LIBRARY_PAGE = ROOT / "docs" / "how-to" / "use-memory-as-a-library.md"

every_page = pytest.mark.parametrize("page", pages(), ids=lambda page: str(page.relative_to(ROOT)))


def sources(*folders: str) -> str:
    """Return all program text of some folders."""
    files = sorted(file for folder in folders for file in (ROOT / folder).rglob("*.py"))
    return "\n".join(file.read_text(encoding="utf-8") for file in files)


def timeless(talk: str) -> str:
    """Return a talk without its days and times of day."""
    day = r"today|tomorrow|yesterday|(?:(?:on|by) )?\w{3} \d{1,2} [\w ]+?"
    return re.sub(rf"\((?:{day})(?: at \d\d:\d\d)?\)", "(when)", talk)


# --- links ----------------------------------------------------------------------------------------------------------


def test_a_link_that_leads_nowhere_is_found(tmp_path, monkeypatch):
    """`make check` looks at every link; here at one of each kind, right and wrong."""
    monkeypatch.syspath_prepend(ROOT / ".ci")
    links = importlib.import_module("links")
    monkeypatch.setattr(links, "ROOT", tmp_path)
    (tmp_path / "other.md").write_text("# A heading\n")
    page = tmp_path / "page.md"
    page.write_text(
        "# Here\n[a](other.md) [b](other.md#a-heading) [c](#here) [d](https://x.y/z) `[e](code.md)`\n"
        '[f](gone.md) [g](other.md#gone) [h](#gone) ![i](gone.png) <img src="gone.svg">\n'
    )

    assert [sentence.split()[1] for sentence in links.broken(page)] == [
        "gone.md", "other.md#gone", "#gone", "gone.png", "gone.svg",
    ]  # fmt: skip


def test_the_index_names_every_page_once():
    """docs/README.md links to each page below docs/."""
    index = ROOT / "docs" / "README.md"
    linked = [(index.parent / link).resolve() for link in re.findall(r"\]\(([^)#\s]+)\)", text_of(index))]
    below = {page for page in pages() if page.is_relative_to(ROOT / "docs") and page != index}

    assert below - set(linked) == set(), "docs/README.md does not link to these"
    assert len(linked) == len(set(linked))


@every_page
def test_every_row_belongs_to_a_table(page):
    """A row that a blank line parts from its table would be read as text."""
    lines = ["", *text_of(page).splitlines(), ""]
    alone = [
        row
        for before, row, behind in zip(lines, lines[1:], lines[2:], strict=False)
        if row.startswith("|") and not before and not behind.startswith("|---")
    ]

    assert alone == []


# --- commands -------------------------------------------------------------------------------------------------------


@cache
def commands():
    """Return what the program does; to build it takes a moment."""
    return typer.main.get_command(cli.app)


def command_of(words):
    """Return the command that these words call; fails when there is none."""
    found = commands()
    for word in words:
        inner = getattr(found, "commands", None)
        if inner is None or not word[0].islower():
            break
        assert word in inner, f"there is no command '{word}'"
        found = inner[word]
    return found


@every_page
def test_every_command_exists_with_its_options(page):
    """`continuity-bot …` names a command, and each --option is one of its own."""
    for line in code(text_of(page)):
        for match in COMMAND.findall(line):
            words = match.split()
            known = {option for parameter in command_of(words).params for option in parameter.opts} | {"--help"}
            assert {word for word in words if word.startswith("--")} <= known, line


@every_page
def test_every_command_works_without_an_activated_environment(page):
    """A command to type names the program where the set-up puts it; a container, uvx and pipx put it on the path."""
    bare = re.compile(r"(?<![\w/.-])(?<!-m )(?:continuity-bot|python3?|pytest)\s+[\w./-]")
    there = re.compile(r"docker.* exec |^uvx |^pipx ")
    said = [line for line in code(text_of(page)) if bare.search(line) and not there.search(line)]

    assert said == []


@pytest.fixture
def fresh_clone(tmp_path):
    """Return a checkout as a reader has it after `make setup`: the files that git knows, and this one's packages.

    What runs there is the copy's own program (`PYTHONPATH`), so a file that nobody added to git is missed.
    """
    checkout, packages = tmp_path / "checkout", ROOT / ".venv"
    files = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split("\n")
    for name in filter(None, files):
        (checkout / name).parent.mkdir(parents=True, exist_ok=True)
        (checkout / name).symlink_to(ROOT / name)
    for compiled in (each for package in ("bot", "memory") for each in (ROOT / package).rglob("__pycache__")):
        if (checkout / compiled.relative_to(ROOT)).parent.exists():  # or it would all be compiled again
            (checkout / compiled.relative_to(ROOT)).symlink_to(compiled)
    (checkout / ".venv").mkdir()
    for part in packages.iterdir():
        (checkout / ".venv" / part.name).symlink_to(part)
    return checkout


@pytest.mark.sweep
@pytest.mark.acceptance
def test_the_first_commands_work_as_a_reader_types_them(fresh_clone):
    """`make run`, piped a first message, and the operator's commands of the tutorial, in a shell of their own.

    The set-up itself is not repeated (`-o`): this checkout's packages would end up belonging to the copy.
    """
    env = {
        "PATH": os.environ["PATH"],
        "HOME": str(fresh_clone),
        "PYTHONPATH": str(fresh_clone),
        "CONTINUITY_CACHE_DIR": str(cache_folder()),
    }

    def types(line, said=""):
        done = subprocess.run(
            ["sh", "-c", line], cwd=fresh_clone, env=env, input=said, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, f"{line}: {done.stdout}{done.stderr}"
        return done.stdout

    piped = types("make -o .venv/.runtime run", "My dog is called Rex.\n")
    assert "each line of it is answered here" in " ".join(piped.split())
    assert "bot Got it" in piped
    page = text_of(ROOT / "docs" / "tutorial" / "first-ten-minutes.md")
    typed = [
        line for line in "\n".join(blocks(page, "sh")).splitlines() if "continuity-bot" in line or "export" in line
    ]
    assert len(typed) > 2
    types("\n".join(["set -e", *typed]))


@every_page
def test_every_make_target_exists(page):
    """`make …` in code names a target of the Makefile."""
    targets = set(re.findall(r"^([a-z-]+):", text_of(ROOT / "Makefile"), flags=re.MULTILINE))

    assert {name for line in code(text_of(page)) for name in re.findall(r"\bmake ([a-z-]+)", line)} <= targets


# --- tests that prove a promise -------------------------------------------------------------------------------------


def exists(reference: str) -> bool:
    """Return whether a file, folder, test (`file.py::name`) or bare test name is there."""
    path, _, name = reference.partition("::")
    if not path.startswith("tests/"):
        return f"def {reference}(" in sources("tests") or any((ROOT / "tests").rglob(f"{reference}.py"))
    if not (ROOT / path).exists():
        return False
    return not name or f"def {name}(" in text_of(ROOT / path)


@every_page
def test_every_test_that_is_named_exists(page):
    """A page that says "this test proves it" names one that is there."""
    missing = [reference for reference in TEST.findall(text_of(page)) if not exists(reference)]

    assert missing == []


def test_every_promise_names_a_test():
    """Each promise P1 … is an item of its page, and each item names a test that is there."""
    page = text_of(ROOT / "docs" / "explanation" / "promises.md")
    rows = re.findall(r"^- \*\*P(\d+)\*\*(.*(?:\n  .*)*)$", page, flags=re.MULTILINE)
    for number, row in rows:
        named = [*TEST.findall(row), *re.findall(r"`(test_\w+)`", row)]
        assert named, f"P{number} names no test"
        assert [reference for reference in named if not exists(reference)] == [], f"P{number} names a test in vain"

    assert [int(number) for number, _ in rows] == list(range(1, 15))


# --- pages made from, or compared with, the program -----------------------------------------------------------------


def test_the_settings_page_is_the_settings_class():
    """When this fails: `python tests/docs/settings_page.py` writes the page again."""
    assert text_of(SETTINGS_PAGE) == settings_page()


def test_the_commands_page_is_the_program():
    """When this fails: `python tests/docs/commands_page.py` writes the page again."""
    assert text_of(COMMANDS_PAGE) == commands_page()


def test_the_chat_page_names_every_command():
    """docs/reference/chat.md has each command of the bot, and no other."""
    rows = re.findall(r"^\| (`/.*?) \|", text_of(ROOT / "docs" / "reference" / "chat.md"), re.MULTILINE)

    assert {name for row in rows for name in re.findall(r"`/(\w+)", row)} == set(sentences.commands())


def test_the_site_shows_every_page():
    """Each page below docs/ stands in mkdocs.yml, decisions aside: their index does."""
    listed = re.findall(r"- (?:[\w ]+: )?([\w/-]+\.md)", text_of(ROOT / "mkdocs.yml"))
    docs = ROOT / "docs"
    below = {str(page.relative_to(docs)) for page in docs.rglob("*.md") if page.parent.name != "decisions"}

    assert below - {"README.md"} == {name for name in listed if (docs / name).exists()}


@every_page
def test_every_variable_exists(page):
    """A variable of ours that a page names is a setting, or is read somewhere in the program."""
    named = set(re.findall(r"\b(?:CONTINUITY|TELEGRAM)_[A-Z][A-Z_]*[A-Z]\b", text_of(page)))
    unknown = named - {name.upper() for name in Settings.model_fields}

    assert {name for name in unknown if name not in sources("bot", "memory", "tests", "benchmarks")} == set()


def test_the_tables_page_names_every_table():
    """Each table of the schema has one row, and no other name stands there."""
    own = sorted((ROOT / "memory" / "storage" / "migrations").glob("*.sqlite.sql"))
    schema = text_of(ROOT / "schema.sql") + "".join(file.read_text(encoding="utf-8") for file in own)
    tables = set(re.findall(r"^CREATE (?:VIRTUAL )?TABLE (\w+)", schema, flags=re.MULTILINE))
    listed = re.findall(r"^\| `(\w+)` \|", text_of(ROOT / "docs" / "reference" / "tables.md"), flags=re.MULTILINE)

    assert len(listed) == len(set(listed))
    assert set(listed) ^ tables == set(), "docs/reference/tables.md and the migrations differ in these"


def test_the_upgrade_page_names_every_step():
    """Whoever upgrades reads what each migration does to the data that is there."""
    folders = (ROOT / "memory" / "storage" / "migrations", ROOT / "bot" / "migrations")
    steps = {file.name.split(".")[0] for folder in folders for file in folder.glob("*.sql")}
    told = re.findall(r"^\| `(\d{4}_\w+)` \|", text_of(ROOT / "docs/how-to/upgrade.md"), flags=re.MULTILINE)

    assert set(told) == steps
    assert told == sorted(told)


def test_the_crash_model_explains_every_fault_point():
    """What a crash leaves behind is said for each point at which a test can let the process die."""
    points = set(re.findall(r"\bpoint\(\"(\w+)\"\)", sources("bot", "memory")))
    told = re.findall(r"^\| `(\w+)` \|", text_of(ROOT / "docs/explanation/crash-model.md"), flags=re.MULTILINE)

    assert len(told) == len(set(told))
    assert points - set(told) == set(), "docs/explanation/crash-model.md has no row for these"


def test_decisions_are_numbered_and_have_their_shape():
    """1, 2, … without a gap, called as in the index; each says context, choice, and what we gave up."""
    files = sorted((ROOT / "docs" / "decisions").glob("*.md"))
    index = text_of(ROOT / "docs" / "README.md")

    assert [int(file.name[:4]) for file in files] == list(range(1, len(files) + 1))
    for file in files:
        text = text_of(file)
        title = text.partition("\n")[0].removeprefix("# ")
        assert title.startswith(f"{int(file.name[:4])}. "), file.name
        assert f"[{title}](decisions/{file.name})" in index, file.name
        assert all(word in text for word in ("**Context.**", "**Choice.**", "**What we gave up.**")), file.name


def test_the_changelog_has_a_place_for_what_comes():
    """The first version in the changelog is the one that is not released yet."""
    assert re.findall(r"^## (.+)$", text_of(ROOT / "CHANGELOG.md"), flags=re.MULTILINE)[0] == "Unreleased"


# --- examples -------------------------------------------------------------------------------------------------------


@pytest.mark.acceptance
@pytest.mark.parametrize("page", ["README.md", "docs/tutorial/first-ten-minutes.md"])
def test_a_talk_reads_as_it_says(page, tmp_path):
    """Each block of talk, piped into `chat`, comes out as it stands there, also after a kill; times of day differ."""
    printed, typed = tmp_path / "printed", tmp_path / "typed"
    talks = [part for block in blocks(text_of(ROOT / page), "text") for part in KILLED.split(block)]
    for talk in talks:
        said = "".join(line.removeprefix("you ") for line in talk.splitlines(keepends=True) if line.startswith("you "))
        typed.write_text(said, encoding="utf-8")
        printed.unlink(missing_ok=True)
        forked.Forked(forked.cli, "chat", folder=tmp_path, env={}, log_path=printed, input_path=typed).join()

        assert timeless(printed.read_text(encoding="utf-8")) == timeless(talk)


def test_the_library_stands_on_its_own():
    """Importing what the page imports brings in nothing of Telegram, of models or of the bot."""
    imports = "\n".join(line for line in blocks(text_of(LIBRARY_PAGE), "python")[0].splitlines() if "import" in line)
    program = (
        f"{imports}\nimport sys\nprint(sorted({{'telegram', 'pydantic_ai', 'bot', 'fastapi'}} & set(sys.modules)))"
    )
    found = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, timeout=60, check=True
    )

    assert found.stdout == "[]\n"
