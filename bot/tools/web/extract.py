"""The text of a page, taken out in a process of its own: a hostile page costs it memory and time, and nothing else.

As a program it reads the page from its input and writes one object of JSON: title, date, text.
"""

from __future__ import annotations

import os
import resource
import signal
import sys
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import orjson

LONGEST_S: Final = 20
MEMORY_BYTES: Final = 768 * 1024**2
FEW_CHARS: Final = 250
"""Less than this is no article: the whole page is told instead."""
_FILE: Final = str(Path(__file__).resolve())
"""Run by its path: the bot's packages would cost the child half a second."""


class PageUnreadable(Exception):
    """Nothing could be taken out."""


@dataclass(frozen=True, slots=True)
class PageText:
    """The text of a page."""

    title: str
    date: str
    """`2026-11-25`; "" when it does not say."""
    text: str
    """With its links in brackets, `[words](address)`."""


def decoded(body: bytes, charset: str) -> str | None:
    """Return a body as text: many sites claim another charset than they use; None where a guess is needed."""
    for name in ("utf-8-sig", charset):
        with suppress(UnicodeError, LookupError):
            return body.decode(name)
    return None


async def extract(body: bytes, url: str, charset: str) -> PageText:
    """Return the text of an HTML page. Raises `PageUnreadable`."""
    import asyncio  # the child, which runs this file too, has no use for it

    child = await asyncio.create_subprocess_exec(
        sys.executable,
        _FILE,
        url,
        charset[:40],
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        env={"PYTHONSAFEPATH": "1", "PYTHONUTF8": "1", "PYTHONDONTWRITEBYTECODE": "1"},
        cwd="/",
        start_new_session=True,
    )
    try:
        async with asyncio.timeout(LONGEST_S):
            out, _ = await child.communicate(body)
        found = orjson.loads(out)
        return PageText(**found)
    except (TimeoutError, orjson.JSONDecodeError, TypeError) as exc:
        raise PageUnreadable from exc
    finally:
        with suppress(ProcessLookupError):
            os.killpg(child.pid, signal.SIGKILL)
        await child.wait()


def _taken(page: str | bytes, url: str) -> PageText:
    sys.modules["py3langid"] = None  # type: ignore[assignment]  # nobody asks for the language: with numpy, half of the start
    import trafilatura

    found = trafilatura.bare_extraction(page, url=url, include_links=True, include_tables=True, with_metadata=True)
    title, date, text = (str(getattr(found, name, "") or "") for name in ("title", "date", "text"))
    if len(text) < FEW_CHARS:
        whole = trafilatura.html2txt(page)
        text = whole if len(whole) > len(text) else text
    return PageText(title, date, text)


def main() -> None:
    """Take the text out of the page on the input, within little room and time."""
    for what, most in (
        (resource.RLIMIT_AS, MEMORY_BYTES),
        (resource.RLIMIT_CPU, LONGEST_S),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_CORE, 0),
    ):
        resource.setrlimit(what, (most, most))
    url, charset = sys.argv[1:]
    body = sys.stdin.buffer.read()
    text = decoded(body, charset)
    found = _taken(body if text is None else text, url)
    safe = {"title": found.title, "date": found.date, "text": found.text}
    sys.stdout.buffer.write(
        orjson.dumps({name: value.encode(errors="replace").decode() for name, value in safe.items()})
    )


if __name__ == "__main__":
    main()
