"""What `doctor` thinks of the facts: one function per check, its id stable, each saying what to do. Pure."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from bot.ops.checkpoints import Verdict
from bot.ops.format import joined, size
from bot.replies import ago, plural
from bot.settings import HTTP_TOKEN_CHARS, is_loopback

Level = Literal["ok", "warn", "fail"]

WAL_RESET_SINCE = (3, 7, 0)
WAL_RESET_FIXED = (3, 51, 3)
WAL_RESET_BACKPORTS = {(3, 50): 7, (3, 44): 6}
"""The WAL-reset bug: two connections that write or checkpoint at the same moment can corrupt the database."""
SYNCHRONOUS_FULL = 2
DISK_FAIL_BYTES = 50 * 1024**2
DISK_WARN_BYTES = 500 * 1024**2
STUCK_MS = 10 * 60_000
FUTURE_MS = 5 * 60_000
NETWORK_FILE_SYSTEMS = frozenset({"nfs", "nfs4", "cifs", "smb3", "smbfs", "9p", "fuse.sshfs", "vboxsf", "afs", "ceph"})
PROVIDER_KEYS: Mapping[str, tuple[str, ...]] = {
    "openai": ("OPENAI_API_KEY", "OPENAI_BASE_URL"),
    "openai-chat": ("OPENAI_API_KEY", "OPENAI_BASE_URL"),
    "openai-responses": ("OPENAI_API_KEY", "OPENAI_BASE_URL"),
    "anthropic": ("ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL"),
    "google": ("GOOGLE_API_KEY", "GEMINI_API_KEY"),
    "groq": ("GROQ_API_KEY",),
    "mistral": ("MISTRAL_API_KEY",),
    "deepseek": ("DEEPSEEK_API_KEY",),
    "openrouter": ("OPENROUTER_API_KEY",),
    "ollama": ("OLLAMA_BASE_URL",),
    "together": ("TOGETHER_API_KEY",),
    "fireworks": ("FIREWORKS_API_KEY",),
    "moonshotai": ("MOONSHOTAI_API_KEY", "MOONSHOTAI_BASE_URL"),
}
"""Provider → the variables of which one must be set (a compatible server needs no key); others are not judged."""
PROVIDER_PACKAGES: Mapping[str, tuple[str, str]] = {
    "google": ("google.genai", "pydantic-ai-slim[google]"),
    "groq": ("groq", "pydantic-ai-slim[groq]"),
    "mistral": ("mistralai", "pydantic-ai-slim[mistral]"),
}
"""Provider → the module it needs beyond the default installation, and what to install for it."""
WITHOUT_KEY = ("offline", "ollama")


@dataclass(frozen=True, slots=True)
class Check:
    """One finding; `do` is '' when there is nothing to do."""

    id: str
    level: Level
    says: str
    do: str = ""


def worst(checks: Sequence[Check]) -> Level:
    """Return the worst level of all checks."""
    levels = {check.level for check in checks}
    return "fail" if "fail" in levels else "warn" if "warn" in levels else "ok"


# --- settings -------------------------------------------------------------------------------------------------------


def settings(faults: Mapping[str, str], present: Collection[str], known: Collection[str]) -> list[Check]:
    """Judge the settings: what is wrong with them, and variables that look like settings but are none."""
    checks = [
        Check("settings", "fail", f"{name}: {fault}", "correct it, see .env.example; most other checks wait for that")
        for name, fault in faults.items()
    ]
    for name in sorted(present):
        if name.upper().startswith(("CONTINUITY_", "TELEGRAM_")) and name.upper() not in known:
            near = difflib.get_close_matches(name.upper(), known, n=1)
            do = f"did you mean {near[0]}?" if near else "remove it, or see .env.example"
            checks.append(Check("settings", "warn", f"{name} is set, but there is no such setting", do))
    return checks or [Check("settings", "ok", "all settings are valid")]


def token(*, present: bool, well_formed: bool) -> Check:
    """Judge the shape of the bot token; only Telegram knows whether it is valid."""
    get = "get a token from @BotFather and set TELEGRAM_BOT_TOKEN"
    if not present:
        return Check("token.shape", "warn", "TELEGRAM_BOT_TOKEN is not set: `chat` and `play` work without", get)
    if not well_formed:
        return Check("token.shape", "fail", "TELEGRAM_BOT_TOKEN does not look like 123456789:AA…", get)
    return Check("token.shape", "ok", "the token looks like one")


def model_key(
    model: str, environment: Collection[str], others: Collection[str] = (), setting: str = "CONTINUITY_MODEL"
) -> Check:
    """Judge whether the chosen provider is known, here or to the library (`others`), and its key is there.

    The key's value is never looked at.
    """
    provider, _, name = model.partition(":")
    if provider in WITHOUT_KEY:
        return Check("model.key", "ok", f"'{model}' needs no key")
    if not name:
        do = "write provider:name, e.g. openai:gpt-5-mini"
        return Check("model.key", "fail", f"{setting} '{model}' names no provider", do)
    names = PROVIDER_KEYS.get(provider)
    if names is None and provider in others:
        return Check("model.key", "ok", f"which key '{provider}' needs is not known here; the first message will tell")
    if names is None:
        do = f"use one of {', '.join(sorted(PROVIDER_KEYS))}; openai-chat with OPENAI_BASE_URL fits compatible servers"
        return Check("model.key", "fail", f"{setting} '{model}' names an unknown provider", do)
    found = [name for name in names if name in environment]
    if found:
        return Check("model.key", "ok", f"{found[0]} is set for {model}")
    return Check(
        "model.key", "fail", f"{model} needs {' or '.join(names)}", f"set {names[0]} in the environment or in .env"
    )


def model_package(model: str, installed: Collection[str]) -> Check:
    """Judge whether the provider's library is installed."""
    needed = PROVIDER_PACKAGES.get(model.partition(":")[0])
    if needed and needed[0] not in installed:
        do = f".venv/bin/pip install '{needed[1]}'"
        return Check("model.package", "fail", f"{model} needs the package {needed[0]}", do)
    return Check(
        "model.package", "ok", "the model's library is installed" if needed else "no further library is needed"
    )


