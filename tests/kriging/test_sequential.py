"""Joint posteriors at places, against dense algebra."""

import numpy as np
import pytest

import zonal
from zonal.kriging import LocalProcess, fit_joint, locate
from zonal.kriging.low import low_degrees
from zonal.kriging.sequential import Sequence

RNG = np.random.default_rng(0)
N, NOISE = 60, 0.05
KERNEL = zonal.Matern(1.5, 0.7)


def rows_of(kind, n):
    """Rows on a sphere or in a plane."""
    X = np.random.default_rng(n).standard_normal((n, 3 if kind == "sphere" else 2))
    return X / np.linalg.norm(X, axis=1, keepdims=True) if kind == "sphere" else X


def features_of(rows):
    """Three features of the user's own."""
    return np.column_stack([rows[:, 0], rows[:, 1] ** 2, np.sin(rows[:, 0] * rows[:, 1])])


def dense(X, queries, weight, features, ratio, scale):
    """The posterior covariance of f = μ + zᵀβ + u by the textbook: a flat prior of μ as a limit.

    Generalised least squares: C₀ - CᵀV⁻¹C plus what the estimated μ adds.
    """
    points = np.vstack([X, queries])
    K = KERNEL(points) + 0.0
    if features is not None:
        Z = features(points)
        K = K + ratio * Z @ Z.T
    n = len(X)
    V = K[:n, :n] + np.diag(NOISE / weight)
    C = K[:n, n:]
    solved = np.linalg.solve(V, np.column_stack([C, np.ones(n)]))
    gap = 1 - solved[:, -1] @ C
    found = K[n:, n:] - C.T @ solved[:, :-1] + np.outer(gap, gap) / solved[:, -1].sum()
    return scale * found


@pytest.mark.parametrize("kind", ["sphere", "plane"])
@pytest.mark.parametrize("own", ["none", "low", "features"])
def test_covariances_are_those_of_dense_algebra(kind, own):
    X, queries = rows_of(kind, N), rows_of(kind, 25)
    y = np.sin(2 * X[:, 0]) + 0.1 * RNG.standard_normal(N)
    weight = RNG.uniform(0.5, 2, N)
    places = locate(X, y[:, None], weight)
    low = low_degrees(KERNEL, 1.0, places.rows, 16) if own == "low" else None
    process = LocalProcess(places.rows, places.weight, KERNEL, NOISE, N, low)
    given = features_of if own == "features" else None
    joint = fit_joint(places, process, given, 1.0 if given is None else 0.3)
    found = Sequence.of(joint, queries)
    features = given or process.features
    white = np.eye(found.n_common + len(queries))
    root = found.deviation(features, white[: found.n_common], white[found.n_common :])
    expected = dense(places.rows, queries, places.weight, given, 0.3, joint.found.scale)
    np.testing.assert_allclose(
        root @ root.T * joint.found.scale, expected, rtol=1e-8, atol=1e-8 * expected.max()
    )
    # Weighted sums, by substitution from the other side.
    sums = RNG.standard_normal((len(queries), 4))
    common, rest = found.roots(features, sums.copy())
    np.testing.assert_allclose(
        (common @ common.T + rest.T @ rest) * joint.found.scale,
        sums.T @ expected @ sums,
        rtol=1e-8,
        atol=1e-8 * expected.max(),
    )


def test_few_neighbours_condition_on_those_alone():
    """One place after the other, by hand: each given its rows and the places before it."""
    X, queries = rows_of("plane", N), rows_of("plane", 12)
    places = locate(X, X[:, :1])
    process = LocalProcess(places.rows, places.weight, KERNEL, NOISE, 5)
    joint = fit_joint(places, process)
    found = Sequence.of(joint, queries)
    points = np.vstack([places.rows, queries])
    K = KERNEL(points) + np.diag(np.r_[np.full(N, NOISE), np.zeros(len(queries))])
    for i in range(len(queries)):
        order = np.argsort(np.linalg.norm(points - queries[i], axis=1))
        near = [j for j in order if j < N][:5] + [j for j in order if N <= j < N + i][:5]
        used = found.neighbors[i][found.neighbors[i] >= 0]
        assert sorted(used) == sorted(near)
        b = np.linalg.solve(K[np.ix_(used, used)], K[used, N + i])
        np.testing.assert_allclose(found.weights[i, : len(used)], b, rtol=1e-8, atol=1e-10)
        np.testing.assert_allclose(found.variance[i], 1 - K[used, N + i] @ b, rtol=1e-8)


def test_far_places_are_those_of_the_prior():
    X = rows_of("plane", N)
    places = locate(X, X[:, :1])
    process = LocalProcess(places.rows, places.weight, KERNEL, NOISE, 8)
    joint = fit_joint(places, process)
    far = np.array([[1e12, 0.0], [0.0, 1e200]])
    found = Sequence.of(joint, far)
    np.testing.assert_allclose(found.variance, 1, rtol=1e-12)
    white = np.eye(found.n_common + 2)
    root = found.deviation(process.features, white[:1], white[1:])
    # Between places that know nothing of each other only the mean is shared.
    np.testing.assert_allclose((root @ root.T)[0, 1], joint.found.mean_variance, rtol=1e-10)
