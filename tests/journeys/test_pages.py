"""Every command and every block of Python in README and documents runs as printed."""

import re

import pytest

from tests.journeys.harness import ROOT, script_of

# Copies that the site makes of pages for developers, whose commands need the repository.
COPIES = {"benchmarks.md", "contributing.md", "changelog.md"}
PAGES = [
    path
    for path in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    if not {"_build", "gallery"} & set(path.relative_to(ROOT).parts)
    and path.name not in COPIES
    and re.search(r"^```(python|sh)$", path.read_text(), re.MULTILINE)
]


README = ROOT / "README.md"
# Other processes import what these pages start.
FRESH = {ROOT / "docs" / "scale.md"}
# Twelve months of the globe take a minute; test_grids_and_dask.py has smaller grids.
LONGEST = FRESH | {ROOT / "docs" / "maps.md"}


@pytest.mark.slow
@pytest.mark.parametrize(
    "page",
    [
        pytest.param(page, marks=[pytest.mark.longest] if page in LONGEST else [])
        for page in PAGES
        if page != README
    ],
    ids=lambda page: str(page.relative_to(ROOT)),
)
def test_page(page, walk):
    (walk.fresh() if page in FRESH else walk).typed(script_of(page))


@pytest.mark.slow
def test_readme_gives_what_it_says(walk):
    """The page that is tried first: all imports are its own."""
    look = """
heights = earth.target[1::4]
print("inside", ((lower <= heights) & (heights <= upper)).mean())
"""
    told = walk.fresh().typed(script_of(README) + look)
    (score,) = re.findall(r"^0\.\d+$", told, re.MULTILINE)
    assert 0.95 < float(score) < 1
    (inside,) = re.findall(r"^inside (0\.\d+)$", told, re.MULTILINE)
    # Of 16,200 rows, whose errors go together in places: nine of ten, within two points.
    assert abs(float(inside) - 0.9) < 0.02


def test_all_pages_are_found():
    """A page with blocks is among them, and blocks of other languages are none."""
    names = {str(page.relative_to(ROOT)) for page in PAGES}
    assert {"README.md", "docs/first.md", "docs/howto/save.md", "docs/howto/sklearn.md"} <= names
    assert "docs/citing.md" not in names


def test_script_has_the_blocks_at_their_lines(tmp_path):
    page = tmp_path / "page.md"
    page.write_text(
        "# Title\n\n```python\nx = 1\n```\n\n```sh\npip install it\nls 'a b'\n```\n"
        "```python\nassert x == 1\n```\n```text\nno code\n```\n"
    )
    lines = script_of(page).splitlines()
    assert lines[3] == "x = 1"
    assert (
        lines[6] == """__import__("subprocess").run(["sh", "-e", "-c", "ls 'a b'"], check=True)"""
    )
    assert lines[11] == "assert x == 1"
    assert "no code" not in "".join(lines)