def access(*, everyone: bool, named: int, paired: int) -> Check:
    """Judge who may use the bot (P14)."""
    if everyone:
        do = "name people in CONTINUITY_ALLOWED_USERS if your tokens are dear to you"
        return Check("access", "warn", "everybody on Telegram may use the bot", do)
    if named + paired == 0:
        return Check("access", "warn", "nobody may use the bot yet", "send it the code that `run` prints")
    return Check("access", "ok", f"{plural(named, 'user')} named in the settings, {paired} paired")


def http(*, port: int | None, host: str, token_set: bool, token_long: bool = True) -> Check:
    """Judge the HTTP server's door."""
    if port is None:
        return Check("http", "ok", "the HTTP server is off")
    if token_set and not token_long:
        do = f"set one of {HTTP_TOKEN_CHARS} characters or more, such as `openssl rand -hex 32` prints"
        says = f"HTTP listens on {host}:{port} with a token that can be guessed"
        return Check("http", "warn" if is_loopback(host) else "fail", says, do)
    if not token_set and not is_loopback(host):
        do = "set CONTINUITY_HTTP_TOKEN, or listen on 127.0.0.1"
        return Check("http", "fail", f"HTTP listens on {host}:{port} without a token", do)
    if not token_set:
        return Check("http", "warn", f"HTTP listens on {host}:{port} without a token", "set CONTINUITY_HTTP_TOKEN")
    return Check("http", "ok", f"HTTP listens on {host}:{port} with a token")


def timezone(name: str, local_time: str) -> Check:
    """Say the time zone and what time it is there, so that a wrong one is seen."""
    return Check("timezone", "ok", f"{name}, where it is {local_time}")


def clock(latest_ms: int, now_ms: int) -> Check:
    """Judge the machine's clock by what was stored before."""
    if latest_ms > now_ms + FUTURE_MS:
        ahead = ago(latest_ms - now_ms).removesuffix(" ago")
        return Check("clock", "warn", f"the last turn was stored {ahead} in the future", "set the machine's clock")
    return Check("clock", "ok", "no turn lies in the future")


