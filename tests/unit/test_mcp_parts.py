"""Parts of the way to MCP servers: `mcp.json`, names, the guard's limits, what is left by a killed process."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from bot.tools.call import planned
from bot.tools.many import FIND, USE, fitted
from bot.tools.mcp import guard
from bot.tools.mcp.config import ConfigError, read
from bot.tools.mcp.leftovers import end_leftovers
from bot.tools.mcp.naming import MOST_NAME, described, name_of
from bot.tools.mcp.session import ToolInfo
from bot.tools.questions import details
from bot.tools.tool import CallContext, Place, Tool, ToolResult
from bot.tools.visible import all_visible, visible

AT = CallContext("c_1", "t_1", Place("tg:1:2:0", 2), "UTC", 0)


def written(path, servers):
    path.write_text(json.dumps({"mcpServers": servers}), encoding="utf-8")
    return path


def test_a_file_that_people_have_is_read(tmp_path):
    """Both kinds of server, variables filled in, one that is disabled left out."""
    servers = {
        "My Files": {"command": "npx", "args": ["-y", "${PACKAGE:-files}"], "env": {"KEY": "${KEY}"}},
        "tasks": {"url": "https://x.example/mcp", "headers": {"Authorization": "Bearer ${KEY}"}, "people": [7]},
        "old": {"command": "x", "disabled": True},
    }
    files, tasks = read(written(tmp_path / "mcp.json", servers), {"KEY": "k"})

    assert (files.name, files.args, files.env) == ("My-Files", ("-y", "files"), {"KEY": "k"})
    assert tasks.headers == {"Authorization": "Bearer k"}
    assert (tasks.is_for(7), tasks.is_for(8), files.is_for(8)) == (True, False, True)
    assert "k" not in (files.origin, tasks.origin)


def test_another_value_of_a_variable_is_another_setup_where_it_leads_elsewhere(tmp_path):
    """A changed address, command or argument is asked about again, and its logins are void; a changed key isn't."""
    server = {"url": "https://${HOST}/mcp", "headers": {"X-Key": "${KEY}"}}
    path = written(tmp_path / "mcp.json", {"mail": server})

    def origin(**variables: str) -> str:
        return read(path, {"HOST": "one.example", "KEY": "k"} | variables)[0].origin

    assert origin() == origin(KEY="another")
    assert origin() != origin(HOST="two.example")


@pytest.mark.parametrize(
    ("server", "says"),
    [
        ({"command": "x", "url": "y"}, "either a command or a url"),
        ({}, "either a command or a url"),
        ({"command": "x", "env": {"K": "${NOT_SET}"}}, "NOT_SET is not set"),
        ({"url": "x", "type": "sse"}, "out of date"),
        ({"comand": "x"}, "unknown comand"),
        ({"command": "x", "people": ["me"]}, "invalid literal"),
    ],
)
def test_a_wrong_file_says_where_and_what(tmp_path, server, says):
    """The name of the server, and what to write instead."""
    with pytest.raises(ConfigError, match=says):
        read(written(tmp_path / "mcp.json", {"files": server}), {})


def test_names_fit_every_provider_and_stay_apart():
    """Letters, digits, _ and -, 64 at most; two that would be cut alike are not the same."""
    names = {
        name_of("files", "a" * 80),
        name_of("files", "a" * 81),
        name_of("files", "read.file"),
        name_of("files", "read_file"),
    }

    assert len(names) == 4
    assert all(len(name) <= MOST_NAME and name.replace("_", "").replace("-", "").isalnum() for name in names)


def test_what_nobody_sees_is_no_word_of_a_tool():
    """Zero-width and tag characters are taken out of names, descriptions and schemas; what is too large is cut."""
    hidden = "Read\u200b a file\U000e0041\u202e."
    info = ToolInfo("x", "", hidden, {"properties": {"p": {"description": hidden}}}, {})
    large = ToolInfo("x", "", "y" * 9000, {"properties": {str(n): {"description": "z" * 90} for n in range(900)}}, {})

    assert described(info).description == "Read a file."
    assert described(info).parameters["properties"]["p"]["description"] == "Read a file."
    assert described(info).parameters["type"] == "object"
    assert len(described(large).description) == 800
    assert "description" not in json.dumps(described(large).parameters)


