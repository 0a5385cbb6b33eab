"""Every link between the documents leads somewhere: `.venv/bin/python .ci/links.py`. No network, no site is built.

Files, headings and pictures are looked for; addresses of the web are not.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from pages import BLOCK, INLINE, anchors, pages, text_of  # noqa: E402 - its folder has to be on the path first

LINK = re.compile(r"\]\(([^)\s]+)\)|\b(?:src|href|srcset)=\"([^\"\s]+)\"")


def broken(page: Path) -> list[str]:
    """Return a sentence for each link of a page that leads nowhere."""
    prose = INLINE.sub("", BLOCK.sub("", text_of(page)))
    found = []
    for match in LINK.finditer(prose):
        link = match[1] or match[2]
        if re.match(r"[a-z]+:", link):
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        if not target.exists():
            found.append(f"{page.relative_to(ROOT)}: {link} leads nowhere")
        elif anchor and anchor not in anchors(text_of(target)):
            found.append(f"{page.relative_to(ROOT)}: {link} names no heading")
    return found


if __name__ == "__main__":
    wrong = [sentence for page in pages() for sentence in broken(page)]
    print("\n".join(wrong) or f"{len(pages())} documents: every link leads somewhere.")
    sys.exit(bool(wrong))
