"""The local process of kernels of space and time, against dense Gaussian processes."""

import numpy as np
import pytest

import zonal
from zonal.kriging.compiled_differences import fast_differences
from zonal.kriging.correlated import CorrelatedRows, unexplained
from zonal.kriging.low import LandmarkLow
from zonal.kriging.process import LocalProcess

RNG = np.random.default_rng(0)
ROWS = np.column_stack([RNG.uniform(0, 3, (70, 2)), RNG.integers(1, 13, 70)])
ASKED = np.column_stack([RNG.uniform(0, 3, (9, 2)), RNG.integers(1, 13, 9)])
STATIC = zonal.SpaceTime(zonal.Matern(1.5, 0.8), None)
SEASON = zonal.SpaceTime(zonal.Matern(1.5, 2.0), zonal.Periodic(12.0, 1.0), 0.3)
KERNEL = 0.7 * STATIC + SEASON


def process(kernel=KERNEL, n_neighbors=70, low=None) -> LocalProcess:
    return LocalProcess(ROWS, np.ones(70), kernel, 0.05, n_neighbors, low=low)


@pytest.mark.parametrize("kernel", [KERNEL, SEASON, STATIC + zonal.Matern(0.5, [1.0, 1.0, 3.0])])
def test_with_all_rows_it_is_the_dense_process(kernel) -> None:
    neighbors, weights, variance = process(kernel).at(ASKED)
    matrix, cross = kernel(ROWS) + 0.05 * np.eye(70), kernel(ASKED, ROWS)
    exact = np.linalg.solve(matrix, cross.T).T
    found = np.zeros_like(exact)
    np.put_along_axis(found, neighbors.astype(int), weights, axis=1)
    np.testing.assert_allclose(found, exact, atol=1e-9)
    expected = kernel.diag(ASKED) - (exact * cross).sum(axis=1)
    np.testing.assert_allclose(variance, expected, atol=1e-9)


def test_whitening_gives_the_dense_evidence() -> None:
    whitening = process().whitening()
    matrix = KERNEL(ROWS) + 0.05 * np.eye(70)
    assert np.log(whitening.variance).sum() == pytest.approx(np.linalg.slogdet(matrix)[1])


def test_what_features_leave_is_known_by_neighbors() -> None:
    low = LandmarkLow.of(SEASON, 1.0, ROWS[:20], 12)
    _, weights, variance = process(low=low).at(ASKED)
    rest = KERNEL(ROWS) - low.matrix(ROWS, ROWS) + 0.05 * np.eye(70)
    cross = KERNEL(ASKED, ROWS) - low.matrix(ASKED, ROWS)
    exact = np.linalg.solve(rest, cross.T).T
    own = KERNEL.diag(ASKED) - np.square(low.features(ASKED)).sum(axis=1)
    np.testing.assert_allclose(variance, own - (exact * cross).sum(axis=1), atol=1e-9)
    np.testing.assert_allclose(np.sort(weights), np.sort(exact), atol=1e-9)


def test_neighbors_of_one_term_are_the_most_correlated_rows() -> None:
    found = CorrelatedRows(SEASON, ROWS).query(ASKED, 12)
    values = SEASON(ASKED, ROWS)
    best = np.sort(values, axis=1)[:, :-13:-1]
    np.testing.assert_allclose(np.take_along_axis(values, found.astype(int), axis=1), best)
    earlier = CorrelatedRows(SEASON, ROWS).earlier(8, np.array([5, 40], np.int32))
    assert sorted(earlier[0]) == [-1, -1, -1, 0, 1, 2, 3, 4]
    most = np.argsort(-SEASON(ROWS[40:41], ROWS[:40])[0], kind="stable")[:8]
    np.testing.assert_array_equal(earlier[1], most)


def test_what_is_smooth_does_not_rank_neighbors() -> None:
    """Most of the covariance is that of a term that any few rows tell."""
    smooth = zonal.SpaceTime(zonal.Matern(1.5, [1e6, 9.0]), zonal.Periodic(12.0, 20.0))
    rough = zonal.SpaceTime(zonal.Matern(1.5, 0.8), zonal.Periodic(12.0, 1.4, 1.5))
    kernel = 3000.0 * smooth + rough
    places = np.random.default_rng(2).uniform(0, 3, (60, 2))
    X = np.column_stack([np.repeat(places, 12, axis=0), np.tile(np.arange(12.0), 60)])
    X = np.random.default_rng(3).permutation(X)
    rows, asked = X[20:], X[:20]
    near = CorrelatedRows(kernel, rows).query(asked, 10)
    most = np.argsort(-kernel(asked, rows), axis=1)[:, :10]
    left = []
    for chosen in (near, most):
        for query, members in zip(asked, rows[chosen], strict=True):
            cross = kernel(query[None], members)[0]
            known = cross @ np.linalg.solve(kernel(members) + 1e-6 * np.eye(10), cross)
            left.append(3001.0 - known)
    assert np.mean(left[:20]) < 0.7 * np.mean(left[20:])


