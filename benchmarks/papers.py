"""Documents as people send them, made here: PDF with several columns and alphabets, Word, Excel, PowerPoint, EPUB."""

from __future__ import annotations

import io
import zipfile
import zlib
from collections.abc import Iterable, Sequence

LINE_CHARS = 88
LINES_A_PAGE = 48
LEADING = 14
_FONT = (
    b"<< /Type /Font /Subtype /Type0 /BaseFont /Made /Encoding /Identity-H /DescendantFonts [4 0 R] /ToUnicode 5 0 R >>"
)
_GLYPHS = (
    b"<< /Type /Font /Subtype /CIDFontType2 /BaseFont /Made /CIDSystemInfo "
    b"<< /Registry (Adobe) /Ordering (Identity) /Supplement 0 >> /DW 500 >>"
)


def pdf(pages: Sequence[str | Sequence[str]]) -> bytes:
    """Return a PDF with these pages; a page of several texts has them side by side, an empty one has no text at all.

    Its letters are numbers of a font of its own, with a table that says which sign each is: as programs write PDFs.
    """
    signs = sorted({char for page in pages for column in _columns(page) for char in column} | {" "})
    code = {char: number for number, char in enumerate(signs, 1)}
    streams = [_content(_columns(page), code) for page in pages]
    first_page = 6
    kids = " ".join(f"{first_page + 2 * number} 0 R" for number in range(len(pages)))
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>".encode(),
        _FONT,
        _GLYPHS,
        _stream(_to_unicode(code)),
    ]
    for number, stream in enumerate(streams):
        content = first_page + 2 * number + 1
        objects.append(
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents {content} 0 R "
            "/Resources << /Font << /F1 3 0 R >> >> >>".encode()
        )
        objects.append(_stream(stream))
    return file_of(objects)


def _columns(page: str | Sequence[str]) -> list[str]:
    return [page] if isinstance(page, str) else list(page)


def _content(columns: Sequence[str], code: dict[str, int]) -> bytes:
    """Return how a page is painted: column by column, each line at its place."""
    width = 515 // max(1, len(columns))
    most = max(20, LINE_CHARS // max(1, len(columns)) - 2)
    out: list[str] = []
    for place, column in enumerate(columns):
        out.append(f"BT /F1 10 Tf {LEADING} TL {40 + place * width} 790 Td")
        for line in wrapped(column, most):
            hexed = "".join(f"{code[char]:04x}" for char in line)
            out.append(f"<{hexed}> Tj T*" if hexed else "T*")
        out.append("ET")
    return "\n".join(out).encode() if any(columns) else b""


def wrapped(text: str, most: int) -> list[str]:
    """Return lines of at most so many characters."""
    lines: list[str] = []
    for paragraph in text.split("\n"):
        line = ""
        for word in paragraph.split(" "):
            if line and len(line) + 1 + len(word) > most:
                lines.append(line)
                line = word
            else:
                line = f"{line} {word}" if line else word
        lines.append(line)
    return lines


def _to_unicode(code: dict[str, int]) -> bytes:
    """Return the table from the numbers of a font to signs."""
    pairs = [f"<{number:04x}> <{char.encode('utf-16-be').hex()}>" for char, number in code.items()]
    blocks = [
        f"{len(pairs[at : at + 100])} beginbfchar\n" + "\n".join(pairs[at : at + 100]) + "\nendbfchar"
        for at in range(0, len(pairs), 100)
    ]
    head = "/CIDInit /ProcSet findresource begin 12 dict begin begincmap /CMapName /Made def /CMapType 2 def"
    space = "1 begincodespacerange <0000> <ffff> endcodespacerange"
    return "\n".join([head, space, *blocks, "endcmap end end"]).encode()


def _stream(data: bytes) -> bytes:
    packed = zlib.compress(data)
    return b"<< /Length %d /Filter /FlateDecode >>\nstream\n%b\nendstream" % (len(packed), packed)


def file_of(objects: Iterable[bytes]) -> bytes:
    """Return a PDF of these objects, the first of which is its catalogue."""
    out = io.BytesIO()
    out.write(b"%PDF-1.5\n")
    places = []
    for number, body in enumerate(objects, 1):
        places.append(out.tell())
        out.write(b"%d 0 obj\n%b\nendobj\n" % (number, body))
    table = out.tell()
    out.write(b"xref\n0 %d\n0000000000 65535 f \n" % (len(places) + 1))
    out.write(b"".join(b"%010d 00000 n \n" % place for place in places))
    out.write(b"trailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (len(places) + 1, table))
    return out.getvalue()


def scan(pages: Sequence[str]) -> bytes:
    """Return a PDF whose pages are pictures of these texts: there is nothing to copy out of it."""
    from PIL import Image, ImageDraw, ImageFont

    sheets = []
    for page in pages:
        sheet = Image.new("L", (1240, 1754), 255)
        text = "\n".join(wrapped(page, LINE_CHARS))
        ImageDraw.Draw(sheet).multiline_text((80, 80), text, fill=0, font=ImageFont.load_default(24), spacing=10)
        sheets.append(sheet)
    out = io.BytesIO()
    sheets[0].save(out, "PDF", save_all=True, append_images=sheets[1:], resolution=150)
    return out.getvalue()


def word(pages: Sequence[str], table: Sequence[Sequence[str]] = ()) -> bytes:
    """Return a Word file, a page break between two pages, with a table on the last."""
    from docx import Document

    document = Document()
    for number, page in enumerate(pages):
        if number:
            document.add_page_break()
        for paragraph in page.split("\n"):
            document.add_paragraph(paragraph)
    if table:
        made = document.add_table(rows=0, cols=len(table[0]))
        for row in table:
            for cell, text in zip(made.add_row().cells, row, strict=True):
                cell.text = text
    out = io.BytesIO()
    document.save(out)
    return out.getvalue()


def excel(sheets: dict[str, Sequence[Sequence[object]]]) -> bytes:
    """Return an Excel file."""
    from openpyxl import Workbook

    book = Workbook()
    book.remove(book.worksheets[0])
    for title, rows in sheets.items():
        sheet = book.create_sheet(title)
        for row in rows:
            sheet.append(list(row))
    out = io.BytesIO()
    book.save(out)
    return out.getvalue()


def powerpoint(slides: Sequence[tuple[str, str]]) -> bytes:
    """Return a PowerPoint file: a title and a text on each slide."""
    from pptx import Presentation

    presentation = Presentation()
    for title, text in slides:
        slide = presentation.slides.add_slide(presentation.slide_layouts[1])
        slide.shapes.title.text = title
        slide.placeholders[1].text = text
    out = io.BytesIO()
    presentation.save(out)
    return out.getvalue()


def epub(chapters: Sequence[str]) -> bytes:
    """Return an e-book."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("mimetype", "application/epub+zip")
        archive.writestr(
            "META-INF/container.xml",
            '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>'
            '<rootfile full-path="OPS/book.opf"/></rootfiles></container>',
        )
        items = "".join(f'<item id="c{n}" href="c{n}.xhtml"/>' for n in range(len(chapters)))
        spine = "".join(f'<itemref idref="c{n}"/>' for n in range(len(chapters)))
        archive.writestr(
            "OPS/book.opf",
            f'<package xmlns="http://www.idpf.org/2007/opf"><manifest>{items}</manifest><spine>{spine}</spine></package>',
        )
        for number, text in enumerate(chapters):
            body = "".join(f"<p>{paragraph}</p>" for paragraph in text.split("\n"))
            archive.writestr(f"OPS/c{number}.xhtml", f"<html><head><title>x</title></head><body>{body}</body></html>")
    return out.getvalue()
