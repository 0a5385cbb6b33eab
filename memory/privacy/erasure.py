"""A session without some of its turns, and the other rows that carry their words. Pure."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any

import orjson

from memory.state import state_manager
from memory.storage.turn_rows import LoggedTurn, turn_digest
from memory.types import ConversationTurn, SessionState

MIN_TRACE_CHARS = 12
MAX_TRACE_CHARS = 60
"""Short, since a long text is stored over several pages of a file."""
MAX_TRACES = 40
MIN_OWN_WORD_CHARS = 4
_BREAKS = re.compile(r'[\n\r\t"\\.!?…]+')
_NAME = re.compile(r"[a-z]{1,6}_[0-9a-z_.]{1,64}|[a-z_]{1,16}|")
"""An id, or the name of a choice: no person's text, but for a single short word."""


def renumbered(kept: Sequence[LoggedTurn]) -> list[LoggedTurn]:
    """Return the remaining turns, oldest first, as 1, 2, 3 … with their chain digests made again (P8)."""
    previous, result = "", []
    for seq, logged in enumerate(kept, start=1):
        turn = logged.turn if logged.turn.seq == seq else logged.turn.model_copy(update={"seq": seq})
        previous = turn_digest(previous, turn)
        result.append(LoggedTurn(turn, previous))
    return result


def moved(before: Iterable[LoggedTurn], after: Iterable[LoggedTurn]) -> list[LoggedTurn]:
    """Return the turns whose rows change, in an order of writing in which no two ever share a seq."""
    known = {logged.turn.turn_id: (logged.turn.seq, logged.digest) for logged in before}
    return [logged for logged in after if known[logged.turn.turn_id] != (logged.turn.seq, logged.digest)]


def blank(old: SessionState) -> SessionState:
    """Return the state from which the remaining turns are folded again."""
    state = state_manager.new_state(old.session_id, old.conversation_id)
    decided = ("isolated", "private", "after_private")
    return state.model_copy(update={name: getattr(old, name) for name in decided})


def is_summed_up(state: SessionState, seq: int) -> bool:
    """Return whether the compaction in force covers this turn."""
    mark = state.compaction
    return mark is not None and not mark.leaves(seq)


def carried(new: SessionState, old: SessionState, left: Collection[str]) -> SessionState:
    """Return the refolded state with the old one's decisions by hand: a pause, an edited message.

    `left` are the ids of its turns. Its views of the ledger are empty until it is saved again. The compaction goes: its
    summary covers gone turns, and the next turn makes another when it is due.
    """
    resting = old.status in {"paused", "resuming", "shutdown_clean"}
    return new.model_copy(
        update={
            "status": old.status if resting else new.status,
            "undone": tuple(each for each in old.undone if each in left),
            "edited": tuple(each for each in old.edited if each in left),
            "edits": old.edits + 1,
        }
    )


def cited_by(state: SessionState) -> set[str]:
    """Return the ids of the turns behind a state's loops and the lines of its list, also of other sessions."""
    listed = state.listed.items if state.listed else ()
    return {loop.turn_id for loop in state.open_loops} | {item.ref.rpartition(".")[0] for item in listed if item.ref}


def without(state: SessionState, gone: Collection[str]) -> SessionState:
    """Return the state without loops and lists that speak of these turns, jobs or notes; the same when none does.

    A session may show, and take over, matters of another one.
    """
    loops = tuple(loop for loop in state.open_loops if not {loop.turn_id, loop.loop_id} & set(gone))
    items = state.listed.items if state.listed else ()
    tells = any(item.ref in gone or item.ref.rpartition(".")[0] in gone for item in items)
    if len(loops) == len(state.open_loops) and not tells:
        return state
    kept = {loop.loop_id for loop in loops}
    ended = {loop.loop_id for loop in state.open_loops} - kept
    entities = {phrase: meant for phrase, meant in state.resolved_entities.items() if meant not in ended}
    update = {"open_loops": loops, "resolved_entities": entities, "edits": state.edits + 1}
    return state.model_copy(update=update | ({"listed": None} if tells else {}))


def texts_of(turn: ConversationTurn) -> tuple[str, ...]:
    """Return all texts of a turn, with those of its tool calls."""
    return (turn.user_text, turn.assistant_text, *called_by(turn))


def called_by(turn: ConversationTurn) -> tuple[str, ...]:
    """The words of its tool calls: of the arguments no ids, and no names of choices."""
    said = ((spelled_out(call.arguments), call.result) for call in turn.tool_calls)
    return tuple(text for words, result in said for text in (*filter(_is_said, words), result))


def _is_said(text: str) -> bool:
    return not _NAME.fullmatch(text)


def traces(gone: Iterable[str], left: Iterable[str]) -> list[str]:
    """Return pieces of the gone texts that none of the left ones holds, the longest first, at most 40.

    Each is short and without characters that JSON escapes, so that a file has it letter by letter, if at all.
    """
    said = "\n".join(left)
    found = {piece for text in gone for piece in pieces(text)}
    return sorted((piece for piece in found if piece not in said), key=lambda piece: (-len(piece), piece))[:MAX_TRACES]


def pieces(text: str) -> list[str]:
    """The beginnings of its sentences, without characters that JSON escapes; of short words alone the longest.

    >>> pieces("Yes. The PIN is Zebrafish!")
    ['The PIN is Zebrafish']
    """
    found = [piece.strip()[:MAX_TRACE_CHARS] for piece in _BREAKS.split(text)]
    long = [piece for piece in found if len(piece) >= MIN_TRACE_CHARS]
    return long or sorted((piece for piece in found if len(piece) >= MIN_OWN_WORD_CHARS), key=len)[-1:]


def carries(payload: str, ids: Collection[str], words: Sequence[str]) -> bool:
    """Return whether a button's payload names a gone thing, repeats its words, or has any person's text.

    Ids and short names of choices stay; any other text is people's words, perhaps these.
    """
    if any(word in payload for word in words):
        return True
    try:
        found = list(strings_of(orjson.loads(payload)))
    except orjson.JSONDecodeError:
        return True
    return any(text in ids or not _NAME.fullmatch(text) for text in found)


def strings_of(value: Any) -> Iterator[str]:
    """Every string in a JSON value, keys aside."""
    if isinstance(value, str):
        yield value
    for each in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from strings_of(each)


def spelled_out(text: str) -> list[str]:
    r"""The strings of a JSON text, in which `\u2019` is one letter; any other text as it is."""
    try:
        return list(strings_of(orjson.loads(text)))
    except orjson.JSONDecodeError:
        return [text]
