"""A report of a table whose names and words are HTML, scripts and TeX."""

import html.parser

import numpy as np
import pandas as pd
import pytest

from .console import as_json

SCRIPT = "<script>alert(1)</script>"
IMAGE = '"><img src=x onerror=alert(1)>'
TEX = r"a $\frac{1}{ b$"
PLAIN = (
    "head title style body main header h1 h2 p b span thead tbody tr ul li figure figcaption "
    "details summary"
)
ALLOWED = {
    "html": {"lang"},
    "meta": {"charset", "name", "content", "http-equiv"},
    "img": {"src", "alt"},
    "th": {"scope", "class"},
    **{tag: {"class"} for tag in ("div", "td", "table", "section")},
    **{tag: set() for tag in PLAIN.split()},
}


class Elements(html.parser.HTMLParser):
    """Collects the elements of a page, and its text."""

    def __init__(self):
        super().__init__()
        self.found, self.text = [], ""

    def handle_starttag(self, tag, attributes):
        self.found.append((tag, dict(attributes)))

    def handle_data(self, data):
        self.text += data


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    folder = tmp_path_factory.mktemp("hostile")
    rng = np.random.default_rng(0)
    words = np.array([SCRIPT, "=1+1", IMAGE])[rng.integers(0, 3, 300)]
    table = pd.DataFrame({SCRIPT: rng.normal(size=300), TEX: rng.normal(size=300), "w": words})
    target = "y<b>&amp;$"
    table[target] = np.sin(table[SCRIPT]) + (words == IMAGE)
    name = "t<i>.csv"
    table.to_csv(folder / name, index=False)
    as_json(
        "fit", name, "--target", target, "--features", "fourier", "--budget", 16,
        "--out", "m.zonal", "--report", "r.html", cwd=folder,
    )  # fmt: skip
    return (folder / "r.html").read_text()


def test_nothing_but_the_page_itself_is_markup(page):
    elements = Elements()
    elements.feed(page)
    for tag, attributes in elements.found:
        assert set(attributes) <= ALLOWED[tag], (tag, attributes)
        assert attributes.get("src", "data:image/").startswith("data:image/")
    for words in (SCRIPT, "y<b>&amp;$", "t<i>.csv"):
        assert words in elements.text  # they are shown, as the words that they are
        assert words not in page


def test_the_browser_is_told_to_load_and_run_nothing(page):
    elements = Elements()
    elements.feed(page)
    policies = [a["content"] for _, a in elements.found if a.get("http-equiv")]
    assert policies == [
        "default-src 'none'; img-src data:; style-src 'unsafe-inline'; base-uri 'none'; "
        "form-action 'none'"
    ]
