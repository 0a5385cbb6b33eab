"""`doctor`: gather the facts that `checks` judges. Reads only; the database may be absent, damaged or in use."""

from __future__ import annotations

import asyncio
import os
import shutil
from collections import Counter
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from datetime import datetime
from importlib.util import find_spec
from pathlib import Path

import orjson

from bot.ops.checks import disk, setup, storage, work
from bot.ops.checks.check import Check
from bot.ops.checks.tools import of_tools
from bot.ops.checks.voice import of_voice
from bot.ops.copies.checkpoints import verify
from bot.ops.runs.status import read_boot
from bot.ops.runs.workers import SILENT_MS, in_words, read_workers
from bot.ops.workspace import (
    NoDatabaseYet,
    OpsError,
    Told,
    Workspace,
    one_by_one,
    open_read_only,
    require_database,
    running,
    untold,
)
from bot.people.personas import PersonaError, load_personas
from bot.settings import TOKEN_SHAPE, Settings, SettingsError, is_long, read_settings
from bot.tables import MIGRATIONS
from memory.clock import SystemClock
from memory.errors import ContinuityError, reason
from memory.keeper.asking import BROKEN_MOST
from memory.storage import migrate
from memory.storage.place import shown
from memory.zones import zone_of

KNOWN_BESIDES = frozenset({"CONTINUITY_PLAYGROUND"})
"""Variables that look like settings and are read elsewhere (`make run`)."""
QUICK_SESSIONS = 200
"""Without --deep, at most this many sessions of a larger database are compared with their checkpoints."""
SMALL_BYTES = 64 * 1024**2
"""A database up to this size is checked page by page and turn by turn also without --deep."""


async def examine(environment: Mapping[str, str], *, deep: bool = False, told: Told = untold) -> list[Check]:
    """Return all checks in the order of the report. Never raises for a finding."""
    faults: dict[str, str] = {}
    settings = None
    try:
        settings = read_settings()
    except SettingsError as exc:
        faults = exc.faults
    found = of_names(environment, faults)
    found.append(_token(environment))
    if settings is None:
        return found
    found += _of_settings(settings, environment)
    found += await of_tools(settings)
    found += await of_voice(settings)
    found += _of_files(settings)
    return found + await _of_database(settings, deep=deep, told=told)


def of_names(environment: Collection[str], faults: Mapping[str, str] | None = None) -> list[Check]:
    """Judge the names that are set: faults of settings, and names that look like settings but are none."""
    known = {name.upper() for name in Settings.model_fields} | KNOWN_BESIDES
    return setup.settings(faults or {}, environment, known)


def _token(environment: Mapping[str, str]) -> Check:
    token = environment.get("TELEGRAM_BOT_TOKEN", "")
    return setup.token(present=bool(token), well_formed=bool(TOKEN_SHAPE.fullmatch(token)))


def _of_settings(settings: Settings, environment: Mapping[str, str]) -> list[Check]:
    filled = {name for name, value in environment.items() if value}
    local = datetime.fromtimestamp(SystemClock().now_ms() / 1000, zone_of(settings.continuity_timezone))
    return [
        *of_models(settings, filled),
        setup.http(
            port=settings.continuity_http_port,
            host=settings.continuity_http_host,
            token_set=settings.continuity_http_token is not None,
            token_long=settings.continuity_http_token is None or is_long(settings.continuity_http_token),
        ),
        _persona(settings),
        setup.timezone(settings.continuity_timezone, f"{local:%Y-%m-%d %H:%M}"),
    ]


def of_models(settings: Settings, filled: Collection[str]) -> list[Check]:
    """Judge every model that the settings name, each once."""
    names, named = settings.models, {"": ""}
    named |= {each.model: "CONTINUITY_MODELS" for each in names.named.values()}
    named[names.fallback.model if names.fallback else ""] = "CONTINUITY_FALLBACK_MODEL"
    named[names.id_of(settings.continuity_summary_model or "")] = "CONTINUITY_SUMMARY_MODEL"
    memory = settings.continuity_memory_model
    named["" if memory in {None, "off"} else names.id_of(str(memory))] = "CONTINUITY_MEMORY_MODEL"
    named[names.default.model] = "CONTINUITY_MODEL"
    return [check for model, setting in named.items() if model for check in of_model(model, filled, setting)]


def of_model(model: str, filled: Collection[str], setting: str = "CONTINUITY_MODEL") -> list[Check]:
    """Judge a model's name, its key (by the names of variables that are set) and its library; imports none of it."""
    installed = {module for module, _ in setup.PROVIDER_PACKAGES.values() if _importable(module)}
    return [setup.model_key(model, filled, _providers(), setting), setup.model_package(model, installed)]


def _providers() -> set[str]:
    """Return the providers that the installed library knows, by its files."""
    found = find_spec("pydantic_ai")
    folders = found.submodule_search_locations if found else None
    files = [file for folder in folders or [] for file in (Path(folder) / "providers").glob("[a-z]*.py")]
    return {file.stem.replace("_", "-") for file in files}


