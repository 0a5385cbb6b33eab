"""Answers without a language model: notes plain statements, finds them again, and says where it needs a model."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence

import structlog

from bot import replies
from bot.answers.answer_buttons import undo_buttons
from bot.answers.responder import Answer, Ask, Show
from bot.offline import answers
from bot.offline.answers import Reply, own
from bot.offline.dated import over
from bot.offline.forms import content_of, first_match, plain, trimmed
from bot.offline.reader import Read, understood
from bot.offline.safety import context_of
from bot.offline.words import Words, codes, language_of, words_of
from bot.sentences import base_of
from bot.tools.tool import Tool
from memory.ledger.apply import apply_all
from memory.ledger.types import Actor, Add, Applied, End, Ledger, Operation, Outcome
from memory.ledger.views import to_do, within
from memory.text import shorten

log = structlog.get_logger(__name__)


class OfflineResponder:
    """`bot.answers.responder.Responder` without a model: deterministic, from the ledger and the hits of the search."""

    def tools(self, further: tuple[Tool, ...] = (), *, only_reads: bool = False) -> str:  # noqa: ARG002 - nobody is offered any
        """Return nothing: there is no model that calls any."""
        return ""

    def instructions(self, ask: Ask) -> str:  # noqa: ARG002 - the port names it
        """Return nothing: there is no prompt."""
        return ""

    def preface(self, persona: str) -> str:  # noqa: ARG002 - the port names it
        """Return nothing: there is no prompt."""
        return ""

    async def warm(self) -> None:
        """Load the language data; never raises."""
        try:
            await asyncio.to_thread(lambda: [words_of(code) for code in codes()])
        except Exception:
            log.exception("the words of the offline reader could not be loaded")

    async def close(self) -> None:
        """Do nothing: no connection was opened."""

    async def respond(self, ask: Ask, show: Show) -> Answer:
        """Return the answer; never raises NoAnswer."""
        answer = await asyncio.to_thread(respond, ask)
        show(answer.text)
        return answer


def respond(ask: Ask) -> Answer:
    """The answer to a message, in its language. Pure."""
    words = _words_for(ask)
    with replies.speaking(words.code):
        small = _small_talk(ask, words)
        found = Read() if small or ask.state.private else understood(ask.text, ask.ledger, context_of(ask))
        if found.operations or found.missing or found.forgets_all:
            return _done(ask, found)
        reply, action = small or _answered(ask, words)
        return Answer(
            reply.text,
            action_name=action,
            authored=reply.authored,
            operations=over(ask.ledger, ask.now_ms),
            hand="offline",
        )


def _words_for(ask: Ask) -> Words:
    """The words of the message's language; of one that greets so, when it is too short to tell."""
    text = plain(ask.text)
    words = words_of(language_of(text, ask.state.language or base_of(replies.spoken())))
    said = trimmed(text)
    spoken = (words_of(code) for code in codes())
    others = (each for each in spoken if _small(said, each))
    return words if _small(said, words) else next(others, words)


def _small(said: str, words: Words) -> str:
    """The kind of small talk that a whole message is; "" for anything else."""
    return next((name for name, patterns in words.small.items() if first_match(patterns, said) is not None), "")


def _done(ask: Ask, found: Read) -> Answer:
    """The answer that names changed notes, or asks for the missing fact."""
    by = Actor("offline", ask.now_ms, ask.turn_id)
    after, outcomes = apply_all(ask.ledger, found.operations, by)
    parts = answers.told(found.operations, outcomes, within(after, ask.scope), ask)
    parts += [*_missing(ask, found), *_zone_hint(ask, after, found.operations, outcomes)]
    if found.forgets_all:
        parts = [own("forget_all")]
    reply = answers.joined(parts)
    changed = any(isinstance(outcome, Applied) for outcome in outcomes)
    return Answer(
        reply.text,
        action_name=_action(found),
        authored=reply.authored,
        operations=(*found.operations, *over(ask.ledger, ask.now_ms)),
        hand="offline",
        buttons=undo_buttons(ask.turn_id) if changed else (),
    )


