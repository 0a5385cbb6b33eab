"""Checkpoint files: one JSON per session; the old one or the new one, never torn (P7), never trusted blindly (P8)."""

from __future__ import annotations

import contextlib
import hashlib
import itertools
import logging
import os
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

import orjson
from pydantic import ValidationError

from memory.errors import (
    CheckpointDamaged,
    CheckpointError,
    CheckpointForeign,
    CheckpointMissing,
    StorageUnavailable,
    reason,
)
from memory.ports import NOBODY, Clock, Observers
from memory.process.faults import point
from memory.storage.folders import make_folder, sync_folder, synced
from memory.types import CHECKPOINT_SCHEMA, ConversationCheckpointSnapshot

FORMAT = "continuity-checkpoint"
BEFORE_RESTORE = "before-restore-"
"""The beginning of the names under which `restore` sets aside earlier files."""
SUFFIX = ".json"
TEMPORARY = ".tmp"
NAME_MAX_BYTES = 200
log = logging.getLogger(__name__)


def digest_of(payload: bytes) -> str:
    """Return the digest of a payload in its canonical bytes."""
    return hashlib.blake2b(payload, digest_size=32).hexdigest()


def canonical(payload: Any) -> bytes:
    """Return the one byte form of a JSON value: sorted keys, no spaces."""
    return orjson.dumps(payload, option=orjson.OPT_SORT_KEYS)


def pack(snapshot: ConversationCheckpointSnapshot) -> bytes:
    """Return the file's bytes: an envelope with the digest of its payload."""
    payload = canonical(snapshot.model_dump())
    return b'{"format":"%b","digest":"%b","payload":%b}\n' % (FORMAT.encode(), digest_of(payload).encode(), payload)


def unpack(data: bytes, path: Path, *, verify: bool = True) -> ConversationCheckpointSnapshot:
    """Return the snapshot in a file's bytes. Raises `CheckpointDamaged` with both digests, the found and the expected.

    `verify=False` leaves the digest out: for the test that shows why there is one.
    """
    if not data:
        raise CheckpointDamaged(f"checkpoint '{path}' is empty; rebuild it from the turn log")
    try:
        envelope = orjson.loads(data)
        found, payload = envelope["digest"], envelope["payload"]
    except (orjson.JSONDecodeError, KeyError, TypeError) as exc:
        raise CheckpointDamaged(
            f"checkpoint '{path}' ({len(data)} bytes) is not a whole envelope; rebuild it from the turn log"
        ) from exc
    body = canonical(payload)
    expected = digest_of(body)
    if verify and found != expected:
        raise CheckpointDamaged(
            f"checkpoint '{path}' has digest '{str(found)[:12]}', its content has '{expected[:12]}'; "
            "rebuild it from the turn log"
        )
    try:
        snapshot = ConversationCheckpointSnapshot.model_validate_json(body)
    except ValidationError as exc:
        raise CheckpointDamaged(
            f"checkpoint '{path}' does not hold a snapshot of schema {CHECKPOINT_SCHEMA} "
            f"({exc.error_count()} fields differ, first {exc.errors()[0]['loc']}); rebuild it from the turn log"
        ) from exc
    if snapshot.schema_version > CHECKPOINT_SCHEMA:
        raise CheckpointDamaged(
            f"checkpoint '{path}' has schema {snapshot.schema_version}, this program knows {CHECKPOINT_SCHEMA}; "
            "rebuild it from the turn log"
        )
    return snapshot


def file_name(session_id: str) -> str:
    """Return a file name that is safe for any session id and from which `session_of` gets the id back.

    Raises `CheckpointError` for an id that is empty or too long for a file name.
    """
    name = quote(session_id, safe="").replace(".", "%2E")
    if not name or len(name) > NAME_MAX_BYTES:
        raise CheckpointError(
            f"session id {session_id[:40]!r} cannot name a checkpoint; use 1 to {NAME_MAX_BYTES} bytes"
        )
    return name + SUFFIX


