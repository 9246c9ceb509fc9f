"""The site builds without a warning, with every public name; tests/journeys run its examples."""

import re
import subprocess
import sys
import types
from pathlib import Path

import pytest

import zonal
from benchmarks.quotes.__main__ import PAGES

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
MODULES = (zonal, zonal.evaluation, zonal.grid, zonal.datasets, zonal.theory)


@pytest.mark.longest
@pytest.mark.slow
def test_site_builds_without_a_warning(tmp_path):
    """All pages, links between them and docstrings; the gallery is not run."""
    # Without a search for garbage among the nodes of all pages, which all stay.
    sphinx = "import gc, sys; gc.disable(); from sphinx.cmd.build import main; sys.exit(main())"
    command = [sys.executable, "-c", sphinx, "-q", "-W", "--keep-going", "-b", "dummy"]
    command += ["-D", "plot_gallery=0", "-d", str(tmp_path / "trees"), str(DOCS), str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__)
def test_reference_has_every_public_name(module):
    text = "\n".join(path.read_text() for path in (DOCS / "reference").glob("*.rst"))
    listed = set(re.findall(r"^   (\w+)$", text, re.MULTILINE))
    public = {name for name in module.__all__ if not name.startswith("_")}
    modules = {name for name in public if isinstance(getattr(module, name), types.ModuleType)}
    assert public - modules <= listed


def test_readme_is_short():
    assert len((ROOT / "README.md").read_text().splitlines()) <= 150


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md"])
def test_links_of_pages_outside_the_site(name):
    page = ROOT / name
    links = re.findall(r"\]\((?!\w+:|#)([^)#\s]+)", page.read_text())
    assert not [link for link in links if not (page.parent / link).exists()]


def test_pages_with_figures_are_checked():
    assert DOCS / "scale.md" in PAGES
    assert ROOT / "README.md" in PAGES


def test_version_is_the_same_everywhere():
    assert f"\nversion: {zonal.__version__}\n" in (ROOT / "CITATION.cff").read_text()
    assert f"\n## {zonal.__version__}\n" in (ROOT / "CHANGELOG.md").read_text()
