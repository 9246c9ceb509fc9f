"""The sparse inverse covariance of a process at its rows, against dense matrices."""

import numpy as np

import zonal
from zonal.kriging.precision import Precision
from zonal.kriging.process import LocalProcess

X = np.random.default_rng(0).uniform(-2, 2, (60, 2))
KERNEL = zonal.Matern(1.5, 0.8)


def test_with_all_rows_as_neighbours_it_is_the_inverse_without_a_mean():
    found = Precision.of(LocalProcess(X, np.ones(60), KERNEL, 0.3, 60))
    inverse = np.linalg.inv(KERNEL(X))
    ones = inverse.sum(axis=0)
    dense = inverse - np.outer(ones, ones) / ones.sum()
    x = np.sin(X[:, 0])
    np.testing.assert_allclose(found.apply(x), dense @ x, rtol=1e-7, atol=1e-7)
    h = np.random.default_rng(1).uniform(0.01, 1, 60)
    system = dense / 2.5 + np.diag(h)
    right = np.cos(3 * X[:, 1])
    solved = found.solve(2.5, h, right, small=1e-20)
    np.testing.assert_allclose(solved, np.linalg.solve(system, right), rtol=1e-6, atol=1e-6)


def test_a_constant_costs_nothing():
    found = Precision.of(LocalProcess(X, np.ones(60), KERNEL, 0.0, 8))
    assert np.abs(found.apply(np.full(60, 3.0))).max() < 1e-9 * np.abs(found.apply(X[:, 0])).max()
