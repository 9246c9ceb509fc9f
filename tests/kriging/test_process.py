from contextlib import nullcontext

import numpy as np
import pytest

import zonal
from zonal.kriging.low import LandmarkLow
from zonal.kriging.process import LocalProcess

RNG = np.random.default_rng(0)
X = RNG.standard_normal((200, 2))
WEIGHT = RNG.uniform(0.5, 2, 200)
KERNEL = zonal.Matern(1.5, [0.5, 1.0])


@pytest.mark.parametrize("folded", [False, True])
@pytest.mark.parametrize("m", [8, 300])
def test_held_out_rows_are_those_of_a_process_without_them(folded, m):
    folds = RNG.integers(0, 4, 200) if folded else None
    process = LocalProcess(X, WEIGHT, KERNEL, 0.1, m)
    rows = np.array([3, 50, 199], np.int32)
    neighbors, weights, variance = process.held_out(rows, folds)
    for i, row in enumerate(rows):
        others = np.arange(200) != row if folds is None else folds != folds[row]
        alone = LocalProcess(X[others], WEIGHT[others], KERNEL, 0.1, m)
        expected, expected_weights, expected_variance = alone.at(X[row : row + 1])
        known = neighbors[i] >= 0
        np.testing.assert_array_equal(neighbors[i][known], np.flatnonzero(others)[expected[0]])
        np.testing.assert_allclose(weights[i][known], expected_weights[0], atol=1e-10)
        np.testing.assert_allclose(variance[i], expected_variance[0], atol=1e-12)
        assert (weights[i][~known] == 0).all()


def test_of_a_row_that_is_alone_only_the_prior_is_known():
    process = LocalProcess(X[:1], WEIGHT[:1], KERNEL, 0.1, 4)
    neighbors, weights, variance = process.held_out(np.array([0], np.int32))
    assert neighbors.shape == weights.shape == (1, 0)
    np.testing.assert_allclose(variance, KERNEL.diag(X[:1]))


def dense(kernel, rows, noise, low, queries):
    """Weights and variances given all rows, of a kernel less what features carry."""
    z, z_queries = low.features(rows), low.features(queries)
    matrix = kernel(rows) - z @ z.T + np.diag(noise / WEIGHT[: len(rows)])
    cross = kernel(queries, rows) - z_queries @ z.T
    weights = np.linalg.solve(matrix, cross.T).T
    prior = kernel.diag(queries) - np.square(z_queries).sum(axis=1)
    return weights, prior - (weights * cross).sum(axis=1)


@pytest.mark.parametrize("keeps", ["nothing", "meanwhile", "a copy", "a part"])
def test_features_that_are_kept_are_those_that_are_made(keeps):
    kernel = zonal.Matern(1.5, 0.8)
    low = LandmarkLow.of(kernel, 1.0, X[:12].copy(), 8)
    queries = RNG.standard_normal((20, 2))
    process = LocalProcess(X, WEIGHT, kernel, 0.1, 300, low)
    with process.kept_features() if keeps in ("meanwhile", "a part") else nullcontext():
        asked, rows = process, X
        if keeps == "a copy":
            asked = process.keeping()
        elif keeps == "a part":
            asked, rows = process.part(np.arange(150)).part(np.arange(0, 150)), X[:150]
        for features in (None, low.features(queries)):
            neighbors, weights, variance = asked.at(queries, features=features)
            expected, left = dense(kernel, rows, 0.1, low, queries)
            near = np.take_along_axis(expected, neighbors, axis=1)
            np.testing.assert_allclose(weights, near, atol=1e-9)
            np.testing.assert_allclose(variance, left, atol=1e-10)
        places, table = asked.near_features(neighbors)
        np.testing.assert_allclose(table[places], low.features(rows)[neighbors], atol=1e-12)


def test_errors():
    process = LocalProcess(X, WEIGHT, KERNEL, 0.1, 4)
    with pytest.raises(ValueError, match="of another fold"):
        process.held_out(np.array([0], np.int32), np.zeros(200))


def test_held_out_errors_are_those_of_leave_one_out():
    y = np.sin(2 * X[:, 0])
    process = LocalProcess(X, np.ones(200), KERNEL, 0.1, 199)
    neighbors, weights, variance = process.held_out(np.arange(200, dtype=np.int32))
    inverse = np.linalg.inv(KERNEL(X) + 0.1 * np.eye(200))
    # Dubrule's formulas for the errors and variances of observations.
    errors = inverse @ y / np.diag(inverse)
    np.testing.assert_allclose(y - (weights * y[neighbors]).sum(axis=1), errors, atol=1e-9)
    np.testing.assert_allclose(variance + 0.1, 1 / np.diag(inverse), atol=1e-9)


def test_neighbours_are_those_of_every_process_of_the_same_metric():
    wider = zonal.Matern(1.5, [1.5, 3.0])
    narrow, wide = (LocalProcess(X, WEIGHT, kernel, 0.1, 8) for kernel in (KERNEL, wider))
    other = LocalProcess(X, WEIGHT, zonal.Matern(1.5, [0.5, 2.0]), 0.1, 8)
    assert narrow.metric == wide.metric != other.metric
    queries, rows = RNG.standard_normal((30, 2)), np.arange(50, 200, 7, dtype=np.int32)
    given, expected = wide.at(queries, narrow.near(queries)), wide.at(queries)
    for found, wanted in zip(given, expected, strict=True):
        np.testing.assert_allclose(found, wanted, atol=1e-12)
    whitened = wide.whitening(rows, 6, narrow.earlier(rows, 6))
    np.testing.assert_allclose(whitened.weights, wide.whitening(rows, 6).weights, atol=1e-12)
    assert not np.array_equal(other.near(queries), wide.near(queries))
