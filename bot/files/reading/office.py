"""Pages of Word, sheets of Excel, slides of PowerPoint: text and tables; macros are neither run nor read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final

from bot.files.reading.archive import checked
from bot.files.reading.errors import Unreadable

Page = tuple[int, int, str]
MOST_ROWS: Final = 50_000
MOST_COLUMNS: Final = 200
_MACRO_DOCUMENT: Final = "application/vnd.ms-word.document.macroEnabled.main+xml"


def pages_of_office(reader: str, path: Path) -> Iterator[Page]:
    """Each page with its text. Raises `Unreadable`, and all errors of the library."""
    checked(path)
    return {"docx": _word, "xlsx": _excel, "pptx": _powerpoint}[reader](path)


def row_of(cells: Iterable[object]) -> str:
    """A row of a table as a line: `Rent | 1,240 | monthly`; "" for an empty one."""
    texts = [" ".join(str(cell).split()) if cell is not None else "" for cell in cells]
    while texts and not texts[-1]:
        texts.pop()
    return " | ".join(texts) if any(texts) else ""


def _word(path: Path) -> Iterator[Page]:
    """Pages as the program that saved the file laid them out; a file that does not tell is one page."""
    from docx.opc.part import PartFactory
    from docx.package import Package
    from docx.parts.document import DocumentPart
    from docx.table import Table

    PartFactory.part_type_for[_MACRO_DOCUMENT] = DocumentPart
    part = Package.open(str(path)).main_document_part
    if not isinstance(part, DocumentPart):
        raise Unreadable("damaged")
    page, lines = 1, list[str]()
    for block in part.document.iter_inner_content():
        if isinstance(block, Table):
            lines += filter(None, (row_of(_merged(cell.text for cell in row.cells)) for row in block.rows))
            continue
        if _breaks(block) and any(lines):
            yield page, page, "\n".join(lines)
            page, lines = page + 1, []
        lines.append(block.text.strip())
    yield page, page, "\n".join(lines)


def _merged(cells: Iterable[str]) -> Iterator[str]:
    """The cells of a row, those that are one in the table once."""
    before: str | None = None
    for cell in cells:
        if cell != before or not cell:
            yield cell
        before = cell


def _breaks(paragraph: Any) -> bool:
    """Whether a page begins in a paragraph."""
    found = paragraph._p.xpath(".//w:lastRenderedPageBreak | .//w:br[@w:type='page']")  # noqa: SLF001 - it has no other
    return bool(found)


def _excel(path: Path) -> Iterator[Page]:
    from openpyxl import load_workbook

    file = path.open("rb")  # by a path it goes by the name, and the store has none
    book = load_workbook(file, read_only=True, data_only=True, keep_links=False)
    sheets = book.worksheets
    for number, sheet in enumerate(sheets, 1):
        lines = [f"Sheet “{sheet.title}”"]
        for place, row in enumerate(sheet.iter_rows(max_col=MOST_COLUMNS, values_only=True)):
            if place >= MOST_ROWS:
                break
            if line := row_of(row):
                lines.append(line)
        yield number, len(sheets), "\n".join(lines) if len(lines) > 1 else ""


def _powerpoint(path: Path) -> Iterator[Page]:
    from pptx import Presentation

    slides = list(Presentation(str(path)).slides)
    for number, slide in enumerate(slides, 1):
        lines = [line for shape in slide.shapes for line in _shape(shape)]
        if slide.has_notes_slide and slide.notes_slide.notes_text_frame is not None:
            notes = slide.notes_slide.notes_text_frame.text.strip()
            lines += [f"Notes: {notes}"] if notes else []
        yield number, len(slides), "\n".join(filter(None, lines))


def _shape(shape: Any, depth: int = 0) -> Iterator[str]:
    if depth > 20:  # noqa: PLR2004 - a group in a group in a group: nobody draws that
        return
    for inner in getattr(shape, "shapes", ()):
        yield from _shape(inner, depth + 1)
    if getattr(shape, "has_table", False):
        yield from (row_of(cell.text for cell in row.cells) for row in shape.table.rows)
    elif getattr(shape, "has_text_frame", False):
        yield shape.text_frame.text.strip()
