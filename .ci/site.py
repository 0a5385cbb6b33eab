"""The documents as a site: the README is its first page, and links beyond docs/ lead to copies of what they name.

A hook of mkdocs, named in mkdocs.yml. The pages stay as they are: they are read in a checkout too.
"""

from __future__ import annotations

import posixpath
import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
MOVED = {ROOT / "README.md": "index.md", DOCS / "README.md": "documents.md"}
"""What has another place on the site than its path would give it."""
LINK = re.compile(r"(\]\()([^)\s]+)(\))|((?:src|href)=\")([^\"\s]+)(\")")


def place(path: Path) -> str:
    """Return where a file of the checkout stands on the site."""
    if path in MOVED:
        return MOVED[path]
    if path.is_relative_to(DOCS) and path.is_dir():
        return MOVED[DOCS / "README.md"]
    if path.is_relative_to(DOCS):
        return path.relative_to(DOCS).as_posix()
    name = path.relative_to(ROOT).as_posix().removeprefix(".")
    if path.is_dir():
        return f"source/{name}.md"
    return f"project/{name}" if path.suffix == ".md" else f"source/{name}{'' if path.suffix else '.txt'}"


def links(text: str) -> list[str]:
    """Return the links of a page that stay within the checkout."""
    found = [match[2] or match[5] for match in LINK.finditer(text)]
    return [link for link in found if not re.match(r"[a-z]+:|#", link)]


def on_files(files: Any, config: Any) -> Any:
    """Add the README, what stands beside it, and every file that a page links to."""
    files.remove(files.get_file_from_path("README.md"))
    pages = [*ROOT.glob("*.md"), *DOCS.rglob("*.md")]
    wanted = {(page.parent / link.partition("#")[0]).resolve() for page in pages for link in links(page.read_text())}
    for path in sorted({*pages, *wanted}):
        if path.is_relative_to(DOCS) and path not in MOVED:
            continue
        if path.is_dir():
            listed = "\n".join(f"- `{each.name}`" for each in sorted(path.iterdir()) if each.name[0] not in "._")
            content = f"# {path.relative_to(ROOT)}/\n\n{listed}\n"
            files.append(File.generated(config, place(path), content=content))
        else:
            files.append(File.generated(config, place(path), abs_src_path=str(path)))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Turn links that are right in the checkout into links that are right on the site."""
    came_from = {place(path): path for path in (*ROOT.glob("*.md"), *DOCS.rglob("*.md"))}
    here = came_from.get(page.file.src_uri)
    if here is None:
        return markdown

    def moved(match: re.Match[str]) -> str:
        before, link, after = (match[1], match[2], match[3]) if match[1] else (match[4], match[5], match[6])
        if re.match(r"[a-z]+:|#", link):
            return match[0]
        path, mark, anchor = link.partition("#")
        target = place((here.parent / path).resolve())
        # mkdocs leaves HTML alone: there the link has to be right from where the page ends up
        origin = posixpath.dirname(page.file.url if match[4] else page.file.src_uri)
        return f"{before}{posixpath.relpath(target, origin or '.')}{mark}{anchor}{after}"

    return LINK.sub(moved, markdown)
