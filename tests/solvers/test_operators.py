"""Low-rank matrices and Krylov iterations against dense linear algebra."""

import numpy as np
import pytest
from scipy.linalg import eigvalsh, sqrtm

from zonal.solvers.krylov import krylov
from zonal.solvers.low_rank import ShiftedLowRank


def rows(n, dim=3, seed=0):
    return np.random.default_rng(seed).standard_normal((n, dim))


@pytest.mark.parametrize("shape", [(40, 7), (30, 60)])
def test_shifted_low_rank(shape):
    Z, V, lam = rows(*shape), rows(shape[0], 3, seed=1), 0.3
    A = Z @ Z.T + lam * np.eye(shape[0])
    tool = ShiftedLowRank(Z, lam)
    np.testing.assert_allclose(tool.solve(V), np.linalg.solve(A, V), atol=1e-11)
    np.testing.assert_allclose(tool.inverse_root(V), np.linalg.solve(sqrtm(A), V), atol=1e-11)
    expected = np.trace(Z @ Z.T @ np.linalg.inv(A))
    assert tool.statistical_dimension() == pytest.approx(expected)


@pytest.mark.parametrize("count", [1, 3])
def test_krylov(count):
    A = rows(120, 120)
    A = A + A.T
    exact = eigvalsh(A)
    start = rows(120, 4, seed=2)
    options = {"count": count, "tol": 1e-9, "max_passes": 60}
    largest = krylov(lambda V: A @ V, start, np.abs, **options)
    expected = exact[np.argsort(-np.abs(exact))][:count]
    np.testing.assert_allclose(largest.values, expected, rtol=1e-9)
    lowest = krylov(lambda V: A @ V, start, np.negative, **options)
    np.testing.assert_allclose(lowest.values, exact[:count], rtol=1e-9)
    # Cut short, the residual says how far an eigenvalue can be.
    early = krylov(lambda V: A @ V, start, np.abs, count=1, tol=1e-9, max_passes=3)
    assert np.abs(exact - early.values[0]).min() <= early.residual


def test_krylov_on_all_of_a_small_space():
    A = np.diag([3.0, 2.0, 1.0])
    found = krylov(lambda V: A @ V, rows(3, 2), np.abs, count=2, tol=1e-12, max_passes=9)
    np.testing.assert_allclose(found.values, [3, 2])
