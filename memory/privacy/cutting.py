"""A message without the part that tells a forgotten matter (P13): the rest stays, or the message goes whole. Pure.

Sentences and clauses that tell it are cut, and the sentences beside them too, unless they are known to tell something
else: a sentence stays only where notes that stay speak for it. No language is known.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from memory.context.restating import SENTENCE, Matter, Said, known_by, matter_of
from memory.foreign import foreign, parts
from memory.keeper.wording import numbers
from memory.ledger.types import Note
from memory.privacy.calls import forgotten
from memory.privacy.erasure import spelled_out
from memory.search.same_words import Forms, forms_of, held, telling_forms
from memory.search.terms import calendar_words, hashed
from memory.types import ConversationTurn, ToolCall

_NAMED: Final = re.compile(r"(?<!\w)#(\d+)")
MARK: Final = "[…]"
"""Stands in a message in place of a cut part."""
_CLAUSE: Final = re.compile(r"(?<=[,;])\s+|(?<=[\uff0c\uff1b\u3001])|(?<!\s)\s+(?=[\u2013\u2014-]\s)")


@dataclass(frozen=True, slots=True)
class Cut:
    """A turn after the cut: the same one where no part of it tells the forgotten matter."""

    turn: ConversationTurn
    said: str = ""
    """The part cut from the person's words."""
    answered: str = ""


def word_keys(conversation_id: str, words: Iterable[Forms]) -> tuple[str, ...]:
    """The words asked for, as a button may carry them: hashed, in each of their forms.

    >>> word_keys("c", [frozenset({("", "key")})])
    ('w_671bfa19d1',)
    """
    return tuple(sorted({_key(conversation_id, form) for forms in words for form in forms}))


def _key(conversation_id: str, form: tuple[str, str]) -> str:
    return f"w_{hashed(conversation_id, form[1])}"


