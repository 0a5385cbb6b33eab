"""What a model returns when it has read a session, before anything of it is believed; and the port to such a model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal, Protocol

from pydantic import BaseModel, ConfigDict, Field

from memory.notes.types import Ending, LastingKind, LastingNote, Matter, MatterKind, ReadingRequest

SHOWN_MAX: Final = 12
"""How many notes of each kind are shown to the model."""


class _Drafted(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


class DraftMatter(_Drafted):
    """Something that goes on: a project, event, task, promise, question, theme or story thread."""

    kind: MatterKind
    text: str = Field(description="One line that stands alone, in the person's language and words; no he, she or it.")
    turns: list[int] = Field(description="Numbers of the turns that say it.")
    quote: str = Field("", description="A few words from one of these turns, copied exactly.")
    owner: str = Field("user", description="Who has to act: user, assistant, or a name as it was written.")
    due: str = Field("", description="The day as YYYY-MM-DD when one was said, else empty.")
    importance: float = Field(0.5, description="0 to 1: how much the person minds when it is forgotten.")
    continues: int | None = Field(None, description="Number of the open matter (M…) that this updates or corrects.")


class DraftNote(_Drafted):
    """A fact about the person, preference, constraint, relationship or decision that stays true."""

    kind: LastingKind
    text: str = Field(description="One line that stands alone, in the person's language and words.")
    turns: list[int] = Field(description="Numbers of the turns that say it.")
    quote: str = Field("", description="A few words from one of these turns, copied exactly.")
    importance: float = 0.5
    replaces: int | None = Field(None, description="Number of the lasting note (L…) that this corrects.")


class DraftEnd(_Drafted):
    """An open matter that is done, answered, over or not wanted any more."""

    matter: int = Field(description="Number of the open matter (M…).")
    turns: list[int] = Field(description="Numbers of the turns that end it.")
    ending: Ending = "settled"


class NotesDraft(_Drafted):
    """What is new in the session."""

    title: str = Field("", description="3 to 6 of the person's words that name the matter of the session.")
    standing: str = Field("", description="Where it stands: 2 to 5 short sentences in the person's words.")
    standing_turns: list[int] = Field(default_factory=list, description="Numbers of the turns that these rest on.")
    matters: list[DraftMatter] = Field(default_factory=list)
    lasting: list[DraftNote] = Field(default_factory=list)
    settled: list[DraftEnd] = Field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Drafting:
    """A draft and what it cost."""

    draft: NotesDraft
    input_tokens: int
    output_tokens: int
    cost_nanodollars: int | None = None
    """None when nobody knows the price."""


Reason = Literal[
    "cites nothing", "foreign text", "no such quote", "number", "name", "words", "language", "order", "shape"
]
"""Why an item of a draft was not kept."""


class ModelReader(Protocol):
    """Asks a model to read a session."""

    @property
    def name(self) -> str:
        """The id of the model."""
        ...

    def estimate(self, request: ReadingRequest) -> int:
        """Return about how many tokens asking it costs."""
        ...

    async def __call__(self, request: ReadingRequest) -> Drafting:
        """Return its draft. Raises whatever goes wrong; the caller does without."""
        ...


def shown_matters(request: ReadingRequest) -> list[Matter]:
    """Return the open matters that a draft may refer to as 1, 2, 3 …: those of this session, then the earlier ones."""
    own = [matter for matter in (request.notes.matters if request.notes else ()) if matter.status == "open"]
    return [*own, *_unlike(request.open_matters, {matter.matter_id for matter in own})][:SHOWN_MAX]


def shown_lasting(request: ReadingRequest) -> list[LastingNote]:
    """Return the lasting notes that a draft may refer to, likewise."""
    own = list(request.notes.lasting if request.notes else ())
    known = {note.note_id for note in own}
    return [*own, *(note for note in request.lasting if note.note_id not in known)][:SHOWN_MAX]


def _unlike(matters: Sequence[Matter], known: set[str]) -> list[Matter]:
    return [matter for matter in matters if matter.matter_id not in known]
