"""Columns in normal scores."""

import numpy as np
from scipy.stats import norm

from zonal.features.chain_rule import features_gradient
from zonal.features.columns.ranker import Ranker


def test_scores_are_normal_quantiles_of_the_distribution():
    x = np.linspace(0, 1, 5001)
    X = np.column_stack([np.exp(10 * norm.ppf(np.clip(x, 1e-4, 1 - 1e-4))), x])
    Z = Ranker().fit(X).transform(X)
    inner = (x > 0.01) & (x < 0.99)
    np.testing.assert_allclose(Z[inner], norm.ppf(x[inner])[:, None] * [1, 1], atol=0.02)


def test_weights_are_counts_and_units_do_not_matter():
    rng = np.random.default_rng(0)
    X = rng.standard_gamma(0.3, (300, 2))
    counts = rng.integers(1, 4, 300)
    weighted = Ranker().fit(X, sample_weight=counts).transform(X)
    repeated = Ranker().fit(np.repeat(X, counts, axis=0)).transform(X)
    np.testing.assert_allclose(weighted, repeated, atol=1e-12)
    moved = Ranker().fit(1000 * X + 7, sample_weight=counts).transform(1000 * X + 7)
    np.testing.assert_allclose(weighted, moved, atol=1e-8)
    assert Ranker().fit(X.astype(np.float32)).transform(X.astype(np.float32)).dtype == np.float32


def test_gradients_go_through_scores():
    X = np.random.default_rng(0).standard_normal((400, 2)) ** 3
    ranker = Ranker().fit(X)

    class Squares:
        def contract_gradient(self, rows, coef):
            return 2 * rows[:, None, :] * coef[None, :, :].sum(axis=1)[:, :, None]

    rows = X[:20] + 1e-4  # a cubic has a kink in its second derivative at a knot
    found = features_gradient([ranker, Squares()], rows, np.ones((1, 1)))[:, 0]
    step = 1e-7
    for j in range(2):
        move = step * np.eye(2)[j]
        above, below = (np.square(ranker.transform(rows + s * move)).sum(axis=1) for s in (1, -1))
        np.testing.assert_allclose(found[:, j], (above - below) / (2 * step), rtol=1e-3, atol=1e-5)