def test_what_is_seen_stays():
    """Spaces that do not break, ideographic ones, other ends of lines, joined emoji."""
    assert visible("10\u00a0km\u3000a\u2028b\u202f! 👨\u200d👩") == "10 km a\nb ! 👨\u200d👩"
    assert visible("a\x07b\x1b[31m\u2066c\r\n") == "ab[31mc\n"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        pytest.param("ok" + "".join(chr(0xE0100 + ord(c)) for c in "secret"), "ok", id="variants of a letter"),
        pytest.param("👍" + "\ufe00\ufe0e\ufe03" + "!", "👍!", id="variants of an emoji"),
        pytest.param("m\u200ci\u200dl\u200c\u200dk", "milk", id="joiners in plain letters"),
        pytest.param("می\u200c\u200d\u200c\u200dخواهم", "می\u200cخواهم", id="many joiners where one may be"),
        pytest.param("a\ufe0fb\ufe0f\ufe0f", "ab", id="the sign of emojis in plain letters"),
        pytest.param("".join(chr(0xE0000 + ord(c)) for c in "note"), "", id="letters of tags"),
        pytest.param("m\u034fi\uffa0l\u180ek", "milk", id="fillers"),
        pytest.param(
            "❤\ufe0f\u200d🔥 1\ufe0f\u20e3 👨\u200d👩", "❤\ufe0f\u200d🔥 1\ufe0f\u20e3 👨\u200d👩", id="emojis"
        ),
    ],
)
def test_no_words_hide_between_the_signs(text, shown):
    """What a screen shows is all there is; what writing needs stays."""
    assert visible(text) == shown
    assert all_visible({text: [text, 1, None, {"a": text}]}) == {shown: [shown, 1, None, {"a": shown}]}


def test_a_question_says_how_much_of_a_value_it_does_not_show():
    """A long value, a value of several lines and an empty object are all seen to be there."""
    call = planned(
        Tool("send", "Send.", {}, None),
        AT.place,
        "t_1",
        json.dumps({"body": "word " * 400, "to": "Anna\n• cc: nobody", "with": {}}),
        nth=0,
        now_ms=0,
    )

    body, to, with_ = details(call).splitlines()

    shown, _, more = body.removeprefix("• body: ").removesuffix(")").partition("… (+")
    assert len(shown) + int(more) == 400 * len("word ") - 1
    assert (to, with_) == ("• to: Anna • cc: nobody", "• with: {}")


async def test_more_tools_than_a_prompt_bears_are_found_by_words():
    """Those that fit come first, in order; the rest is told with its arguments when it's looked for."""

    async def run(*_):
        return ToolResult("")

    tools = [
        Tool(f"t{n}", f"Do thing {n}" if n != 7 else "Water the garden", {"type": "object"}, run) for n in range(9)
    ]
    found = fitted(tools, 22, lambda text: len(text) // 4)

    shown = [tool.name for tool in found if not tool.hidden]
    assert shown == ["t0", "t1", FIND, USE]
    told = await found[-2].run({"query": "garden water"}, AT)
    assert told.text.startswith("t7: Water the garden")
    assert fitted(tools, 10_000, len) == tuple(tools)


# --- the guard ------------------------------------------------------------------------------------------------------


def guarded(code: str, **more):
    """Run a program behind the guard until it ends; return what went out and what was said."""
    setup = {
        "command": sys.executable,
        "args": ["-c", code],
        "env": {},
        "cwd": "",
        "memory_mb": 512,
        "record": "",
    } | more
    command = [sys.executable, "-I", guard.__file__, json.dumps(setup)]
    return subprocess.run(command, capture_output=True, timeout=60, check=False)


def test_what_a_server_writes_is_passed_on_whole():
    """Byte for byte."""
    ended = guarded("print('x' * 100_000); print('y')")

    assert ended.stdout == b"x" * 100_000 + b"\ny\n"
    assert ended.returncode == 0


@pytest.mark.parametrize(
    ("code", "says"),
    [
        ("import time; kept = bytearray(100_000_000); time.sleep(30)", "more than 64 MB"),
        ("import os\nwhile True: os.write(1, b'x' * 65536)", "more than anybody reads"),
        ("import os\nwhile True: os.write(1, b'x' * 65535 + b'\\n')", "more than anybody reads"),
    ],
)
def test_a_server_that_takes_too_much_is_ended(code, says):
    """Memory, a line without an end, lines without an end."""
    ended = guarded(code, memory_mb=64)

    assert says in ended.stderr.decode()
    assert ended.returncode == 1


def test_a_command_that_is_not_there_says_so(tmp_path):
    """And leaves no record."""
    ended = guarded("", command="/does/not/exist", record=str(tmp_path))

    assert "cannot be started" in ended.stderr.decode()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(sys.platform != "linux", reason="it is known by /proc")
def test_what_a_killed_process_left_is_ended_and_nobody_else(tmp_path):
    """The one that was noted, with its children; a number that another program has by now is left alone."""
    left = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    other = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    (tmp_path / str(left.pid)).write_text(guard.started_at(left.pid), encoding="utf-8")
    (tmp_path / str(other.pid)).write_text("12", encoding="utf-8")

    assert end_leftovers(tmp_path) == 1

    assert left.wait(10) == -9
    assert other.poll() is None
    other.kill()
    other.wait(10)
    assert list(tmp_path.iterdir()) == []
