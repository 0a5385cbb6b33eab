"""One file becomes lines of JSON on the way out: `{"page": 1, "text": "…"}`, then `{"end": …}` or `{"error": …}`.

The limits are set before a library that parses is imported, so that a hostile file can make it take only
little room, for a short while, and leave nothing behind.
"""

from __future__ import annotations

import json
import resource
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

MEMORY_BYTES: Final = 1024 * 1024**2
OPEN_FILES: Final = 64
LONGEST_CHARS: Final = 2_000_000
"""Of all text together; the rest is not read."""
MOST_PAGES: Final = 2000


def limit(cpu_s: int) -> None:
    """Take rights that this process does not need away from it, for good."""
    for what, most in (
        (resource.RLIMIT_AS, MEMORY_BYTES),
        (resource.RLIMIT_CPU, cpu_s),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_NOFILE, OPEN_FILES),
    ):
        resource.setrlimit(what, (most, most))


def say(**said: object) -> None:
    """Hand one line out at once: pages read are kept if this process ends."""
    sys.stdout.write(json.dumps(said, ensure_ascii=True) + "\n")
    sys.stdout.flush()


def pages_of(reader: str, path: Path) -> Iterator[tuple[int, int, str]]:
    """Each page with how many there are so far as is known. Raises `Unreadable`, and all errors of the libraries."""
    if reader == "pdf":
        from bot.files.reading.pdf import pages
    elif reader in ("docx", "xlsx", "pptx"):
        from bot.files.reading.office import pages_of_office

        return pages_of_office(reader, path)
    else:
        from bot.files.reading.plain import pages_of_plain

        return pages_of_plain(reader, path)
    return pages(path)


def read(reader: str, path: Path) -> None:
    """Hand out every page with its text, as far as it goes."""
    chars = shown = known = 0
    for number, total, text in pages_of(reader, path):
        known = max(total, number)
        if number > MOST_PAGES or chars >= LONGEST_CHARS:
            say(end="long", pages=known)
            return
        taken = text[: LONGEST_CHARS - chars]
        chars += len(taken)
        shown = number
        say(page=number, text=taken, pages=known)
    say(end="whole", pages=max(known, shown))


def main() -> None:
    """Read the file that is named, or make a small copy of a picture."""
    reader, path, cpu_s = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3])
    limit(cpu_s)
    sys.modules["numpy"] = None  # type: ignore[assignment]  # openpyxl would import it where it is, and it takes much room
    from bot.files.reading.errors import Unreadable

    try:
        if reader == "picture":
            from bot.files.reading.picture import small

            say(**small(path, int(sys.argv[4])))
        elif reader == "scan":
            from bot.files.reading.scan import drawn

            for page in drawn(path, [int(number) for number in sys.argv[4].split(",")]):
                say(**page)
        else:
            read(reader, path)
    except Unreadable as exc:
        say(error=exc.why)
    except MemoryError:
        say(error="memory")
    except RecursionError:
        say(error="damaged")
    except Exception as exc:  # noqa: BLE001 - a library's error over somebody's file; its text may repeat the file
        say(error="damaged", kind=type(exc).__name__)


if __name__ == "__main__":
    main()
