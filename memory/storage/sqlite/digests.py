"""Digests of rows as each table declares them to its storage: the columns that count, the rows that are still read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final


@dataclass(frozen=True, slots=True)
class Digested:
    """How the rows of one table with a column `row_digest` are guarded; by default every column of every row counts."""

    progress: frozenset[str] = frozenset()
    """Columns about the progress of the work on a row, which change with each step: they are left out."""
    still_read: str = "1"
    """SQL that is true for a row that still matters, `{row}` before each column.

    Rows about things sent or answered are bookkeeping, and many. Such a row has no digest once it changes: SQLite takes
    `state = 'parked'` of a query for granted in all the rest of it, and may ask for the digest of a row that is done
    before it sees that the row is not parked.
    """
    written_whole: tuple[str, ...] = ()
    """A write of these columns writes all that counts: the row is sound again, even if it was altered before."""
    made_again: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    """Column → SQL for its value in an altered row, which is shown as if it were not there yet: it can be made again
    from other rows. An altered row of a table without such columns is left out.
    """


Digests = Mapping[str, Digested]
"""Name of a table → its declaration. A table without a name here has no digests, even with such a column."""

WHOLE: Final = Digested()

MEMORY_DIGESTS: Final[Digests] = MappingProxyType(
    {
        "compactions": WHOLE,
        "continuity_arcs": Digested(written_whole=("sources_json",)),
        "continuity_bootstrap_cache": Digested(written_whole=("fingerprint",)),
        "continuity_choices": Digested(written_whole=("mode",)),
        "continuity_preferences": Digested(written_whole=("mode",)),
        "continuity_relationship_states": Digested(written_whole=("state_json",)),
        "conversation_sessions": Digested(written_whole=("state_json",), made_again={"state_json": "''"}),
        "conversations": Digested(written_whole=("current_session_id",)),
        "jobs": WHOLE,
        "ledgers": Digested(written_whole=("left_json",), made_again={"epoch": "''", "left_json": "'{}'"}),
        "memories": WHOLE,
        "note_changes": WHOLE,
        "notes": Digested(made_again={"text": "''"}),
        "occurrences": Digested(made_again={"state": "''"}),
        "session_lines": Digested(
            written_whole=("title",),
            made_again={
                "title": "''",
                "standing": "''",
                "turn_ids_json": "'[]'",
                "worked_on_json": "'[]'",
                "read_through_seq": "0",
            },
        ),
        "session_notes": Digested(
            written_whole=("notes_json",), made_again={"notes_json": "''", "read_through_seq": "0"}
        ),
    }
)
"""The memory's own. A session can be made again from checkpoint and turns, its lines from the turns, a ledger and its
notes from their changes."""
