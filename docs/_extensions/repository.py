"""Pages that live elsewhere in the repository, and links to them.

Pages link as files do (`../benchmarks/results/local.md`), so that they work where the repository is
browsed. For the site, the files of `PAGES` are copied to their places among the pages, and every
link is turned into one between pages or, for files that are no pages, into one to the repository.
"""

import os
import re
from pathlib import Path

from sphinx.application import Sphinx
from sphinx.util import logging

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
RESULTS = ROOT / "benchmarks" / "results"
LINK = re.compile(r"(?<!`)\]\((?!\w+:|#)([^)\s]+?)(#[^)\s]*)?\)")
FENCE = re.compile(r"(^```.*?^```\n)", re.DOTALL | re.MULTILINE)
logger = logging.getLogger(__name__)


def pages() -> dict[Path, Path]:
    """Map each file outside docs that the site shows to its place under docs."""
    found = {
        ROOT / "CHANGELOG.md": DOCS / "changelog.md",
        ROOT / "CONTRIBUTING.md": DOCS / "contributing.md",
        ROOT / "SECURITY.md": DOCS / "security.md",
        ROOT / "benchmarks" / "README.md": DOCS / "benchmarks.md",
        ROOT / "benchmarks" / "data" / "README.md": DOCS / "data.md",
    }
    found |= {file: DOCS / "results" / file.name for file in sorted(RESULTS.glob("*.md"))}
    found |= {file: DOCS / "results" / file.name for file in sorted(RESULTS.glob("*.png"))}
    return {source: place for source, place in found.items() if source.exists()}


def copy(app: Sphinx) -> None:
    """Copy what changed; what did not is left alone, so that Sphinx does not read it again.

    Pages of earlier builds whose source is gone are removed.
    """
    places = pages()
    examples = {path.stem for path in (DOCS / "examples").glob("*.py")}
    old = [page for page in (DOCS / "results").glob("*") if page not in places.values()]
    old += [
        page
        for page in (DOCS / "gallery").glob("plot_*")
        if page.name.split(".")[0] not in examples
    ]
    for page in old:
        page.unlink()
    for source, place in places.items():
        place.parent.mkdir(exist_ok=True)
        content = source.read_bytes()
        if not place.exists() or place.read_bytes() != content:
            place.write_bytes(content)


def relink(app: Sphinx, docname: str, source: list[str]) -> None:
    """Turn links to files of the repository into links of the site."""
    page = DOCS / f"{docname}.md"
    if not page.exists():
        return
    places = pages()
    origin = next((file for file, place in places.items() if place == page), page)

    def turn(match: re.Match[str]) -> str:
        name, anchor = match[1], match[2] or ""
        target = Path(os.path.normpath(origin.parent / name))
        if not target.exists():
            logger.warning("%s links to %s, which is not there", origin, name, location=docname)
        place = places.get(target, target)
        if target.parent == DOCS / "examples" and target.suffix == ".py":
            place = DOCS / "gallery" / f"{target.stem}.rst"
        if place.is_relative_to(DOCS):
            return f"](/{place.relative_to(DOCS)}{anchor})"
        # What is no page is handed out with the site: it is complete, wherever it is hosted.
        return f"]({os.path.relpath(target, page.parent)})"

    parts = FENCE.split(source[0])
    source[0] = "".join(part if i % 2 else LINK.sub(turn, part) for i, part in enumerate(parts))


def setup(app: Sphinx) -> dict[str, bool]:
    """Tell Sphinx."""
    app.connect("builder-inited", copy, priority=100)
    app.connect("source-read", relink)
    return {"parallel_read_safe": True}
