"""What `doctor` thinks of facts: each check alone, without a file."""

import os

import pytest

from bot.ops.checks import check, disk, setup, storage, work
from bot.ops.checks.doctor import deleted_files, mount_kind
from bot.ops.copies.checkpoints import LogFacts, Verdict, judge
from memory.sessions.hydrator import HydrationReport


@pytest.mark.parametrize(
    ("version", "affected"),
    [
        ("3.6.23", False),
        ("3.7.0", True),
        ("3.40.1", True),
        ("3.44.5", True),
        ("3.44.6", False),
        ("3.45.0", True),
        ("3.50.6", True),
        ("3.50.7", False),
        ("3.51.2", True),
        ("3.51.3", False),
        ("3.52.0", False),
        ("4.0.0", False),
    ],
)
def test_the_wal_reset_bug_is_known_by_version(version, affected):
    """Present from 3.7.0, gone with 3.51.3 and with the two backports."""
    assert (storage.sqlite_version(version).level == "warn") is affected


@pytest.mark.parametrize(
    ("model", "environment", "level"),
    [
        ("offline", set(), "ok"),
        ("openai:gpt-5-mini", set(), "fail"),
        ("openai:gpt-5-mini", {"OPENAI_API_KEY"}, "ok"),
        ("openai-chat:mine", {"OPENAI_BASE_URL"}, "ok"),
        ("anthropic:claude", {"OPENAI_API_KEY"}, "fail"),
        ("google:gemini", {"GEMINI_API_KEY"}, "ok"),
        ("opnai:whatever", set(), "fail"),
        ("bedrock:whatever", set(), "ok"),
        ("gpt-5-mini", {"OPENAI_API_KEY"}, "fail"),
    ],
)
def test_the_chosen_model_needs_its_own_key(model, environment, level):
    """The key of another provider does not help; one that only the library knows is not judged, a wrong name is."""
    assert setup.model_key(model, environment, {"bedrock"}).level == level


def test_a_provider_without_its_library_fails():
    """The message says what to install."""
    assert setup.model_package("google:x", set()).level == "fail"
    assert "pydantic-ai-slim[google]" in setup.model_package("google:x", set()).do
    assert setup.model_package("google:x", {"google.genai"}).level == "ok"


def test_modes_that_let_others_in_are_named_with_the_remedy():
    """One finding per path; folders lose the same bits as files."""
    found = disk.permissions({"/a": 0o100600, "/b": 0o100644, "/c": 0o40755, "/d": 0o100620})

    assert [(check.level, check.do) for check in found] == [
        ("warn", "chmod 600 /b"),
        ("warn", "chmod 700 /c"),
        ("warn", "chmod 600 /d"),
    ]
    assert disk.permissions({"/a": 0o100600})[0].level == "ok"


@pytest.mark.parametrize(("free", "level"), [(10, "fail"), (100 * 1024**2, "warn"), (10 * 1024**3, "ok")])
def test_the_fullest_disk_counts(free, level):
    """Data and checkpoints may be on different disks; the one with the least space is judged."""
    assert disk.disk_space({"/data": free, "/other": 10**12}).level == level


def test_a_network_file_system_cannot_hold_the_database():
    """WAL needs memory that is shared by all processes on the file."""
    assert disk.file_system("nfs4", "/data").level == "fail"
    assert disk.file_system("ext4", "/data").level == "ok"
    assert disk.file_system(None, "/data").level == "ok"


def test_the_nearest_mount_tells_the_file_system(tmp_path):
    """The longest mount point above the folder wins."""
    mounts = tmp_path / "mounts"
    mounts.write_text(f"/dev/a / ext4 rw 0 0\nserver:/x {tmp_path} nfs4 rw 0 0\n")

    assert mount_kind(tmp_path / "data", mounts) == "nfs4"
    assert mount_kind(tmp_path.parent, mounts) == "ext4"
    assert mount_kind(tmp_path, tmp_path / "nothing") is None


def test_a_deleted_file_under_the_running_bot_is_a_failure():
    """Later commits would vanish."""
    assert storage.sqlite_files(["/data/continuity.db-wal (deleted)"]).level == "fail"
    assert storage.sqlite_files([]).level == "ok"


def test_deleted_files_are_seen_in_the_process_that_holds_them(tmp_path):
    """Only files of this database, only those without a name; a process that is gone shows none."""
    database = tmp_path / "continuity.db"
    with (tmp_path / "continuity.db-wal").open("w"), (tmp_path / "other").open("w"):
        assert deleted_files(os.getpid(), database) == []
        (tmp_path / "continuity.db-wal").unlink()
        (tmp_path / "other").unlink()
        assert deleted_files(os.getpid(), database) == [f"{database}-wal (deleted)"]
    assert deleted_files(None, database) == []


def test_a_journal_mode_other_than_wal_is_a_failure():
    """P1 depends on it."""
    assert storage.sqlite_wal("delete").level == "fail"
    assert storage.sqlite_wal("wal").level == "ok"


def test_an_older_schema_is_a_hint_and_a_newer_one_a_failure():
    """A start brings an older one up to date by itself; a newer one it cannot read."""
    assert storage.schema_version(1, (), ["0002_x"]).level == "warn"
    assert storage.schema_version(3, (3,), []).level == "fail"
    assert storage.schema_version(2, (), []).level == "ok"