# --- files ----------------------------------------------------------------------------------------------------------


def permissions(modes: Mapping[str, int]) -> list[Check]:
    """Judge the modes of files (0600) and folders (0700): path → st_mode."""
    open_to_others = {path: mode for path, mode in modes.items() if mode & 0o077}
    if not open_to_others:
        return [Check("files.permissions", "ok", "files and folders are their owner's alone")]
    return [
        Check(
            "files.permissions",
            "warn",
            f"{path} can be {'written' if mode & 0o022 else 'seen'} by others (mode {mode & 0o777:04o})",
            f"chmod {mode & 0o700:o} {path}",
        )
        for path, mode in open_to_others.items()
    ]


def writable(denied: Sequence[str]) -> Check:
    """Judge whether this user may write what the bot has to write."""
    if denied:
        do = "run it as their owner, or change their owner"
        return Check("files.writable", "fail", f"this user cannot write {joined(denied)}", do)
    return Check("files.writable", "ok", "data and checkpoints can be written")


def checkpoint_folder(folder: str, *, there: bool, is_folder: bool, readable: bool) -> Check:
    """Judge the folder of checkpoints; a missing one is made when it is needed."""
    name = "checkpoints.folder"
    if there and not is_folder:
        return Check(name, "fail", f"{folder} is no folder", "move it away, or name another CONTINUITY_CHECKPOINT_DIR")
    if there and not readable:
        return Check(name, "fail", f"this user cannot read {folder}", "run it as their owner, or change their owner")
    return Check(name, "ok", folder if there else f"{folder} is made when it is needed")


def file_system(kind: str | None, folder: str) -> Check:
    """Judge the file system under the database: WAL needs shared memory, which network file systems do not give."""
    if kind in NETWORK_FILE_SYSTEMS:
        return Check("files.filesystem", "fail", f"{folder} is on {kind}", "move the database to a local disk")
    return Check("files.filesystem", "ok", f"{folder} is on {kind or 'a file system of unknown kind'}")


def disk_space(free_bytes: Mapping[str, int]) -> Check:
    """Judge the free space of each folder: path → bytes; those that cannot be looked at are not in it."""
    if not free_bytes:
        return Check("disk.space", "warn", "the free space cannot be seen", "run it as the owner of the data")
    folder, least = min(free_bytes.items(), key=lambda item: item[1])
    says = f"{size(least)} free at {folder}"
    if least < DISK_FAIL_BYTES:
        return Check("disk.space", "fail", says, "make room: without it no message is taken")
    if least < DISK_WARN_BYTES:
        return Check("disk.space", "warn", says, "make room soon")
    return Check("disk.space", "ok", says)


def files(count: int, count_bytes: int, missing: int) -> Check:
    """Judge the files that people sent: how many there are, and of how many the bytes cannot be found."""
    if missing:
        do = "restore them from a backup; what was read from them is still known"
        return Check("files", "warn", f"the bytes of {plural(missing, 'file')} of {count} cannot be found", do)
    return Check("files", "ok", f"{plural(count, 'file')}, {size(count_bytes)}")


# --- SQLite ---------------------------------------------------------------------------------------------------------


def has_wal_reset_bug(version: tuple[int, int, int]) -> bool:
    """Return True for SQLite 3.7.0 to 3.51.2 except where the repair was carried back."""
    if not WAL_RESET_SINCE <= version < WAL_RESET_FIXED:
        return False
    backport = WAL_RESET_BACKPORTS.get(version[:2])
    return backport is None or version[2] < backport


def sqlite_version(text: str) -> Check:
    """Judge SQLite's version by the WAL-reset bug; one writing connection, as the bot keeps it, does not meet it."""
    parts = [int(part) for part in text.split(".")[:3]]
    version = (parts[0], parts[1], parts[2] if len(parts) > 2 else 0)  # noqa: PLR2004 - major, minor, patch
    if has_wal_reset_bug(version):
        return Check(
            "sqlite.version",
            "warn",
            f"SQLite {text} has the WAL-reset bug: two writers at the same moment can corrupt the database",
            "let nothing but the bot write to it; upgrade to 3.51.3, 3.50.7 or 3.44.6",
        )
    return Check("sqlite.version", "ok", f"SQLite {text}")


