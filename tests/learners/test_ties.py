"""Alphas that are equally good: rounding does not decide between them, the largest does."""

import numpy as np
import pytest

import zonal
from zonal.moments.held_out import best_alpha


def test_the_largest_of_those_that_are_as_good():
    alphas = np.geomspace(1e-3, 1, 4)
    assert best_alpha(alphas, np.array([2.0, 1.0, 1.0 + 5e-5, 1.1]), 1.0) == alphas[2]
    assert best_alpha(alphas, np.array([2.0, 1.0, 1.0 + 5e-4, 1.1]), 1.0) == alphas[1]
    # Errors far below the targets' variance differ, down to rounding.
    assert best_alpha(alphas, np.array([1e-7, 1e-8, 1e-7, 1.0]), 1.0) == alphas[1]
    assert best_alpha(alphas, np.array([0.0, 1e-17, 1e-16, 1.0]), 1.0) == alphas[2]
    assert best_alpha(alphas, np.array([0.0, 1e-9, 1e-8, 1.0]), 1.0, precision=6e-8) == alphas[2]


def cases():
    """Rows of which features say little: very few, or with one or two columns for all."""
    for seed in range(12):
        rng = np.random.default_rng(seed)
        n = 2 + seed % 4
        yield rng.standard_normal((n, 3)), rng.standard_normal(n), 8
        sphere = rng.standard_normal((60, 3))
        sphere /= np.linalg.norm(sphere, axis=1, keepdims=True)
        yield sphere, rng.standard_normal(60), 2
        yield rng.standard_normal((40, 1)), rng.standard_normal(40), 1


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_units_and_chunks_do_not_change_alpha(dtype):
    for rows, y, width in cases():
        rows = rows.astype(dtype)
        features = zonal.FourierFeatures(zonal.Gaussian(1.0), width, random_state=0)

        def fit(y, rows=rows, features=features):
            return zonal.KernelRidge(features, local=None).fit(rows, y).alpha_

        alpha = fit(y)
        for other in (2.0**20 * y, 2.0**-20 * y, -y, y + 100, 3 * y - 7):
            assert fit(other) == pytest.approx(alpha, rel=1e-6), (len(rows), width)
        if len(rows) < 40:
            continue
        parts = zonal.KernelRidge(features, local=None)
        for start in range(0, len(rows), 7):
            parts.partial_fit(rows[start : start + 7], y[start : start + 7])
        assert parts.alpha_ == pytest.approx(alpha, rel=1e-6)


def test_chunks_do_not_change_the_alpha_of_a_classifier():
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((300, 3))
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    labels = rng.integers(0, 3, 300)
    for width in (1, 2, 3):
        features = zonal.FourierFeatures(zonal.Gaussian(1.0), width, random_state=0)
        whole = zonal.KernelRidgeClassifier(features, local=None, loss="squared").fit(rows, labels)
        parts = zonal.KernelRidgeClassifier(features, local=None, loss="squared")
        for start in range(0, 300, 17):
            part = slice(start, start + 17)
            parts.partial_fit(rows[part], labels[part], classes=[0, 1, 2])
        assert parts.alpha_ == pytest.approx(whole.alpha_, rel=1e-6)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("seed", range(6))
def test_rounding_does_not_decide_the_noise_of_columns_that_interpolate(dtype, seed):
    """With more columns than rows the evidence is nearly flat towards no noise at all."""
    rng = np.random.default_rng(seed)
    rows, y = (10 * rng.standard_normal((6, 6))).astype(dtype), rng.standard_normal(6)
    features = zonal.FourierFeatures(zonal.Gaussian(1.0), 20, random_state=seed)

    def noise(order):
        model = zonal.GaussianProcess(features, local=None).fit(rows[order], y[order])
        return model.noise_

    noises = [noise(rng.permutation(6)) for _ in range(6)]
    # The search is for log alpha, to 1e-9, on a maximum that is as flat as rounding allows.
    np.testing.assert_allclose(noises, noises[0], rtol=1e-2)