def test_http_without_a_token_may_only_listen_on_this_machine():
    """Off is fine, open on this machine is a warning, open to the network is a failure."""
    assert setup.http(port=None, host="0.0.0.0", token_set=False).level == "ok"  # noqa: S104 - the case under test
    assert setup.http(port=8080, host="127.0.0.1", token_set=False).level == "warn"
    assert setup.http(port=8080, host="0.0.0.0", token_set=False).level == "fail"  # noqa: S104
    assert setup.http(port=8080, host="0.0.0.0", token_set=True).level == "ok"  # noqa: S104
    assert setup.http(port=8080, host="127.0.0.1", token_set=True, token_long=False).level == "warn"
    assert setup.http(port=8080, host="0.0.0.0", token_set=True, token_long=False).level == "fail"  # noqa: S104


def test_a_message_that_waits_long_is_stuck_only_while_the_bot_runs():
    """A bot that is down has messages waiting, which is in order."""
    stuck = 11 * 60_000

    assert work.traffic({"received": 1}, {}, stuck, runs=True)[0].level == "warn"
    assert work.traffic({"received": 1}, {}, stuck, runs=False)[0].level == "ok"
    assert [check.id for check in work.traffic({"quarantined": 2}, {"failed": 1}, None, runs=True)] == [
        "inbox",
        "outbox",
    ]


def test_a_turn_of_the_future_tells_of_a_wrong_clock():
    """A few minutes are tolerated."""
    assert work.clock(1_000_000, 0).level == "warn"
    assert work.clock(60_000, 0).level == "ok"


def test_the_last_run_is_told_from_the_lock():
    """Held, free after an orderly stop, free after a death."""
    assert work.lock(runs=True, pid=5, boots=1, stopped_cleanly=False).says == "held by the running bot (process 5)"
    assert work.lock(runs=False, pid=None, boots=1, stopped_cleanly=True).level == "ok"
    assert work.lock(runs=False, pid=None, boots=1, stopped_cleanly=False).level == "warn"
    assert work.lock(runs=False, pid=None, boots=0, stopped_cleanly=False).level == "ok"


def test_the_worst_check_decides():
    """One failure among many fails the whole."""
    ok, warn, fail = (check.Check("x", level, "") for level in ("ok", "warn", "fail"))

    assert check.worst([ok, warn, fail, ok]) == "fail"
    assert check.worst([ok, warn]) == "warn"
    assert check.worst([]) == "ok"


def test_variables_that_only_look_like_settings_are_named():
    """A slip of the finger is answered with the setting that was meant; other variables are nobody's business."""
    found = setup.settings({}, {"CONTINUITY_PERSOMA", "PATH"}, {"CONTINUITY_PERSONA"})

    assert [(check.level, check.do) for check in found] == [("warn", "did you mean CONTINUITY_PERSONA?")]


@pytest.mark.parametrize(
    ("report", "log", "level"),
    [
        ({"checkpoint": "used"}, LogFacts(3, 3), "ok"),
        ({"checkpoint": "older"}, LogFacts(3, 3), "behind"),
        ({"checkpoint": "missing"}, LogFacts(3, 3), "missing"),
        ({"checkpoint": "missing"}, LogFacts(0, 0), "ok"),
        ({"checkpoint": "newer"}, LogFacts(3, 3), "wrong"),
        ({"checkpoint": "damaged"}, LogFacts(3, 3), "wrong"),
        ({"checkpoint": "foreign"}, LogFacts(3, 3), "wrong"),
        ({"checkpoint": "used", "warnings": ("something",)}, LogFacts(3, 3), "wrong"),
        ({"checkpoint": "used"}, LogFacts(3, 3, (2,)), "wrong"),
        ({"checkpoint": "used", "session_restored": True}, LogFacts(0, 0), "wrong"),
        ({"checkpoint": "used"}, LogFacts(2, 3), "ok"),
    ],
)
def test_only_what_a_hydration_would_repair_is_wrong(report, log, level):
    """A checkpoint that lags or is missing is made up for by the log; a turn that was forgotten is only mentioned."""
    assert judge(HydrationReport("s_1", **report), 3, log).level == level


def test_one_altered_turn_is_told_once():
    """What the hydration said already is not said again by the digests of the whole log."""
    report = HydrationReport("s_1", checkpoint="used", warnings=("turn 2 was altered in the log; it is restored",))

    assert len(judge(report, 3, LogFacts(3, 3, (2,))).findings) == 1


def test_the_first_wrong_session_is_named():
    """So that there is somewhere to begin."""
    wrong = Verdict("s_9", "wrong", "damaged", None, 3)

    (check,) = storage.checkpoints_match([wrong], [], looked_at=1, of=1)
    assert check.level == "fail"
    assert "s_9" in check.says


def test_a_keeper_that_hands_over_is_named_with_what_helps():
    """A weak model that keeps to no contract three times in a row is no silent loss."""
    broken = work.keeper("ollama:tiny", ["ContractBroken"] * 3)

    assert (broken.level, "ollama:tiny" in broken.says) == ("warn", True)
    assert work.keeper("a:m", []).level == "ok"
    refused = work.keeper("a:m", ["Status 401"] * 3)
    assert (refused.level, "refused the key" in refused.says) == ("warn", True)