def _persona(settings: Settings) -> Check:
    try:
        load_personas(settings.continuity_persona)
    except PersonaError as exc:
        says, _, do = str(exc).partition("; ")
        return Check("persona", "fail", says, do)
    return Check("persona", "ok", f"'{settings.continuity_persona}' can be read")


def _importable(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:  # the package around it is not there
        return False


# --- files ----------------------------------------------------------------------------------------------------------


def _of_files(settings: Settings) -> list[Check]:
    database, folder = settings.database_file, settings.checkpoint_dir
    of_database = [database, *(Path(f"{database}{side}") for side in ("-wal", "-shm"))] if database else []
    private = [*of_database, folder, settings.files_dir, Path(".env")]
    private += list(folder.glob("*.json")) if _is(folder.is_dir) else []
    private += list(settings.files_dir.iterdir()) if _is(settings.files_dir.is_dir) else []
    modes: dict[str, int] = {}
    for path in private:
        with suppress(OSError):
            modes[str(path)] = path.stat().st_mode
    roots = {str(_existing(each)) for each in (*([database.parent] if database else []), folder)}
    needed = [*roots, *(str(path) for path in of_database if _is(path.exists))]
    free: dict[str, int] = {}
    for root in roots:
        with suppress(OSError):
            free[root] = shutil.disk_usage(root).free
    return [
        *disk.permissions(modes),
        disk.writable([path for path in needed if not os.access(path, os.W_OK, effective_ids=True)]),
        disk.checkpoint_folder(
            str(folder),
            there=_is(folder.exists) or _is(folder.is_symlink),
            is_folder=_is(folder.is_dir),
            readable=os.access(folder, os.R_OK | os.X_OK, effective_ids=True),
        ),
        *([disk.file_system(mount_kind(_existing(database.parent)), str(database.parent))] if database else []),
        disk.disk_space(free),
    ]


def _existing(folder: Path) -> Path:
    while not _is(folder.exists):
        folder = folder.parent
    return folder


def _is(look: Callable[[], bool]) -> bool:
    """Return the answer of a look at a path; False when this user may not look there."""
    try:
        return look()
    except OSError:
        return False


def mount_kind(folder: Path, mounts: Path = Path("/proc/mounts")) -> str | None:
    """Return the kind of the file system that a folder is on; None where the system does not tell."""
    try:
        lines = [line.split() for line in mounts.read_text(encoding="utf-8", errors="replace").splitlines()]
    except OSError:
        return None
    above = [str(parent) for parent in (folder.resolve(), *folder.resolve().parents)]
    found = [(len(words[1]), words[2]) for words in lines if len(words) > 2 and words[1] in above]  # noqa: PLR2004 - a line names device, folder and kind
    return max(found)[1] if found else None


def deleted_files(pid: int | None, database: Path) -> list[str]:
    """Return the database files that a process holds although their name is gone; [] where that cannot be seen."""
    found = []
    with suppress(OSError):
        for descriptor in Path(f"/proc/{pid}/fd").iterdir():
            target = str(descriptor.readlink())
            if target.startswith(str(database)) and target.endswith(" (deleted)"):
                found.append(target)
    return sorted(set(found))


# --- the database ---------------------------------------------------------------------------------------------------


async def _of_database(settings: Settings, *, deep: bool, told: Told) -> list[Check]:
    try:
        require_database(settings)
        schema = migrate.status(settings.database, MIGRATIONS)
        if not schema.newest_applied:
            says = f"{shown(settings.database)} is empty, there is no table in it"
            return [Check("database", "fail", says, "restore a backup, or let `continuity-bot migrate` make a new one")]
        found = [storage.schema_version(schema.current, schema.ahead, [str(m) for m in schema.pending])]
        if schema.ahead or schema.pending:
            return found  # its tables may be others than this program asks for
        async with open_read_only(settings) as workspace:
            file = settings.database_file
            found += await _of_sqlite(workspace, file, deep=deep) if file else await _of_server(workspace)
            found += await _of_bot(workspace)
            found.append(await _of_sent_files(workspace))
            found += await _of_notes(workspace, deep=deep, told=told)
            found += await _of_keeper(workspace)
            if _is(settings.checkpoint_dir.is_dir) or not _is(settings.checkpoint_dir.exists):
                found += await _of_sessions(workspace, deep=deep, told=told)
    except NoDatabaseYet:
        says = f"there is none yet; the first start makes it at {shown(settings.database)}"
        return [Check("database", "ok", says)]
    except (OpsError, ContinuityError) as exc:
        says, _, do = str(exc).partition("; ")
        return [Check("database", "fail", says, do)]
    except OSError as exc:
        return [Check("database", "fail", reason(exc), "run it as the owner of the data")]
    return [Check("database", "ok", shown(settings.database)), *found]


async def _of_keeper(workspace: Workspace) -> list[Check]:
    """Judge the last readings since the last start; no check where no model has kept notes."""
    boots = await workspace.memory.db.read("boots_latest", limit=1)
    since_ms = boots[0]["started_at_ms"] if boots else 0
    rows = await workspace.memory.db.read("readings_last", limit=BROKEN_MOST)
    last = [row for row in rows if row["at_ms"] >= since_ms]
    errors = [row["error"] for row in last] if len(last) == BROKEN_MOST else []
    return [work.keeper(last[0]["model"], errors)] if last else []


async def _of_server(workspace: Workspace) -> list[Check]:
    there = await read_workers(workspace.memory.db)
    silent = [worker.place for worker in there if worker.silent_ms >= SILENT_MS]
    return [
        storage.postgres(await workspace.memory.db.settings()),
        work.workers([in_words(worker) for worker in there], silent, sum(worker.keeps for worker in there)),
    ]


async def _of_sqlite(workspace: Workspace, file: Path, *, deep: bool) -> list[Check]:
    found = await workspace.memory.db.settings()
    boots = [read_boot(row) for row in await workspace.memory.db.read("boots_latest", limit=1)]
    holder = running(workspace.settings)
    whole = deep or await _small(workspace)
    faults = await workspace.memory.db.integrity() if whole else None
    altered = await workspace.memory.db.altered_rows() if whole else None
    return [
        storage.sqlite_version(found["sqlite_version"]),
        storage.sqlite_wal(found["journal_mode"]),
        storage.sqlite_synchronous(
            found["synchronous"], boots[0].started_at_ms if boots else None, workspace.memory.clock.now_ms()
        ),
        storage.sqlite_integrity(faults),
        storage.sqlite_rows(altered),
        storage.sqlite_files(deleted_files(holder.pid, file) if holder else []),
    ]


async def _of_notes(workspace: Workspace, *, deep: bool, told: Told) -> list[Check]:
    """Compare each ledger with the notes that its changes rebuild; of a larger database only with `deep`."""
    memory = workspace.memory
    left: Counter[str] = Counter()
    for row in await memory.db.read("ledgers_left"):
        left.update(orjson.loads(row["left_json"]))
    whole = deep or await _small(workspace)
    ids = [row["conversation_id"] for row in await memory.db.read("ledger_ids")] if whole else []
    wrong = await one_by_one(ids, memory.ledgers.differs, told)
    return storage.notes([each for each, differs in zip(ids, wrong, strict=True) if differs], left, looked_at=len(ids))


async def _of_bot(workspace: Workspace) -> list[Check]:
    settings, now_ms, holder = workspace.settings, workspace.memory.clock.now_ms(), running(workspace.settings)
    boots = [read_boot(row) for row in await workspace.memory.db.read("boots_latest", limit=1)]
    inbox = {row["state"]: row for row in await workspace.memory.db.read("ops_inbox")}
    outbox = {row["state"]: row["n"] for row in await workspace.memory.db.read("ops_outbox")}
    ages = [now_ms - inbox[state]["oldest_at_ms"] for state in ("received", "claimed") if state in inbox]
    paired = await workspace.memory.db.read_one("ops_paired")
    latest = await workspace.memory.db.read_one("ops_latest_turn")
    tasks = await workspace.memory.db.read_one("task_totals")
    stopped = bool(boots and boots[0].stopped_at_ms is not None)
    return [
        work.lock(
            runs=holder is not None, pid=holder.pid if holder else None, boots=len(boots), stopped_cleanly=stopped
        ),
        setup.access(
            everyone=settings.everyone, named=len(settings.allowed_user_ids), paired=paired["n"] if paired else 0
        ),
        work.clock(latest["at_ms"] if latest else 0, now_ms),
        *work.traffic(
            {state: row["n"] for state, row in inbox.items()},
            outbox,
            max(ages, default=None),
            runs=holder is not None,
        ),
        *work.tasks(tasks["n"] if tasks else 0, (tasks and tasks["paused"]) or 0, by_model=settings.by_model),
    ]


async def _of_sent_files(workspace: Workspace) -> Check:
    """Compare the rows of files that people sent with the bytes that are there."""
    db, folder = workspace.memory.db, workspace.settings.files_dir
    rows = await db.read("file_states")
    if workspace.settings.database_file is None:
        missing = len(await db.read("file_lost"))
    else:
        there = await asyncio.to_thread(lambda: {path.name for path in folder.glob("*")})
        missing = sum(row["digest"] not in there for row in await db.read("file_digests"))
    return disk.files(sum(row["n"] for row in rows), sum(row["bytes"] for row in rows), missing)


async def _small(workspace: Workspace) -> bool:
    return await workspace.memory.db.size_bytes() <= SMALL_BYTES


async def _of_sessions(workspace: Workspace, *, deep: bool, told: Told) -> list[Check]:
    known = await workspace.session_ids()
    if deep or await _small(workspace):
        chosen = sorted(known)
    else:
        latest = [row.session_id for row in await workspace.memory.store.all_sessions(limit=QUICK_SESSIONS)]
        orphans = sorted(known - await workspace.memory.store.session_ids())
        chosen = latest + orphans[:QUICK_SESSIONS]
    verdicts = await verify(workspace, chosen, told)
    return storage.checkpoints_match(
        verdicts, workspace.memory.checkpoints.quarantined(), looked_at=len(chosen), of=len(known)
    )
