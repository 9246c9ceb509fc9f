"""Conjugate gradients in two precisions, and the forecast of their iterations."""

import numpy as np
import pytest

import zonal
from zonal.solvers.conjugate_gradients import solve
from zonal.solvers.forecast import chebyshev_iterations, forecast
from zonal.solvers.low_rank import ShiftedLowRank
from zonal.solvers.systems import AllRows, precisions

RNG = np.random.default_rng(0)
X = RNG.uniform(-2, 2, (400, 3))
KERNEL = zonal.Matern(1.5, 1.0)
K = KERNEL(X)
Y = RNG.standard_normal((400, 3))


def system(alphas, features=None):
    low_rank = None if features is None else ShiftedLowRank(features.fit_transform(X), 1.0)
    return AllRows(precisions(KERNEL, X), np.asarray(alphas, float), None, low_rank)


@pytest.mark.parametrize("features", [None, zonal.NystroemFeatures(KERNEL, 100, random_state=0)])
def test_every_column_has_its_own_alpha(features):
    alphas = [0.01, 0.1, 10.0]
    found = solve(system(alphas, features), Y, tol=1e-6, max_iterations=2000)
    for column, alpha in enumerate(alphas):
        exact = np.linalg.solve(K + alpha * np.eye(400), Y[:, column])
        left = Y[:, column] - (K + alpha * np.eye(400)) @ found.state.solution[:, column]
        assert np.linalg.norm(left) <= 1.0001e-6 * np.linalg.norm(Y[:, column])
        np.testing.assert_allclose(left, found.left[:, column], atol=1e-10)
        # ‖A⁻¹ r‖ ≤ ‖r‖ / α.
        gap = np.linalg.norm(found.state.solution[:, column] - exact)
        assert gap <= 1.0001e-6 * np.linalg.norm(Y[:, column]) / alpha


def test_tolerances_below_single_precision_are_met_in_double_precision():
    found = solve(
        system([1e-3], zonal.NystroemFeatures(KERNEL, 300, random_state=0)),
        Y[:, :1],
        tol=1e-10,
        max_iterations=500,
    )
    left = Y[:, :1] - (K + 1e-3 * np.eye(400)) @ found.state.solution
    assert np.linalg.norm(left) <= 1e-10 * np.linalg.norm(Y[:, :1])
    assert found.n_precise >= 2


def test_a_start_is_used_and_zero_targets_have_zero_solutions():
    alphas = [0.1, 0.1, 0.1]
    targets = Y.copy()
    targets[:, 1] = 0
    first = solve(system(alphas), targets, tol=1e-5, max_iterations=1000)
    assert not first.state.solution[:, 1].any()
    again = solve(system(alphas), targets, tol=1e-5, max_iterations=1000, start=first.state)
    assert again.n_iterations == 0
    np.testing.assert_array_equal(again.state.solution, first.state.solution)


def test_too_few_iterations_leave_an_honest_residual():
    found = solve(system([1e-3]), Y[:, :1], tol=1e-8, max_iterations=5)
    left = Y[:, :1] - (K + 1e-3 * np.eye(400)) @ found.state.solution
    assert found.n_iterations == 5
    assert found.residuals[0] > 1e-8
    assert found.residuals[0] == pytest.approx(np.linalg.norm(left) / np.linalg.norm(Y[:, :1]))


def test_chebyshev():
    """The bound of the module, and its two ends."""
    assert chebyshev_iterations(1.0, 1e-4) == 1
    rate = (np.sqrt(50) - 1) / (np.sqrt(50) + 1)
    k = chebyshev_iterations(50.0, 1e-4)
    assert 2 * np.sqrt(50) * rate**k <= 1e-4 < 2 * np.sqrt(50) * rate ** (k - 1)


@pytest.mark.parametrize("rank", [50, 200])
def test_the_forecast_is_the_spectral_error_and_bounds_the_iterations(rank):
    """Nyström features leave eigenvalues of 1 and more, of which the largest is found."""
    alpha = 0.05
    features = zonal.NystroemFeatures(KERNEL, rank, random_state=0)
    Z = features.fit_transform(X)
    preconditioned = system([alpha], features)
    expected = forecast(preconditioned, 400, 0)
    error = float(zonal.theory.spectral_error(K, Z, alpha))
    assert 0.8 * error <= expected.spectral_error <= 1.001 * error
    found = solve(preconditioned, Y[:, :1], tol=1e-4, max_iterations=1000)
    assert found.n_iterations <= expected.iterations(1e-4)
