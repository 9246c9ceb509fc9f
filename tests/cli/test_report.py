"""The reports in a browser, at the width of a desk and of a telephone."""

import re
import shutil
import subprocess

import numpy as np
import pytest
from matplotlib.image import imread

BROWSER = shutil.which("chromium") or shutil.which("chromium-browser")
WIDTHS = {"desktop": 1280, "phone": 390}
needs_browser = pytest.mark.skipif(
    BROWSER is None, reason="Chromium is not installed (make chromium installs it on Debian)"
)


@pytest.fixture
def report(fitted, folder):
    return folder / "m.html"


def browse(*arguments):
    options = ["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"]
    done = subprocess.run(
        [BROWSER, *options, *arguments], capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_report_needs_nothing_else(report):
    page = report.read_text()
    assert not re.search(r"(?:src|href)=\"(?!data:)", page)
    assert "http://" not in re.sub(r"base64,[^\"]*", "", page)
    for title in (
        "Quality",
        "Predictions",
        "How sure it is",
        "Intervals",
        "Selected, and why",
        "Regularisation",
        "Seconds",
    ):
        assert f"<h2>{title}" in page
    assert page.count("<img ") == page.count('alt="') == 6
    assert "$" not in re.sub(r"base64,[^\"]*", "", page)


@needs_browser
@pytest.mark.parametrize("device", WIDTHS)
def test_report_fits_the_window(report, tmp_path, device):
    """No image is broken, and nothing sticks out on the right."""
    width = WIDTHS[device]
    probe = (
        "<script>addEventListener('load', () => { document.title = JSON.stringify(["
        "document.documentElement.scrollWidth, innerWidth,"
        "[...document.images].every(image => image.complete && image.naturalWidth > 0)]); });"
        "</script></body>"
    )
    probed = tmp_path / "probed.html"
    # Chromium's own windows are never narrower than 500 pixels; a frame may be.
    frame = (
        f'<iframe src="probed.html" style="width:{width}px;height:4000px;border:0"></iframe>'
        "<script>addEventListener('load', () => { document.title ="
        "document.querySelector('iframe').contentDocument.title; });</script>"
    )
    # The page itself lets no script run.
    page = re.sub(r"<meta http-equiv=[^>]*>", "", report.read_text())
    probed.write_text(page.replace("</body>", probe))
    (tmp_path / "frame.html").write_text(f"<title></title>{frame}")
    shown = browse(
        "--allow-file-access-from-files", "--virtual-time-budget=5000", "--dump-dom",
        f"--window-size={max(width, 600)},4200", (tmp_path / "frame.html").as_uri(),
    )  # fmt: skip
    found = re.search(r"<title>\[(\d+),(\d+),(\w+)\]</title>", shown)
    assert found, shown[:500]
    assert int(found[1]) <= int(found[2]) == width
    assert found[3] == "true"


@needs_browser
def test_report_can_be_seen(report, tmp_path):
    picture = tmp_path / "page.png"
    browse("--window-size=1280,2400", f"--screenshot={picture}", report.as_uri())
    pixels = np.asarray(imread(picture))[..., :3]
    assert pixels.shape == (2400, 1280, 3)
    # Blue points and lines of the figures are there.
    blue = (pixels[..., 2] > pixels[..., 0] + 0.3).mean()
    assert blue > 0.002