def session_of(name: str) -> str:
    """Return the session id in a checkpoint's file name."""
    return unquote(name.removesuffix(SUFFIX))


class CheckpointFiles:
    """The checkpoints of one data folder. All methods block: run them in a thread, or through `CheckpointWriter`."""

    def __init__(self, folder: Path | str, clock: Clock, observers: Observers = NOBODY) -> None:
        """`observers` are told in the thread that saves."""
        self.folder = Path(folder)
        self._clock = clock
        self._count = itertools.count()
        self._observers = observers

    def path(self, session_id: str) -> Path:
        """Return the path of the session's checkpoint, whether or not the file exists."""
        return self.folder / file_name(session_id)

    def save(self, snapshot: ConversationCheckpointSnapshot) -> None:
        """Replace the session's checkpoint; when this returns the new one survives a power cut.

        A crash leaves, in this order: before the rename the old file (and a `.tmp` that `sweep` removes), after it
        the new file, possibly the old one after a power cut until the folder is synced. Raises `StorageUnavailable`
        with the old file untouched.
        """
        target = self.path(snapshot.session_id)
        temporary = self.folder / f".{target.name}.{os.getpid()}-{next(self._count)}{TEMPORARY}"
        try:
            make_folder(self.folder)
            waited_s = _write_synced(temporary, pack(snapshot))
            point("checkpoint_temp_written")
            temporary.replace(target)
            point("checkpoint_renamed")
            waited_s += sync_folder(self.folder)
            point("checkpoint_synced")
        except (OSError, StorageUnavailable) as exc:
            with contextlib.suppress(OSError):
                temporary.unlink(missing_ok=True)
            why = reason(exc) if isinstance(exc, OSError) else str(exc)
            raise StorageUnavailable(
                f"checkpoint '{target}' could not be written ({why}); the turn log has everything"
            ) from exc
        self._observers.fsync("checkpoint", waited_s)

    def load(self, session_id: str) -> ConversationCheckpointSnapshot:
        """Return the session's snapshot, checked.

        Raises `CheckpointMissing`, `CheckpointDamaged` (empty, torn, altered, unreadable schema),
        `CheckpointForeign` (it is another session's), `StorageUnavailable` when the file cannot be read.
        """
        path = self.path(session_id)
        try:
            if path.exists() and not path.is_file():
                raise CheckpointDamaged(f"checkpoint '{path}' is no regular file; it is moved aside")
            data = path.read_bytes()
        except FileNotFoundError as exc:
            raise CheckpointMissing(f"there is no checkpoint '{path}'; it is rebuilt from the turn log") from exc
        except OSError as exc:
            raise StorageUnavailable(f"checkpoint '{path}' could not be read ({reason(exc)}); check its owner") from exc
        snapshot = unpack(data, path)
        inside = {snapshot.session_id, snapshot.state.session_id, *(turn.session_id for turn in snapshot.last_turns)}
        if inside != {session_id}:
            raise CheckpointForeign(
                f"checkpoint '{path}' belongs to session {sorted(inside - {session_id})}, expected '{session_id}'; "
                "it is moved aside"
            )
        return snapshot

    def quarantine(self, session_id: str) -> Path | None:
        """Move a file that cannot be used aside, as `<name>.corrupt-<ms>`; return where it is, None if it was gone."""
        path = self.path(session_id)
        aside = path.with_name(f"{path.name}.corrupt-{self._clock.now_ms()}")
        while aside.exists():
            aside = aside.with_name(f"{aside.name}-{next(self._count)}")
        try:
            path.rename(aside)
        except FileNotFoundError:
            return None
        except OSError as exc:
            raise StorageUnavailable(
                f"checkpoint '{path}' could not be moved aside ({reason(exc)}); check its owner"
            ) from exc
        return aside

    def remove(self, session_id: str) -> None:
        """Delete the session's checkpoint and its files that were moved aside (P13).

        Delete it before the rows: a checkpoint whose rows are gone brings its session back at the next start.
        """
        name = file_name(session_id)
        for folder in (self.folder, *self._set_aside()):
            _delete(folder, lambda each: each.name == name or each.name.startswith((f"{name}.corrupt-", f".{name}.")))

    def mentioning(self, session_ids: Collection[str], words: Collection[str]) -> set[str]:
        """Return those of the sessions that have a file, perhaps one set aside, with one of these words (P13).

        Raises `StorageUnavailable` for a file that cannot be read.
        """
        if not words:
            return set()
        names = {file_name(each): each for each in session_ids}
        wanted = [word.encode() for word in words]
        found = set()
        for folder in (self.folder, *self._set_aside()):
            for entry in _entries_of(folder):
                whose = names.get(f"{entry.name.partition(SUFFIX)[0]}{SUFFIX}")
                if whose and whose not in found and _holds(Path(entry.path), wanted):
                    found.add(whose)
        return found

    def remove_set_aside(self, conversation_id: str) -> None:
        """Delete a conversation's files that a restore set aside, also of sessions that no row knows any more (P13)."""
        said = orjson.dumps({"conversation_id": conversation_id})[1:-1]
        for folder in self._set_aside():
            _delete(folder, lambda each: said in Path(each.path).read_bytes())

    def _set_aside(self) -> list[Path]:
        return sorted(
            each for each in self.folder.glob(f"{BEFORE_RESTORE}*") if each.is_dir() and not each.is_symlink()
        )

    def session_ids(self) -> list[str]:
        """Return the sessions that have a checkpoint, by file name alone."""
        return [session_of(entry.name) for entry in self._entries() if entry.name.endswith(SUFFIX)]

    def quarantined(self) -> list[str]:
        """Return the names of the files that were moved aside."""
        return sorted(entry.name for entry in self._entries() if ".corrupt-" in entry.name)

    def sweep(self) -> int:
        """Remove files that a crash left half-written, and return their number; call it at start, before any save."""
        leftovers = [entry.path for entry in self._entries() if entry.name.endswith(TEMPORARY)]
        for leftover in leftovers:
            Path(leftover).unlink(missing_ok=True)
        return len(leftovers)

    def _entries(self) -> list[os.DirEntry[str]]:
        return _entries_of(self.folder)


