"""Compare the figures of README and docs with their sources, or put them in (`--write`)."""

import sys
from pathlib import Path

from .pages import check, rewritten

ROOT = Path(__file__).parents[2]
# docs/theory quotes what the tests that it names demand, but for what is measured.
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
PAGES += sorted((ROOT / "docs" / "howto").glob("*.md"))
PAGES += sorted((ROOT / "docs" / "explanation").glob("*.md"))
PAGES += [ROOT / "docs" / "theory" / f"{name}.md" for name in ("reproduction", "open-questions")]
COPIES = {"changelog.md", "contributing.md", "security.md", "benchmarks.md", "data.md"}


def main(arguments: list[str]) -> int:
    pages = [page for page in PAGES if page.name not in COPIES]
    if "--write" in arguments:
        for page in pages:
            text = page.read_text()
            if (new := rewritten(text)) != text:
                page.write_text(new)
                print(f"{page.relative_to(ROOT)}: new figures")
    problems = [problem for page in pages for problem in check(page)]
    print("\n".join(problems) or "Every quoted figure agrees with its source.")
    return bool(problems)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