def test_what_neighbors_leave_of_a_term() -> None:
    """On a line Ornstein and Uhlenbeck's process knows its neighbours' mean, and no others."""
    order = np.random.default_rng(1).permutation(300)
    rows = np.column_stack([np.arange(300.0), np.zeros(300)])[order]
    term = zonal.SpaceTime(zonal.Matern(0.5, 2.0), None)
    rho = np.exp(-0.5)
    inner = (1 - rho**2) / (1 + rho**2)
    assert unexplained(term, rows, rows[:, :1] / 2.0) == pytest.approx(inner, rel=0.02)
    assert unexplained(term, np.repeat(rows[:1], 9, axis=0), np.zeros((9, 1))) == 1.0


@pytest.mark.parametrize("beta", [0.0, 0.6])
@pytest.mark.parametrize(
    "time",
    [None, zonal.Cauchy(2.0, 1.3, 0.4), zonal.Periodic(12.0, 0.8), zonal.Periodic(12.0, 0.8, 1.5),
     zonal.Matern(0.5, 3.0), zonal.Matern(1.5, 3.0), zonal.Matern(2.5, 3.0), zonal.Gaussian(2.0)],
)  # fmt: skip
def test_compiled_kernels_are_the_same(time, beta) -> None:
    delta = ROWS[:, None, :] - ROWS
    for nu in (0.5, 1.5, 2.5, 0.8):
        space = zonal.Matern(nu, [0.5, 2.0])
        kernel = zonal.SpaceTime(space, time, 0.0 if time is None else beta)
        whole = 2.0 * kernel + zonal.Matern(1.5, [1.0, 2.0, 3.0])
        found = fast_differences(whole, delta)
        np.testing.assert_allclose(found, whole.of_differences(delta), rtol=1e-11, atol=1e-300)


def test_gradients_of_predictions() -> None:
    residual = RNG.standard_normal((70, 2))
    for low in (None, LandmarkLow.of(SEASON, 1.0, ROWS[:20], 12)):
        one = process(low=low)
        gradient = one.gradient(ASKED, residual)
        for column in range(3):
            step = np.zeros(3)
            step[column] = 1e-5
            sides = []
            for sign in (1, -1):
                neighbors, weights, _ = one.at(ASKED + sign * step)
                sides.append(np.einsum("qm,qmt->qt", weights, residual[neighbors]))
            change = (sides[0] - sides[1]) / 2e-5
            np.testing.assert_allclose(gradient[..., column], change, atol=2e-5)


def test_held_out_rows_are_not_their_own_neighbors() -> None:
    rows = np.arange(70, dtype=np.int32)
    neighbors, _, _ = process(n_neighbors=10).held_out(rows)
    assert not (neighbors == rows[:, None]).any()
    folds = np.arange(70) % 3
    neighbors, _, _ = process(n_neighbors=10).held_out(rows, folds)
    assert (folds[neighbors] != folds[:, None]).all()


def test_estimators_take_them() -> None:
    y = np.sin(ROWS[:, 0]) + np.cos(2 * np.pi * ROWS[:, 2] / 12)
    model = zonal.NeighborKriging(KERNEL, 70, noise=0.05, n_features=0).fit(ROWS, y)
    mean, std = model.predict(ASKED, return_std=True)
    matrix = KERNEL(ROWS) + 0.05 * np.eye(70)
    ones = np.linalg.solve(matrix, np.ones(70))
    mu = ones @ y / ones.sum()
    expected = mu + KERNEL(ASKED, ROWS) @ np.linalg.solve(matrix, y - mu)
    np.testing.assert_allclose(mean, expected, atol=1e-8)
    assert (std > 0).all()
    lower, upper = model.predict_interval(ASKED)
    assert (lower < mean).all()
    assert (mean < upper).all()
