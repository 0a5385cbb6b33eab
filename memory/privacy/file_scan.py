"""A search for words in the raw bytes of files, in a process of its own; run as a script it is that process.

The live database must never be opened by its own process as a plain file: closing it would drop SQLite's locks. So a
child reads it. The script uses nothing but the standard library, since it runs apart from everything (`python -I`).
"""

from __future__ import annotations

import contextlib
import json
import mmap
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

LIMIT_S = 30.0


def found_in(path: Path, words: Sequence[str]) -> list[str]:
    """Return the words that the file holds, in UTF-8 or as JSON escapes them. Raises `OSError`.

    Only a regular file holds any: a folder has no bytes of its own, and reading a pipe would never end.
    """
    if not path.stat().st_size or not path.is_file():
        return []
    with path.open("rb") as file, contextlib.closing(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)) as data:
        return [word for word in words if any(data.find(form) >= 0 for form in _forms(word))]


def _forms(word: str) -> set[bytes]:
    return {word.encode(), json.dumps(word)[1:-1].encode()}


async def search(words: Sequence[str], files: Iterable[Path], limit_s: float = LIMIT_S) -> dict[str, list[str]] | None:
    """Return file → words found in it, for each file that exists; None when the search failed or took too long."""
    import asyncio  # the child, which runs this file too, has no use for it

    asked = json.dumps({"words": list(words), "files": [str(file) for file in files]}).encode()
    try:
        child = await asyncio.create_subprocess_exec(
            sys.executable, "-I", __file__, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE
        )
    except OSError:
        return None
    try:
        async with asyncio.timeout(limit_s):
            answer, _ = await child.communicate(asked)
    except TimeoutError:
        return None
    finally:
        if child.returncode is None:
            child.kill()
            await child.wait()
    return json.loads(answer) if child.returncode == 0 else None


def main() -> None:
    """Answer one request from standard input: words and files, as JSON."""
    asked = json.load(sys.stdin)
    found = {}
    for name in asked["files"]:
        with contextlib.suppress(FileNotFoundError):
            found[name] = found_in(Path(name), asked["words"])
    json.dump(found, sys.stdout)


if __name__ == "__main__":
    main()
