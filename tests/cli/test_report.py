"""The reports in a browser, at the width of a desk and of a telephone."""

import base64
import re
import shutil
import subprocess
from importlib.resources import files

import numpy as np
import pandas as pd
import pytest
from matplotlib.image import imread

import zonal
from zonal.cli.chosen import choices, length_scales
from zonal.cli.report import figures
from zonal.features import Standardizer

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
        "What matters",
        "Partial dependence",
        "Selected, and why",
        "Regularisation",
        "Seconds",
    ):
        assert f"<h2>{title}" in page
    # Predictions, intervals, regularisation; partial dependence on each of three columns.
    assert page.count("<img ") == page.count('alt="') == 9
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


def test_figures_follow_the_page_at_night():
    """Words and axes have one colour, which a rule inside the image changes; data keep theirs."""
    drawing = figures.residuals(np.arange(50.0), np.arange(50.0) + 1, "y")
    source = figures.as_image(drawing)
    image = base64.b64decode(source.removeprefix("data:image/svg+xml;base64,")).decode()
    day, night = figures.INK
    assert f'[style*="fill: {day}"] {{ fill: {night} !important; }}' in image
    assert image.count(f"fill: {day}") > 10
    assert "fill: #ffffff" not in image  # no background
    page = files("zonal.cli.report").joinpath("page.html").read_text("utf-8")
    assert "prefers-color-scheme: dark" in page


@needs_browser
@pytest.mark.parametrize(("scheme", "bright"), [(1, True), (0, False)])
def test_the_page_is_dark_at_night(report, tmp_path, scheme, bright):
    picture = tmp_path / "page.png"
    options = (f"--blink-settings=preferredColorScheme={scheme}", "--window-size=900,900")
    browse(*options, f"--screenshot={picture}", report.as_uri())
    pixels = imread(picture)[..., :3]
    assert (np.median(pixels) > 0.8) == bright
    assert (np.median(pixels) < 0.25) == (not bright)


def test_no_residual_is_left_out():
    """Those beyond the ends are counted there, and the furthest is told."""
    errors = np.r_[np.random.default_rng(0).standard_normal(2000), [-80.0, 90.0, 120.0]]
    axes = figures.spread(errors, np.zeros_like(errors)).axes[0]
    assert sum(bar.get_height() for bar in axes.patches) == len(errors)
    told = " ".join(text.get_text() for text in axes.get_legend().get_texts())
    assert "up to 120" in told
    assert "up to -80" in told
    few = figures.spread(np.r_[np.zeros(50), 1000.0], np.zeros(51)).axes[0]
    assert sum(bar.get_height() for bar in few.patches) == 51
    assert few.get_legend() is None


def test_many_classes_have_names():
    names = [f"town {k}" for k in range(60)]
    axes = figures.confusion(np.eye(60, dtype=int), names).axes[0]
    ticks = [label.get_text() for label in axes.get_xticklabels()]
    assert len(ticks) >= 20
    assert set(ticks) <= set(names)
    places = axes.get_xticks()
    assert [names[int(place)] for place in places] == ticks


def test_all_maps_are_drawn_and_the_exact_solution():
    series = {f"map {k}": [(64, 0.1 + k), (256, 0.01 + k)] for k in range(14)}
    series["exact"] = [(540, 0.001)]
    for drawing in (figures.budgets(series, "error"), figures.budget_panels({"error": series})):
        axes = drawing.axes[0]
        assert {line.get_label() for line in axes.lines} == set(series)
        looks = [(line.get_color(), line.get_marker()) for line in axes.lines]
        assert len(set(looks)) == len(looks)
        assert [tick.get_text() for tick in axes.get_xticklabels()] == ["64", "256"]


def test_length_scales_have_the_names_of_columns():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.uniform(-3, 3, (400, 2)), columns=["fast", "slow"])
    y = np.sin(3 * X["fast"]) + 0.1 * X["slow"] + 0.01 * rng.standard_normal(400)
    kernel = zonal.Matern(1.5, np.array([1.0, 20.0]))
    local = zonal.NeighborKriging(kernel, noise=1e-3)
    model = zonal.KernelRidge(None, local=local, encoder=Standardizer()).fit(X, y)
    model.table_ = {"inputs": ["fast", "slow"], "target": "y"}
    scales = length_scales(model)
    assert [name for name, _ in scales] == ["fast", "slow"]
    assert [value for _, value in scales] == [1.0, 20.0]
    chosen = {what: value for what, value, _ in choices(model)}
    assert chosen["feature map"] == "none"
    assert "features" not in chosen
    assert "length_scale=1 to 20" in chosen["local part"]
