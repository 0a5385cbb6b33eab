"""Pages of a PDF as pictures, by pypdfium2: a scan can only be seen."""

from __future__ import annotations

import base64
import io
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from bot.files.reading.errors import Unreadable

LONGEST_SIDE: Final = 1568
QUALITY: Final = 80


def drawn(path: Path, numbers: Sequence[int]) -> Iterator[dict[str, Any]]:
    """The page of each number as JPEG (`data`, base64); one that is not there, or cannot be drawn, is left out.

    Raises `Unreadable`.
    """
    import pypdfium2

    try:
        document = pypdfium2.PdfDocument(path)
    except pypdfium2.PdfiumError as exc:
        raise Unreadable("damaged") from exc
    for number in numbers:
        if not 1 <= number <= len(document):
            continue
        page = document[number - 1]
        try:
            picture = page.render(scale=LONGEST_SIDE / max(page.get_size(), default=1.0)).to_pil()
        except pypdfium2.PdfiumError:
            continue
        finally:
            page.close()
        out = io.BytesIO()
        picture.convert("RGB").save(out, "JPEG", quality=QUALITY)
        yield {"page": number, "data": base64.b64encode(out.getvalue()).decode("ascii")}