def _action(found: Read) -> str:
    if found.missing:
        return "asked_back"
    return "done" if any(isinstance(each, End) for each in found.operations) else "noted"


def _missing(ask: Ask, found: Read) -> list[Reply]:
    if found.missing == "which" and not found.operations:
        return [answers.bullets(own("which"), [answers.line(note, ask) for note in found.candidates])]
    return [own(f"ask_{found.missing}")] if found.missing in {"when", "what"} else []


def _zone_hint(ask: Ask, after: Ledger, operations: Sequence[Operation], outcomes: Sequence[Outcome]) -> list[Reply]:
    """By whose clock it rings, under the first reminder of somebody who never chose one."""
    done = zip(operations, outcomes, strict=True)
    new = [each.note for what, each in done if isinstance(what, Add) and isinstance(each, Applied) and each.note.rings]
    first = bool(new) and sum(note.rings for note in after) == len(new)
    return [own("zone_hint", zone=ask.time_zone)] if first and not ask.time_zone_chosen else []


def _small_talk(ask: Ask, words: Words) -> tuple[Reply, str] | None:
    kind = _small(trimmed(plain(ask.text)), words)
    if not kind:
        return None
    if kind != "hello":
        return own(kind), "small_talk"
    first_name = ask.user_name.split()[0] if ask.user_name else ""
    comma = "" if words.code in {"en", "de", "fr", "es", "it", "pt"} else ","
    hello = own("hello", name=f"{comma} {first_name}" if first_name else "")
    left = to_do(within(ask.ledger, ask.scope), ask.now_ms)
    if not left or ask.past_is_shown:
        return hello, "small_talk"
    return answers.joined(
        [hello, own("hello_open", text="; ".join(answers.line(n, ask) for n in left[:3]))]
    ), "small_talk"


def _answered(ask: Ask, words: Words) -> tuple[Reply, str]:
    """The answer to a question, or to words that no form fits."""
    text = plain(ask.text)
    said = trimmed(text).lstrip("¿¡ ")
    asked = {name: found for name, patterns in words.asks.items() if (found := first_match(patterns, said)) is not None}
    if reply := _asked(asked, ask, words):
        return reply, "asked"
    if "?" in text:
        return answers.about(said, ask, words) or own("beyond"), "asked"
    told_before = any(turn.action_name == "kept" for turn in ask.packet.history)
    return own("kept_again" if told_before else "kept"), "kept"


def _asked(asked: Mapping[str, Mapping[str, str]], ask: Ask, words: Words) -> Reply | None:
    """The answer to a question of a known form; None for any other."""
    notes = within(ask.ledger, ask.scope)
    if "open" in asked:
        return answers.open_list(notes, ask)
    if "who" in asked or "help" in asked:
        return own("who" if "who" in asked else "help")
    if "decided" in asked:
        return _decided(asked["decided"].get("what", ""), ask, words)
    if "all" in asked:
        return answers.known_list([note for note in notes if note.kind not in {"task", "promise"}], ask)
    found = asked.get("past") or asked.get("about")
    what = trimmed(found["what"]) if found else ""
    return (answers.about(what, ask, words) or _unknown(what, ask, words)) if found else None


def _decided(what: str, ask: Ask, words: Words) -> Reply:
    notes = within(ask.ledger, ask.scope)
    if named := content_of(what, words):
        notes = [note for note in notes if answers.fits(named, note.text, words)]
    return answers.known_list(notes, ask, ["decision"])


def _unknown(what: str, ask: Ask, words: Words) -> Reply:
    """The reply that nothing was said about it, to a question about the past; else that it is beyond a program."""
    of_the_past = first_match(words.asks["past"], trimmed(plain(ask.text)).lstrip("¿¡ ")) is not None
    return own("know_none", about=shorten(what, 60)) if of_the_past else own("beyond")
