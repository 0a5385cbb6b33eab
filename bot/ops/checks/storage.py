"""Checks of the database: SQLite or the server, the schema, rows, notes and checkpoints. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from bot.ops.checks.check import Check
from bot.ops.copies.checkpoints import Verdict
from bot.ops.format import joined
from bot.replies import ago, plural

WAL_RESET_SINCE = (3, 7, 0)


WAL_RESET_FIXED = (3, 51, 3)


WAL_RESET_BACKPORTS = {(3, 50): 7, (3, 44): 6}
"""The WAL-reset bug: two connections that write or checkpoint at the same moment can corrupt the database."""


SYNCHRONOUS_FULL = 2


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
    """Judge a server; that it keeps all that it confirms was read back when it was opened."""
    version = str(settings["server_version"]).partition(" ")[0]
    if settings.get("data_checksums") == "off":
        do = "stop the server and run pg_checksums --enable: a byte that flips on its disk is not noticed now"
        return Check("postgres", "warn", f"PostgreSQL {version} has no data checksums", do)
    return Check(
        "postgres", "ok", f"PostgreSQL {version}, synchronous_commit={settings['synchronous_commit']}, fsync on"
    )


def sqlite_integrity(faults: Sequence[str] | None) -> Check:
    """Judge the faults of SQLite's own check; None when SQLite was not asked."""
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
    """Judge the notes of conversations against their changes, and count older versions' notes left behind."""
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
