"""A model of parts is that of all rows in memory, to rounding."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

import zonal
from zonal.partitions import FromParts

from .common import FIELD, QUERIES, SPHERE, TARGET, Blocks, N, parts

KERNEL = zonal.Matern(1.5, 0.3)
HARMONICS = zonal.HarmonicFeatures(zonal.Matern(1.5, 1.0), n_components=36)
MODELS = {
    "the kernel is split": zonal.NeighborKriging(KERNEL, 16, noise=0.05),
    "no features": zonal.NeighborKriging(KERNEL, 16, noise=0.05, n_features=0),
    "features beside": zonal.KernelRidge(
        HARMONICS, local=zonal.NeighborKriging(KERNEL, 16, noise=0.05)
    ),
    "everything is found": zonal.KernelRidge(random_state=0),
    "process": zonal.GaussianProcess(random_state=0),
}


def same(serial, sorted_, rtol=1e-9):
    """Compare predictions, deviations and what was found."""
    assert isinstance(sorted_._solution_, FromParts)
    for mine, theirs in zip(
        sorted_.predict(QUERIES, return_std=True),
        serial.predict(QUERIES, return_std=True),
        strict=True,
    ):
        np.testing.assert_allclose(mine, theirs, rtol=rtol, atol=rtol)
    mine, theirs = sorted_._solution_, serial._solution_
    np.testing.assert_allclose(mine.log_evidence, theirs.log_evidence, rtol=rtol)
    np.testing.assert_allclose(mine.amplitude, theirs.amplitude, rtol=rtol)
    shares = [list(one.shares().values()) for one in (mine, theirs)]
    np.testing.assert_allclose(*shares, atol=rtol)


@pytest.mark.parametrize("name", MODELS)
def test_parts_are_as_all_rows(name):
    serial = clone(MODELS[name]).fit(SPHERE, TARGET)
    with parts():
        sorted_ = clone(MODELS[name]).fit(Blocks(SPHERE, TARGET), None)
    assert sorted_.n_rows_ == len(SPHERE)
    assert len(sorted_._solution_.parts.cuts) == 8
    same(serial, sorted_)
    # Intervals too: so few rows are one neighbourhood.
    for mine, theirs in zip(
        sorted_.predict_interval(QUERIES), serial.predict_interval(QUERIES), strict=True
    ):
        np.testing.assert_allclose(mine, theirs, rtol=1e-6, atol=1e-9)


def test_a_field_that_is_not_the_same_everywhere():
    """Places are moved before they are sorted, and s is found by the same rows."""
    rng = np.random.default_rng(4)
    X = rng.uniform(0, 1, (1500, 2))
    y = np.exp(X[:, 0]) * (np.sin(30 * (X[:, 0] - X[:, 1])) + 0.2 * rng.standard_normal(len(X)))
    asked = rng.uniform(0, 1, (100, 2))
    model = zonal.NeighborKriging(n_features=0, warp="auto")
    serial = clone(model).fit(X, y)
    with parts():
        found = clone(model).fit(Blocks(X, y), None)
    assert isinstance(found._solution_, FromParts)
    assert np.abs(found.warped(asked) - asked).max() > 0.01
    assert np.ptp(np.log(found.amplitude_at(asked))) > 0.5
    for mine, theirs in zip(found.predict(asked, True), serial.predict(asked, True), strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-7, atol=1e-9)


def test_places_that_are_judged_are_the_same(monkeypatch):
    """Of many places without features some tell the scale; the same in parts."""
    for module in ("zonal.model.local_solution", "zonal.partitions.fitting"):
        monkeypatch.setattr(f"{module}.JUDGED_ROWS", 700)
    model = MODELS["no features"]
    with parts():
        found = clone(model).fit(Blocks(SPHERE, TARGET), None)
        same(clone(model).fit(SPHERE, TARGET), found)


@pytest.mark.parametrize("cell_rows", [300, 3000])
@pytest.mark.parametrize("size", [411, 6000])
def test_neither_blocks_nor_cells_matter(cell_rows, size):
    model = MODELS["features beside"]
    with parts(cell_rows, head_rows=200):
        found = clone(model).fit(Blocks(SPHERE, TARGET, size=size), None)
    same(clone(model).fit(SPHERE, TARGET), found)


def test_weights_and_repeated_rows():
    """Equal rows are in one cell, and weights are relative, whatever their unit."""
    rows = np.concatenate([SPHERE, SPHERE[:500], SPHERE[:200]])
    rng = np.random.default_rng(2)
    y = np.concatenate([FIELD, FIELD[:500], FIELD[:200]]) + 0.1 * rng.standard_normal(len(rows))
    weight = rng.uniform(1, 9, len(rows))
    weight[::50] = 0.0
    model = MODELS["features beside"]
    with parts():
        found = clone(model).fit(Blocks(rows, y, weight), None)
    same(clone(model).fit(rows, y, weight), found)


def test_single_precision_and_two_targets():
    X, Y = SPHERE.astype(np.float32), np.column_stack([TARGET, FIELD]).astype(np.float32)
    model = MODELS["the kernel is split"]
    with parts():
        found = clone(model).fit(iter(Blocks(X, Y)), None)  # which can be walked over once
    serial = clone(model).fit(X, Y)
    assert found._solution_.parts.part(0).rows.dtype == np.float32
    assert found.predict(QUERIES.astype(np.float32)).dtype == np.float32
    same(serial, found, rtol=2e-5)


@pytest.mark.longest
def test_draws_gradients_and_importances():
    model = MODELS["everything is found"]
    serial = clone(model).fit(SPHERE, TARGET)
    with parts():
        found = clone(model).fit(Blocks(SPHERE, TARGET), None)
    np.testing.assert_allclose(found.gradient(QUERIES), serial.gradient(QUERIES), atol=1e-8)
    drawn = found.sample_y(QUERIES[:40], 3, random_state=0)
    np.testing.assert_allclose(drawn, serial.sample_y(QUERIES[:40], 3, random_state=0), atol=1e-8)
    assert found.importances_.keys() == serial.importances_.keys()
    np.testing.assert_allclose(
        [found.importances_[key] for key in serial.importances_],
        list(serial.importances_.values()),
        atol=1e-6,
    )
    near, whole = found.local_, serial.local_
    rows = QUERIES[:50]
    np.testing.assert_allclose(near.predict(rows), whole.predict(rows), atol=1e-9)


def test_intervals_from_whole_neighborhoods_hold(monkeypatch):
    """Balls at full density tell as much as all rows; 90 % ± 3 standard errors of 2,000 rows."""
    monkeypatch.setattr("zonal.partitions.sampled.BALL_PLACES", 200)
    rng = np.random.default_rng(3)
    X = rng.uniform(0, 10, (12_000, 2))
    y = np.sin(3 * X[:, 0]) * np.cos(2 * X[:, 1]) + 0.3 * rng.standard_normal(len(X))
    model = zonal.NeighborKriging(zonal.Matern(1.5, 1.0), 16, noise=0.1)
    with parts():
        found = model.fit(Blocks(X[:10_000], y[:10_000]), None)
    low, high = found.predict_interval(X[10_000:], coverage=0.9)
    hold = np.mean((y[10_000:] >= low) & (y[10_000:] <= high))
    # Quantiles come from about 1,800 rows, so that their own error counts as much.
    assert abs(hold - 0.9) < 3 * np.sqrt(0.09 * (1 / 2000 + 1 / 1800))


def test_a_kernel_without_a_metric_gathers_rows():
    kernel = zonal.SpaceTime(zonal.Matern(1.5, 1.0), zonal.Cauchy(2.0, 1.5, 0.5), 0.3)
    X = np.random.default_rng(4).uniform(0, 3, (400, 3))
    model = zonal.NeighborKriging(kernel, 8, noise=0.1)
    serial = clone(model).fit(X, X[:, 0])
    with parts():
        found = clone(model).fit(Blocks(X, X[:, 0]), None)
    np.testing.assert_allclose(found.predict(X), serial.predict(X), rtol=1e-9)


def test_rows_in_parts_cannot_be_continued():
    with parts():
        found = clone(MODELS["features beside"]).fit(Blocks(SPHERE, TARGET), None)
    with pytest.raises(ValueError, match="rows in parts, which cannot be continued"):
        found.partial_fit(SPHERE, TARGET)


def test_a_table_with_words():
    """Encoded block by block; without a mean of models about as good as all rows in memory."""
    rng = np.random.default_rng(5)
    table = pd.DataFrame(rng.standard_normal((1800, 2)), columns=["a", "b"])
    table["kind"] = np.array(["oak", "ash", "elm"], object)[rng.integers(0, 3, len(table))]
    clean = np.sin(2 * table["a"]) + table["b"] * (table["kind"] == "oak")
    y = (clean + 0.1 * rng.standard_normal(len(table))).to_numpy()
    model = zonal.KernelRidge(budget=64, random_state=0)
    with parts():
        found = clone(model).fit(Blocks(table[:1500], y[:1500]))
    assert isinstance(found._solution_, FromParts)
    whole = clone(model).fit(table[:1500], y[:1500])
    left, least = (1 - one.score(table[1500:], y[1500:]) for one in (found, whole))
    assert left < 1.5 * least


def test_coefficients_of_features_come_from_the_first_places(monkeypatch):
    """Those of a sample of rows, the same wherever the rows are; neighbours are of all rows."""
    monkeypatch.setattr("zonal.kriging.joint.FIRST_ROWS", 500)
    model = MODELS["features beside"]
    serial = clone(model).fit(SPHERE, TARGET)
    with parts():
        same(serial, clone(model).fit(Blocks(SPHERE, TARGET), None))
    process = serial._solution_.part.joint.process
    n_first = 36 * 100  # one in a hundred of the variance is noise
    few = clone(model).fit(process.rows[:n_first], _targets_at(process.rows[:n_first]))
    np.testing.assert_allclose(serial.coef_, few.coef_, rtol=1e-9, atol=1e-12)
    assert len(process.rows) == N
    monkeypatch.undo()
    whole = clone(model).fit(SPHERE, TARGET).coef_
    assert np.linalg.norm(whole - serial.coef_) > 1e-3 * np.linalg.norm(whole)


def _targets_at(rows):
    """Return the targets of some of the rows."""
    known = {row.tobytes(): y for row, y in zip(SPHERE, TARGET, strict=True)}
    return np.array([known[row.tobytes()] for row in rows])
