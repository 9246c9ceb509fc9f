"""Candidates scored on held-out rows of all rows."""

import numpy as np
import pytest

import zonal
from zonal.kriging.search import Found
from zonal.polynomials import to_sphere
from zonal.selection.judge import Judge
from zonal.selection.pilot import Pilot
from zonal.selection.rows import HeldOut, Rows, content_order


@pytest.fixture(scope="module")
def rows():
    """Places, and two gaps of 60° that are predicted from the rest."""
    rng = np.random.default_rng(0)
    lat, lon = np.degrees(np.arcsin(rng.uniform(-1, 1, 400))), rng.uniform(-180, 180, 400)
    y = np.sin(np.radians(4 * lat)) + 0.3 * np.cos(np.radians(3 * lon))
    splits = []
    for west in (-180, 0):
        test = np.flatnonzero((lon > west) & (lon < west + 60))
        splits.append(HeldOut(np.setdiff1d(np.arange(400), test), test, test[::2]))
    X, pilot = to_sphere(lat, lon), Pilot(to_sphere(lat, lon), y[:, None], np.ones(400), 400)
    every = np.arange(400)
    return Rows(None, X, y, y[:, None], None, np.arange(3), tuple(splits), pilot, every, y)


@pytest.mark.parametrize("scale", [0.3, 2.0])
def test_scores_of_neighbours_are_those_of_kriging(rows, scale):
    """All rows are neighbours; only the mean comes from 24 earlier ones of each row."""
    found = Found(zonal.Matern(0.5, [scale] * 3), 1e-4, 1.0, 0.0)
    scored = Judge(rows, n_neighbors=400).of_neighbors(found)
    parts = []
    for split in rows.splits:
        X, y = rows.rows[split.train], rows.targets[split.train, 0]
        K = found.kernel(X) + found.noise * np.eye(len(X))
        ones = np.linalg.solve(K, np.ones(len(X)))
        mean = ones @ y / ones.sum()
        k = found.kernel(rows.rows[split.queries], X)
        parts.append(mean + k @ np.linalg.solve(K, y - mean))
    np.testing.assert_allclose(scored.predicted[:, 0], np.concatenate(parts), atol=0.05)
    truth = np.concatenate([rows.targets[split.queries] for split in rows.splits])
    np.testing.assert_allclose(scored.losses, (truth - scored.predicted)[:, 0] ** 2)
    assert scored.ends == (len(rows.splits[0].queries), len(truth))


def test_losses_are_in_units_of_the_mean_on_the_first_split(rows):
    judge = Judge(rows, n_neighbors=32)
    scored = judge.of_neighbors(Found(zonal.Matern(0.5, [0.5] * 3), 1e-4, 1.0, 0.0))
    split = rows.splits[0]
    mean = rows.targets[split.train].mean()
    expected = np.mean((rows.targets[split.queries] - mean) ** 2)
    own = scored.losses[: len(split.queries)].mean()
    assert judge.of_mean(scored) == pytest.approx(own / expected)


def test_scores_of_features_are_those_of_ridge_regression(rows):
    from sklearn.linear_model import RidgeCV

    features = zonal.HarmonicFeatures(zonal.Matern(1.5, 1.0), 36).fit(rows.rows)
    scored = Judge(rows, 32).of_features(features, "harmonic")
    split = rows.splits[0]
    Z = features.transform(rows.rows)
    alphas = np.geomspace(1e-10, 1, 200) * np.square(Z).sum() / Z.shape[1]
    middle, y = Z[split.train].mean(axis=0), rows.targets[:, 0]
    errors = []
    for alpha in alphas:
        ridge = RidgeCV([alpha]).fit(Z[split.train] - middle, y[split.train])
        errors.append(np.mean((ridge.predict(Z[split.queries] - middle) - y[split.queries]) ** 2))
    # The alphas of the judge are fewer, and as good.
    own = scored.losses[: len(split.queries)].mean()
    assert own == pytest.approx(min(errors), rel=0.02)


def test_candidates_see_no_row_of_the_gap_they_are_scored_on():
    """Rows of the test part are held out whether or not they are queries; others are left out."""
    train, test = np.arange(0, 60), np.arange(60, 90)
    split = HeldOut(train, test, test[::10])
    pilot, held_out = split.of_pilot(np.arange(0, 100, 2))
    np.testing.assert_array_equal(pilot, np.arange(0, 90, 2))
    np.testing.assert_array_equal(held_out, pilot >= 60)


def test_rounding_does_not_change_the_order_of_rows():
    X = np.random.default_rng(0).standard_normal((1000, 3))
    nearly = X * (1 + 1e-15)
    np.testing.assert_array_equal(content_order(X), content_order(nearly))
