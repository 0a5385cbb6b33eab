"""The packet as text: the stable part first, the part of this turn last, both fenced as data (DESIGN section 7).

Providers cache the longest common beginning of two prompts. So a prompt is: instructions, then the history, whose first
message begins with the stable blocks (the notes as they stood at the session's first reply, earlier sessions, the
summary), then the message that is answered, which begins with the block that changes with every turn: changes of the
notes, events, finds. The person's words stand behind it. Nobody is made to say words of ours: there are no messages but
theirs.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from memory.context.fence import fence
from memory.context.transcript import (
    MEMBER_TITLE,
    MESSAGE_TOKENS,
    SOMEBODY,
    Company,
    PromptMessage,
    spoken,
    to_messages,
    turn_marks,
    user_message,
)
from memory.ledger.lines import brief_moment
from memory.packets import ConversationContextPacket, RetrievedItem
from memory.ports import TokenCounter
from memory.sessions.summarizer import HEADER

STABLE_TITLE: Final = "What the assistant remembers."
SUMMARY_TITLE: Final = "Summary of what came before the messages below."
TURN_TITLE: Final = "What bears on the next message, from the assistant's memory."
NOTICES_TITLE: Final = "What the program has to say."
NOTES: Final = "Notes, as they stood{when} (what changed since is told later)"
OPEN: Final = "Open then, and days to come"
EARLIER: Final = "Earlier conversations, as they stood then"
CHANGED: Final = (
    "Notes that bear on this, are new or changed since, as they stand now (“now”: in place of its line above)"
)
EVENTS: Final = "Since your last answer, by the clock and by what the person tapped"
FOUND: Final = "Found in what was said before"
_USER: Final = "User: "


def stable_text(packet: ConversationContextPacket) -> str:
    """Return the text that stays the same from turn to turn: notes, earlier sessions, summary; "" if none."""
    mark = packet.notes_mark
    when = f" on {brief_moment(mark.at_ms, mark.at_ms, mark.time_zone)}" if mark else ""
    known = _sections(
        (NOTES.format(when=when), packet.notes_lasting),
        (OPEN, packet.threads),
        (EARLIER, "\n".join(filter(None, (packet.last_conversation, packet.today)))),
    )
    lines = packet.rolling_session_summary.removeprefix(HEADER).lstrip()  # the fence's heading says the same
    summary = "\n".join(filter(None, (packet.standing, lines)))
    return "\n\n".join(filter(None, (fence(known, STABLE_TITLE), fence(summary, SUMMARY_TITLE))))


def turn_text(packet: ConversationContextPacket) -> str:
    """Return the text of this turn alone, fenced: changed notes, events, finds."""
    body = _sections(
        (CHANGED, packet.notes_changed),
        (EVENTS, packet.notes_events),
        (FOUND, "\n".join(retrieved_line(item, packet) for item in packet.retrieved)),
    )
    return fence(body, TURN_TITLE)


def reference_text(packet: ConversationContextPacket) -> str:
    """Return all blocks but the history, as they stand behind the instructions."""
    return "\n\n".join(filter(None, (stable_text(packet), turn_text(packet), files_text(packet))))


def prompt(packet: ConversationContextPacket, message: str) -> tuple[PromptMessage, ...]:
    """Return the messages for the model, without the instructions: roles alternate, the last is the user's."""
    said = spoken(packet.person if packet.is_group else "", user_message(message))
    before = (turn_text(packet), files_text(packet), notices_text(packet), clock_line(packet))
    last = PromptMessage("user", "\n\n".join(filter(None, (*before, said))))
    first, *others = (*to_messages(packet.history, company(packet), _marks(packet)), last)
    stable = stable_text(packet)
    return (PromptMessage("user", f"{stable}\n\n{first.text}") if stable else first, *others)


def _marks(packet: ConversationContextPacket) -> list[str]:
    return turn_marks(
        packet.history,
        packet.time_zone,
        times=packet.has_times,
        edited=packet.edited,
        taken_back=packet.taken_back,
    )


def company(packet: ConversationContextPacket) -> Company | None:
    """Return the company of a group, None where one person talks."""
    return Company(packet.speakers) if packet.is_group else None


def clock_line(packet: ConversationContextPacket) -> str:
    """Return the writer and the time by their clock, as far as it is known, and what the program asks of the model.

    It stands in no fence: it is ours, and to be followed.
    """
    who = f"From {packet.person}." if packet.person and not packet.is_group else ""
    when = f"It is {packet.local_time}." if packet.local_time else ""
    line = " ".join(filter(None, (who, when, *packet.orders)))
    return f"[{line}]" if line else ""


def files_text(packet: ConversationContextPacket) -> str:
    """Passages of files that bear on the message, fenced: somebody else wrote them; "" for none."""
    return fence(packet.files, packet.files_title)


def notices_text(packet: ConversationContextPacket) -> str:
    """Lines that the program puts before a message, fenced: they may repeat a note; "" for none."""
    return fence("\n".join(packet.notices), NOTICES_TITLE)


def tokens(packet: ConversationContextPacket, counter: TokenCounter) -> int:
    """Return the tokens of everything in the packet but the words of the history."""
    changing = (turn_text(packet), files_text(packet), notices_text(packet), clock_line(packet))
    blocks = filter(None, (stable_text(packet), *changing))
    marks = sum(map(counter.count, _marks(packet)))
    return sum(counter.count(block) + MESSAGE_TOKENS for block in blocks) + marks + _names_tokens(packet, counter)


def _names_tokens(packet: ConversationContextPacket, counter: TokenCounter) -> int:
    """Return the tokens that names and fences of a group's members add to their words."""
    if not packet.is_group:
        return 0
    frame = counter.count(fence("x", MEMBER_TITLE))
    fenced = sum(1 + len(turn.tool_calls) for turn in packet.history)
    names = (f"{packet.speakers.get(turn.user_id or 0, '')}: " for turn in packet.history)
    return fenced * frame + sum(map(counter.count, names))


def left_out(packet: ConversationContextPacket) -> int:
    """Return the number of the session's turns that are not shown verbatim."""
    return next((receipt.cut_items for receipt in packet.receipts if receipt.tier == "history"), 0)


def retrieved_line(item: RetrievedItem, packet: ConversationContextPacket) -> str:
    """Return a find as a line: its time, the note that rests on it, and the words, in a group with their speaker.

    `- Mon 23 Nov 19:20 (#12 task: Call Ana): User: I'll call Ana …`
    """
    note = f" ({item.note})" if item.note else ""
    text = item.text.strip()
    if packet.is_group and text.startswith(_USER):
        name = packet.speakers.get(item.user_id or 0, "") or SOMEBODY
        text = f"{name}: {text.removeprefix(_USER)}"
    return f"- {brief_moment(packet.context_compiled_at_ms, item.at_ms, packet.time_zone)}{note}: {text}"


def _sections(*sections: tuple[str, str]) -> str:
    return "\n\n".join(_titled(sections))


def _titled(sections: Iterable[tuple[str, str]]) -> Iterable[str]:
    for title, text in sections:
        if text.strip():
            yield f"{title}:\n{text.strip()}"
