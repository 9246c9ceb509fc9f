"""One word for one thing: budget; bandwidths that tell; what a report shows first."""

import numpy as np
import pytest
from sklearn.pipeline import Pipeline

import zonal
from zonal.cli.bandwidths import telling_bandwidth
from zonal.cli.chosen import choices
from zonal.cli.console import Screen
from zonal.cli.report.page import Report
from zonal.rows.progress import phase

from .console import zonal as run


def test_the_former_name_of_budget_still_works_and_says_so(folder):
    options = ("--target", "y", "--features", "harmonic", "-i", "a", "-i", "b", "--json")
    done = run("fit", "t.csv", *options, "--components", 32, cwd=folder)
    assert "--components is called --budget now." in done.stderr
    assert '"features": "32"' in done.stdout
    done = run("fit", "t.csv", *options, "--components=16", cwd=folder)
    assert '"features": "16"' in done.stdout


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: zonal.KernelRidge(n_components=5), "KernelRidge has no.*mean 'budget'"),
        (lambda: zonal.HarmonicFeatures(budget=5), "HarmonicFeatures has no.*'n_components'"),
        (lambda: zonal.Gaussian(length_scale=5), "Gaussian has no.*'bandwidth'"),
        (lambda: zonal.Matern(bandwidth=5), "Matern has no.*'length_scale'"),
        (lambda: zonal.NeighborKriging(n_neighbours=5), "mean 'n_neighbors'"),
        (
            lambda: zonal.KernelPCA(colour="red"),
            "Its parameters are budget",
        ),
    ],
)
def test_a_wrong_keyword_gets_a_hint(make, message):
    with pytest.raises(TypeError, match=message):
        make()


def test_bandwidth_on_the_globe_is_one_at_which_maps_differ():
    """With the median distance, 64 functions are the whole kernel, and every map is equal."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((400, 3))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    K = zonal.Gaussian("median").resolve(X)(X)
    best = np.linalg.eigvalsh(K)[:-64]
    assert np.linalg.norm(best) < 1e-4 * np.linalg.norm(K)
    found = telling_bandwidth(zonal.Gaussian("median"), X, None, [64, 256])
    rest = np.linalg.eigvalsh(found(X))[:-64]
    assert np.linalg.norm(rest) > 0.005 * np.linalg.norm(found(X))
    wavy = np.sin(8 * X[:, 0]) * np.cos(8 * X[:, 1])
    assert telling_bandwidth(zonal.Gaussian("median"), X, wavy, [64, 256]).bandwidth < 0.8
    # Kernels without a scale are left alone.
    assert telling_bandwidth(zonal.NTK(2), X, None, [64]).depth == 2


def test_what_was_selected_names_the_learned_metric():
    X = np.random.default_rng(0).standard_normal((200, 4))
    y = X[:, 0] * X[:, 1]
    features = zonal.HarmonicFeatures(zonal.Gaussian(1.0), 32)
    pipeline = [("metric", zonal.LearnedMetric(n_iterations=1)), ("features", features)]
    model = zonal.KernelRidge(Pipeline(pipeline), 1.0).fit(X, y)
    rows = {what: (value, why) for what, value, why in choices(model)}
    assert rows["metric"] == ("learned, of 4 columns", "4 directions; length scales are in it")


def test_a_folded_table_shows_its_heading_alone(tmp_path):
    page = Report("title", "summary")
    page.table("What was tried", ["local"], [["nearest rows"]], folded=True)
    page.write(tmp_path / "page.html")
    text = (tmp_path / "page.html").read_text()
    assert "<details><summary><h2>What was tried</h2></summary>" in text
    assert "overflow-wrap: anywhere" not in text.split(".words {")[1].split("}")[0]


def test_a_stage_names_the_phase(capsys):
    with Screen().stage("Fitting"):
        phase("solving")
    phase("nobody listens")
    assert [line.strip() for line in capsys.readouterr().err.splitlines()] == [
        "Fitting …",
        "solving …",
    ]