def sqlite_wal(journal_mode: str) -> Check:
    """Judge the journal mode, which is a property of the file."""
    if journal_mode != "wal":
        do = "start the bot once; if it stays so, move the database to a local disk"
        return Check("sqlite.wal", "fail", f"journal_mode is '{journal_mode}', expected 'wal'", do)
    return Check("sqlite.wal", "ok", "journal_mode is wal")


def sqlite_synchronous(default: int, last_start_ms: int | None, now_ms: int) -> Check:
    """Judge synchronous, which each connection sets for itself: no start succeeds without FULL read back."""
    if default < SYNCHRONOUS_FULL and last_start_ms is None:
        do = "start the bot once: it sets FULL and refuses to go on without"
        return Check("sqlite.synchronous", "warn", f"this SQLite's default is {default}", do)
    proven = "at the next start" if last_start_ms is None else f"at the last start ({ago(now_ms - last_start_ms)})"
    return Check("sqlite.synchronous", "ok", f"FULL, set and read back {proven}")


def postgres(settings: Mapping[str, Any]) -> Check:
    """Judge a server: an opening has read back already that it forgets nothing that it has confirmed."""
    version = str(settings["server_version"]).partition(" ")[0]
    if settings.get("data_checksums") == "off":
        do = "stop the server and run pg_checksums --enable: a byte that flips on its disk is not noticed now"
        return Check("postgres", "warn", f"PostgreSQL {version} has no data checksums", do)
    return Check(
        "postgres", "ok", f"PostgreSQL {version}, synchronous_commit={settings['synchronous_commit']}, fsync on"
    )


def sqlite_integrity(faults: Sequence[str] | None) -> Check:
    """Judge what SQLite's own check found; None when it was not asked."""
    if faults is None:
        return Check("sqlite.integrity", "ok", "not looked at: `doctor --deep` reads every page")
    if faults:
        do = "stop the bot, keep a copy of the files, restore a backup"
        return Check("sqlite.integrity", "fail", f"SQLite finds {plural(len(faults), 'fault')} in the file", do)
    return Check("sqlite.integrity", "ok", "every page is sound")


def sqlite_rows(altered: Sequence[str] | None) -> Check:
    """Judge rows that do not match their digest; None when they were not looked at."""
    if altered is None:
        return Check("sqlite.rows", "ok", "not looked at: `doctor --deep` reads every row")
    if altered:
        do = "see “A row that was altered” in docs/how-to/recover.md"
        return Check("sqlite.rows", "fail", joined(altered), do)
    return Check("sqlite.rows", "ok", "every row matches its digest")


def notes(wrong: Sequence[str], left: Mapping[str, int], *, looked_at: int) -> list[Check]:
    """Judge the notes of conversations against what was done to them, and say what older versions' notes were left."""
    checks = [Check("notes.match_changes", "ok", f"the notes of {plural(looked_at, 'conversation')} are as changed")]
    if wrong:
        says = f"the notes of {plural(len(wrong), 'conversation')} differ from what was done to them, first {wrong[0]}"
        checks = [Check("notes.match_changes", "fail", says, "stop the bot, `continuity-bot hydrate --all`")]
    if left:
        told = ", ".join(f"{count} {reason.replace('_', ' ')}" for reason, count in sorted(left.items()))
        checks.append(Check("notes.carried_over", "ok", f"of what an older version noted was left behind: {told}"))
    return checks


def sqlite_files(deleted: Sequence[str]) -> Check:
    """Judge whether the running bot still holds files that have a name; deleted ones would lose every later commit."""
    if deleted:
        do = "restart the bot at once; let no other program open or delete these files"
        return Check("sqlite.files", "fail", f"the running bot writes to a deleted file: {deleted[0]}", do)
    return Check("sqlite.files", "ok", "database and WAL are where they belong")


