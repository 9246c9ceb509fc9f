"""Sums of functions of single columns, as candidates of the choice."""

import numpy as np
import pandas as pd
import pytest

import zonal
from zonal.selection.sums import SUMS, Columns


def waves(X):
    return np.sin(2 * X).sum(axis=1)


@pytest.fixture(scope="module")
def noisy():
    """A table with a word, whose target is a sum of functions of six columns, and noise."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-2, 2, (1000, 6))
    frame = pd.DataFrame(X, columns=[f"c{i}" for i in range(6)])
    frame["word"] = np.where(rng.random(1000) < 0.5, "yes", "no")
    return frame, waves(X), rng.standard_normal(1000) * 2


def test_a_noisy_sum_is_found(noisy):
    frame, truth, noise = noisy
    train, test = slice(0, 700), slice(700, None)
    model = zonal.KernelRidge(budget=128, random_state=0).fit(frame[train], (truth + noise)[train])
    chosen = model.selection_.query("chosen")["features"].item()
    assert chosen in SUMS
    error = np.mean((model.predict(frame[test]) - truth[test]) ** 2)
    # Least squares on the functions themselves has p of them, and an error of σ² p / n; a smooth
    # function of a column has about six.
    assert error < 2 * 4 * 6 * 6 / 700
    whole = zonal.KernelRidge(zonal.NystroemFeatures("gaussian", 256, random_state=0))
    rows = frame.drop(columns="word").to_numpy()
    whole.fit(rows[train], (truth + noise)[train])
    assert error < 0.5 * np.mean((whole.predict(rows[test]) - truth[test]) ** 2)


def test_columns_that_belong_together():
    angle = np.linspace(0, 6, 60)
    rows = np.column_stack(
        [np.cos(angle), np.sin(angle), angle, np.where(angle % 1 < 0.5, -1, 1), np.ones(60)]
    )
    columns = Columns.of(rows)
    assert columns.curved == ((0, 1), (2,))
    assert columns.straight == (3,)
    assert len(columns) == 3


@pytest.mark.parametrize("name", SUMS)
@pytest.mark.filterwarnings("ignore:n_components=:UserWarning")
def test_features_of_a_sum_are_those_of_the_sum_of_kernels(name):
    rng = np.random.default_rng(0)
    # With at most sixteen values, all that a column has are landmarks.
    rows = np.column_stack([rng.integers(0, 12, (200, 2)) / 4, rng.choice([-1.0, 1.0], 200)])
    kernel, share = zonal.Gaussian(2.0), SUMS[name]
    features = Columns.of(rows).features(share, kernel, 400, 0).fit(rows)
    scale = min(share, 1.0)
    one = zonal.Matern(1.5, 1.0)
    K = scale * (one(rows[:, :1]) + one(rows[:, 1:2]) + np.outer(rows[:, 2], rows[:, 2]))
    if np.isfinite(share):
        K += kernel(rows)
    Z = features.transform(rows)
    np.testing.assert_allclose(Z @ Z.T, K, atol=1e-8)


def test_many_columns_have_many_neighbours():
    """More rows are about as near as the nearest, and predictions with them are better."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((500, 8))
    y = np.sin(X[:, :3] @ rng.standard_normal((3, 4))).sum(axis=1)
    model = zonal.KernelRidge(budget=32, metric=False, random_state=0).fit(X, y)
    assert model.local_ is not None
    assert model.local_.n_neighbors == 96
    given = zonal.KernelRidge(features=None, local=zonal.NeighborKriging(n_neighbors=20))
    assert given.fit(X, y).local_.n_neighbors == 20
