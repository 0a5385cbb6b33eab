"""Twenty documents with questions: what stands on which page, in tables, columns and seven alphabets and languages."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

from benchmarks.papers import epub, excel, pdf, powerpoint, scan, word

DATA = Path(__file__).with_name("papers_asked.json")
SENTENCES_A_PAGE = 14


@dataclass(frozen=True, slots=True)
class Asked:
    """A question, the words that answer it, and the page that they stand on."""

    question: str
    answer: str
    page: int


@dataclass(frozen=True, slots=True)
class Paper:
    """One document as it is sent."""

    name: str
    data: bytes
    asked: tuple[Asked, ...]


def papers() -> list[Paper]:
    """Return all twenty, the same at every call."""
    given = json.loads(DATA.read_text(encoding="utf-8"))
    return [_paper(each, given["filler"]) for each in given["papers"]]


def _paper(given: Mapping[str, object], filler: Mapping[str, Sequence[str]]) -> Paper:
    name, made = str(given["name"]), given["pages"]
    pages = [str(page) for page in made] if isinstance(made, list) else []
    chance = Random(name)
    idle = filler[str(given["language"])]

    def padded(page: str) -> str:
        lines = [chance.choice(idle).format(n=chance.randrange(100, 999)) for _ in range(SENTENCES_A_PAGE)]
        at = chance.randrange(len(lines))
        return "\n".join([*lines[:at], page, *lines[at:]])

    asked = tuple(Asked(*each) for each in given["asked"])  # type: ignore[attr-defined]
    return Paper(name, _data(given, [padded(page) for page in pages], chance), asked)


def _data(given: Mapping[str, object], pages: Sequence[str], chance: Random) -> bytes:
    kind = str(given["kind"])
    if kind == "columns":
        return pdf([[page[: len(page) // 2], page[len(page) // 2 :]] for page in pages])
    if kind == "excel":
        return excel({str(title): _rows(head, row, chance) for title, head, row in given["sheets"]})  # type: ignore[attr-defined]
    makers = {"pdf": pdf, "scan": scan, "word": word, "epub": epub}
    if kind in makers:
        return makers[kind](pages)
    if kind == "powerpoint":
        return powerpoint([(page.split("\n")[0], page) for page in pages])
    text = "\n\n".join(pages)
    return (f"<html><body><p>{text.replace(chr(10), '</p><p>')}</p></body></html>" if kind == "html" else text).encode()


def _rows(head: Sequence[str], rows: Sequence[Sequence[object]], chance: Random) -> list[Sequence[object]]:
    """Return a table of a hundred rows, those that are asked for among others."""
    others = [[f"Item {number}", *(chance.randrange(10, 9000) for _ in head[1:])] for number in range(100 - len(rows))]
    for row in rows:
        others.insert(chance.randrange(len(others)), list(row))
    return [head, *others]
