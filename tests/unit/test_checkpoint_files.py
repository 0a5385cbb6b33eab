"""Checkpoint files: whole or not accepted, one per session, moved aside when they cannot be used."""

import stat

import orjson
import pytest

from memory.errors import CheckpointDamaged, CheckpointError, CheckpointForeign, CheckpointMissing, StorageUnavailable
from memory.sessions.hydrator import snapshot_of
from memory.storage.checkpoint import CheckpointFiles, file_name, pack, session_of, unpack
from memory.storage.turn_rows import chain
from memory.testing import ManualClock, make_state, make_turn
from memory.types import ConversationCheckpointSnapshot


def make_snapshot(turns=2, **overrides) -> ConversationCheckpointSnapshot:
    tail = chain("", [make_turn(seq=seq, user_text=f"Grüße {seq}") for seq in range(1, turns + 1)])
    state = make_state(last_seq=turns, turn_count=turns, last_turn_digest=tail[-1].digest)
    snapshot = snapshot_of(state, tail, "", saved_at_ms=5)
    return snapshot.model_copy(update=overrides)


@pytest.fixture
def files(tmp_path):
    return CheckpointFiles(tmp_path / "checkpoints", ManualClock(1234))


def test_what_is_saved_is_loaded(files):
    """A snapshot comes back equal, from a private file that is plain JSON."""
    snapshot = make_snapshot()
    files.save(snapshot)

    assert files.load("s_1") == snapshot
    assert stat.S_IMODE(files.path("s_1").stat().st_mode) == 0o600
    assert stat.S_IMODE(files.folder.stat().st_mode) == 0o700
    assert orjson.loads(files.path("s_1").read_bytes())["payload"]["last_seq"] == 2


def test_a_second_save_replaces_the_first(files):
    """There is one file per session and nothing is left beside it."""
    files.save(make_snapshot(1))
    files.save(make_snapshot(3))

    assert files.load("s_1").last_seq == 3
    assert [file.name for file in files.folder.iterdir()] == ["s_1.json"]


def test_a_missing_checkpoint_says_where(files):
    """No file is its own error, with the path."""
    with pytest.raises(CheckpointMissing, match=r"checkpoints/s_1\.json"):
        files.load("s_1")


def test_a_file_torn_at_any_byte_is_found_out(files):
    """Cut at every offset from nothing to one byte short, the file is never taken for a checkpoint."""
    data = pack(make_snapshot()).rstrip(b"\n")

    for length in range(len(data)):
        with pytest.raises(CheckpointDamaged):
            unpack(data[:length], files.path("s_1"))


def test_a_byte_changed_anywhere_is_found_out(files):
    """Any byte replaced by another makes it damaged, or leaves the very same content."""
    snapshot = make_snapshot(1)
    data = pack(snapshot)

    for offset in range(len(data)):
        changed = data[:offset] + bytes([data[offset] ^ 0x01]) + data[offset + 1 :]
        try:
            assert unpack(changed, files.path("s_1")) == snapshot
        except CheckpointDamaged:
            continue


def test_without_the_digest_a_changed_word_is_believed(files):
    """Negative control: with the digest left out an altered text comes through, so it is the digest that finds it."""
    changed = pack(make_snapshot()).replace("Grüße 1".encode(), b"Gruesse")

    assert unpack(changed, files.path("s_1"), verify=False).last_turns[0].user_text == "Gruesse"
    with pytest.raises(CheckpointDamaged, match="digest"):
        unpack(changed, files.path("s_1"))


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (b"", "is empty"),
        (b"\x00" * 500, "not a whole envelope"),
        (b"garbage", "not a whole envelope"),
        (b"[]", "not a whole envelope"),
        (b"{}", "not a whole envelope"),
        (b'{"digest":"x","payload":{}}', "has digest 'x'"),
    ],
    ids=["empty", "zeros", "garbage", "list", "object", "no snapshot"],
)
def test_anything_else_in_its_place_is_damaged(files, data, problem):
    """Whatever lies there, the error says which file, what was found and what happens now."""
    files.save(make_snapshot())
    files.path("s_1").write_bytes(data)

    with pytest.raises(CheckpointDamaged, match=problem) as caught:
        files.load("s_1")
    assert "s_1.json" in str(caught.value)


def test_a_newer_schema_is_not_guessed_at(files):
    """A snapshot of a schema that this program does not know is not used."""
    files.save(make_snapshot(schema_version=99))

    with pytest.raises(CheckpointDamaged, match="schema 99"):
        files.load("s_1")


def test_a_checkpoint_of_another_session_is_foreign(files):
    """A file that was copied under another name is not loaded."""
    files.save(make_snapshot())
    files.path("s_1").rename(files.path("s_2"))

    with pytest.raises(CheckpointForeign, match=r"belongs to session \['s_1'\], expected 's_2'"):
        files.load("s_2")


def test_a_damaged_file_is_moved_aside_not_deleted(files):
    """It keeps its content under `.corrupt-<ms>`; a second one at the same moment gets a name of its own."""
    for data in (b"first", b"second"):
        files.save(make_snapshot())
        files.path("s_1").write_bytes(data)
        files.quarantine("s_1")

    kept = [files.folder / name for name in files.quarantined()]
    assert sorted(file.read_bytes() for file in kept) == [b"first", b"second"]
    assert kept[0].name == "s_1.json.corrupt-1234"
    assert files.quarantine("s_1") is None
    assert files.session_ids() == []


def test_leftovers_of_a_crash_are_swept(files):
    """Half-written temporary files go at start; checkpoints stay."""
    files.save(make_snapshot())
    (files.folder / ".s_1.json.99-0.tmp").write_bytes(b"half")

    assert files.sweep() == 1
    assert files.session_ids() == ["s_1"]


def test_an_unwritable_folder_keeps_the_old_file(files):
    """When the new file cannot be written the error names the path, and no temporary file stays."""
    blocked = CheckpointFiles(files.folder / "file" / "below", ManualClock())
    files.save(make_snapshot())
    (files.folder / "file").write_bytes(b"")

    with pytest.raises(StorageUnavailable, match=r"s_1\.json"):
        blocked.save(make_snapshot())
    assert files.load("s_1").last_seq == 2


def test_removing_a_checkpoint_takes_everything_of_it(files):
    """What was moved aside and what was half-written goes too, other sessions' files stay (P13)."""
    files.save(make_snapshot())
    files.quarantine("s_1")
    files.save(make_snapshot())
    (files.folder / ".s_1.json.99-0.tmp").write_bytes(b"half")
    (files.folder / "s_10.json").write_bytes(b"other")
    files.remove("s_1")

    assert [file.name for file in files.folder.iterdir()] == ["s_10.json"]
    files.remove("s_1")


@pytest.mark.parametrize("session_id", ["s_1", "../../etc/passwd", "a/b", "..", "ü", "a.json", "a b", "%2e"])
def test_any_session_id_makes_a_safe_name(files, session_id):
    """A name never leaves the folder and gives its id back."""
    name = file_name(session_id)

    assert "/" not in name
    assert not name.startswith(".")
    assert session_of(name) == session_id


@pytest.mark.parametrize("session_id", ["", "x" * 300])
def test_an_id_that_cannot_be_a_name_is_refused(session_id):
    """An empty or over-long id is our error."""
    with pytest.raises(CheckpointError, match="cannot name a checkpoint"):
        file_name(session_id)