def keeper(model: str, last: Sequence[str]) -> Check:
    """Judge whether the model that keeps the notes answers as it should; `last` says how its last readings went."""
    name = "keeper"
    if last and all(error == "ContractBroken" for error in last):
        says = f"{model} kept no notes {len(last)} times in a row, so rules keep them until the next start"
        return Check(name, "warn", says, "name a stronger model in CONTINUITY_MEMORY_MODEL and start again")
    if last and all(last):
        return Check(
            name, "warn", f"{model} failed {len(last)} times in a row ({last[0]})", "look at its key and limits"
        )
    return Check(name, "ok", f"{model} keeps the notes")


def schema_version(current: int, ahead: Sequence[int], pending: Sequence[str]) -> Check:
    """Judge the database's schema against the program's."""
    if ahead:
        says = f"the database has schema {ahead[-1]:04d}, which this program does not know yet"
        return Check("schema.version", "fail", says, "upgrade the program or restore a backup")
    if pending:
        return Check(
            "schema.version", "warn", f"{joined(pending)} pending", "`continuity-bot migrate`, or start the bot"
        )
    return Check("schema.version", "ok", f"schema {current:04d}")


# --- the bot --------------------------------------------------------------------------------------------------------


def workers(lines: Sequence[str], silent: Sequence[str], kept: int) -> Check:
    """Judge the processes that share the work: `silent` ones, and how many do what is done once."""
    if silent:
        return Check("workers", "warn", f"silent: {joined(silent)}", "the others take its work up within seconds")
    if lines and kept != 1:
        do = "look again in a few seconds; if it stays so, look at their logs"
        return Check("workers", "warn", "nobody polls or keeps time just now", do)
    return Check("workers", "ok", joined(lines) if lines else "nobody is at work")


def lock(*, runs: bool, pid: int | None, boots: int, stopped_cleanly: bool) -> Check:
    """Judge the lock and how the last run ended."""
    if runs:
        return Check("lock", "ok", f"held by the running bot{f' (process {pid})' if pid else ''}")
    if boots and not stopped_cleanly:
        return Check("lock", "warn", "free, but the last run did not stop in order", "start it: it carries on")
    return Check("lock", "ok", "free: the bot is not running")


def traffic(inbox: Mapping[str, int], outbox: Mapping[str, int], oldest_ms: int | None, *, runs: bool) -> list[Check]:
    """Judge what waits: `oldest_ms` is the age of the oldest unfinished update."""
    quarantined, failed = inbox.get("quarantined", 0), outbox.get("failed", 0)
    checks = []
    if quarantined:
        do = "`continuity-bot quarantine list`"
        checks.append(Check("inbox", "warn", f"{plural(quarantined, 'update')} given up on", do))
    if runs and oldest_ms is not None and oldest_ms > STUCK_MS:
        do = "look at the log; a restart takes it up again"
        checks.append(Check("inbox", "warn", f"a message came {ago(oldest_ms)} and still waits", do))
    if failed:
        says = f"{plural(failed, 'message part')} refused by Telegram for good"
        checks.append(Check("outbox", "warn", says, "see the log for the reason"))
    return checks or [Check("inbox", "ok", "nothing was given up on and nothing is stuck")]


def checkpoints_match(verdicts: Sequence[Verdict], set_aside: Sequence[str], *, looked_at: int, of: int) -> list[Check]:
    """Judge the checkpoints against the log."""
    wrong = [verdict for verdict in verdicts if verdict.level == "wrong"]
    scope = plural(of, "session") if looked_at == of else f"the latest {looked_at} of {of} sessions"
    checks = []
    if wrong:
        says = f"{plural(len(wrong), 'session')} not in order, first {wrong[0].session_id}"
        do = (
            "stop the bot, `continuity-bot hydrate --all`; for what no checkpoint has a copy of, "
            "`hydrate --all --from BACKUP`, or `--accept` to take it as it is"
        )
        checks.append(Check("checkpoints.match_log", "fail", says, do))
    else:
        checks.append(Check("checkpoints.match_log", "ok", f"{scope} agree with the log"))
    if set_aside:
        says = f"{plural(len(set_aside), 'damaged checkpoint')} set aside, the latest {set_aside[-1]}"
        checks.append(Check("checkpoints.set_aside", "warn", says, "delete them when you have looked at them"))
    return checks