def _entries_of(folder: Path) -> list[os.DirEntry[str]]:
    """Return the regular files of a folder, without folders, pipes and links, which are not ours.

    Raises `StorageUnavailable` when it is no folder or cannot be read.
    """
    try:
        with os.scandir(folder) as entries:
            return [entry for entry in entries if entry.is_file(follow_symlinks=False)]
    except FileNotFoundError:
        return []
    except OSError as exc:
        raise StorageUnavailable(f"the checkpoints cannot be looked at ({reason(exc)}); check the folder") from exc


def _holds(path: Path, words: Sequence[bytes]) -> bool:
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return False
    except OSError as exc:
        raise StorageUnavailable(f"checkpoint '{path}' could not be read ({reason(exc)}); check its owner") from exc
    return any(word in data for word in words)


def _delete(folder: Path, doomed: Callable[[os.DirEntry[str]], bool]) -> None:
    """Delete the files that are doomed. Raises StorageUnavailable when the folder does not let go of one."""
    try:
        for entry in _entries_of(folder):
            if doomed(entry):
                Path(entry.path).unlink(missing_ok=True)
        sync_folder(folder)
    except FileNotFoundError:
        return
    except OSError as exc:
        raise StorageUnavailable(
            f"a checkpoint in '{folder}' could not be deleted ({reason(exc)}); check its owner"
        ) from exc


def _write_synced(path: Path, data: bytes) -> float:
    """Write a new file; return the seconds that its fsync took."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "wb", buffering=0) as file:
        view = memoryview(data)
        while view:
            view = view[file.write(view) :]
        return synced(file.fileno())