class Cutting:
    """Cuts out of turns the parts that tell some notes, or hold some words."""

    def __init__(
        self, gone: Sequence[Note], words: Collection[str], staying: Sequence[Note], said: Iterable[str], here: str
    ) -> None:
        """Read the notes gone and staying; `words` are `word_keys` of the conversation `here`, `said` its messages."""
        gone = [note for note in gone if not note.is_wordless]
        texts = [f"{note.text}\n{note.subject}" for note in gone]
        self._matter = Matter(map(matter_of, gone), (*said, *(note.text for note in staying)))
        self._staying, self._known = staying, known_by(staying)
        self._numbers = {value for text in texts for _, value in numbers(text)} - self._known.numbers
        self._things = {word: forms for text in texts for word, forms in self._new(text).items()}
        self._words, self._here = frozenset(words), here

    def of(self, turn: ConversationTurn) -> Cut | None:
        """The turn without the telling parts; None when too little is left of the person's words."""
        beside = frozenset().union(*(forms_of(each.text) for each in self._staying if turn.turn_id in each.turn_ids))
        said, said_gone = self._without(turn.user_text, beside)
        answer, answer_gone = self._without(turn.assistant_text, beside)
        if not (said_gone or answer_gone):
            return Cut(turn)
        if said_gone and not telling_forms(said):
            return None
        authored = None if turn.authored is None else self._without(turn.authored, beside)[0]
        left = {"user_text": said, "assistant_text": answer, "authored": authored}
        calls = tuple(call if self._stays(call) else forgotten(call) for call in turn.tool_calls)
        return Cut(turn.model_copy(update={**left, "tool_calls": calls}), said_gone, answer_gone)

    def meets(self, turn: ConversationTurn) -> bool:
        """Return whether a turn has any word of the notes that go, even a name; without one it may use others."""
        return not forms_of(f"{turn.user_text}\n{turn.assistant_text}").isdisjoint(self._matter.forms)

    def _stays(self, call: ToolCall) -> bool:
        """Return whether a call of a cut turn names notes that all stay, and tells nothing of the forgotten matter."""
        named = {int(number) for number in _NAMED.findall(call.result)}
        told = "\n".join((*spelled_out(call.arguments), call.result))
        return bool(named) and named <= {note.number for note in self._staying} and not self._tells(told)

    def told(self, text: str) -> str:
        """The telling sentences of a text; the whole text when none tells by itself."""
        return "\n".join(each for each in _parted(SENTENCE, text) if self._tells(each)) or text

    def _without(self, text: str, beside: Forms) -> tuple[str, str]:
        """The rest of a text, with marks, and the part cut; somebody else's lines stay marked as theirs in both."""
        if not self._tells(text):
            return text, ""
        stretches = [(is_foreign, _parted(SENTENCE, stretch)) for is_foreign, stretch in parts(text)]
        fates = iter(self._fates([each for _, sentences in stretches for each in sentences], beside))
        left, cut = [], []
        for is_foreign, sentences in stretches:
            stay, go = "", ""
            for clause, stays in (fate for _ in sentences for fate in next(fates)):
                if stays:
                    stay += clause
                else:
                    stay = stay if stay.endswith(f"{MARK} ") else f"{stay}{MARK} "
                    go += clause
            left.append(foreign(stay.rstrip(" ")) if is_foreign else stay.rstrip(" "))
            cut.append(foreign(go.strip()) if is_foreign else go.strip())
        whole = "\n".join(left).rstrip()
        return (MARK, text) if self._tells(whole) else (whole, "\n".join(filter(None, cut)))

    def _fates(self, sentences: Sequence[str], beside: Forms) -> Iterator[list[tuple[str, bool]]]:
        """The clauses of each sentence, each with whether it stays."""
        telling = [self._tells(each) for each in sentences]
        going = [*telling]
        for step in (1, -1):
            is_beside = False
            for at in range(len(sentences))[::step]:
                is_beside = telling[at] or (is_beside and not self._stands(sentences[at], beside))
                going[at] |= is_beside
        for sentence, is_told, goes in zip(sentences, telling, going, strict=True):
            clauses = _parted(_CLAUSE, sentence)
            stay = [not goes or (is_told and self._is_noted(each)) for each in clauses]
            yield [(clause, stays and not (is_told and all(stay))) for clause, stays in zip(clauses, stay, strict=True)]

    def _tells(self, text: str) -> bool:
        """Return whether a part has a word or number of the notes that go alone, or tells these again."""
        if held(self._things, text) or any(value in self._numbers for _, value in numbers(text)):
            return True
        own = frozenset().union(*self._new(text).values()) if self._words else ()
        if any(_key(self._here, form) in self._words for form in own):
            return True
        return bool(self._matter.told_by(Said.of(text), self._known))

    def _new(self, text: str) -> dict[str, Forms]:
        """The words of a text in none of the staying notes; without days, which are said of many things."""
        words = telling_forms(text).items()
        known = self._known.forms
        return {word: forms for word, forms in words if word not in calendar_words() and known.isdisjoint(forms)}

    def _stands(self, sentence: str, beside: Forms) -> bool:
        """Return whether staying notes speak for a sentence: by a word of one resting on its turn, or by most words."""
        words = (forms for word, forms in telling_forms(sentence).items() if word not in calendar_words())
        own = frozenset().union(*(forms for forms in words if self._matter.forms.isdisjoint(forms)))
        return not own.isdisjoint(beside) or self._is_known(sentence)

    def _is_noted(self, clause: str) -> bool:
        """Return whether notes that stay speak for a clause beside a telling one: it tells nothing itself."""
        return self._is_known(clause) and not self._tells(clause)

    def _is_known(self, text: str) -> bool:
        """Return whether notes that stay have more than half of the words of a part."""
        words = telling_forms(text)
        return 2 * sum(not self._known.forms.isdisjoint(forms) for forms in words.values()) > len(words)


def _parted(at: re.Pattern[str], text: str) -> list[str]:
    """The parts of a text, each with the space behind it."""
    ends = [found.end() for found in at.finditer(text)]
    return [text[start:end] for start, end in zip([0, *ends], [*ends, len(text)], strict=True) if end > start]
