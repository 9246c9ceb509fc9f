"""Several targets at once, against dense algebra."""

import numpy as np
import pytest

import zonal
from zonal.kriging.coregional import CoregionalProcess, stacked
from zonal.kriging.joint import fit_joint
from zonal.kriging.locations import Locations, Repeated
from zonal.kriging.low import low_degrees
from zonal.kriging.sequential import Sequence
from zonal.kriging.target_covariance import find_covariances

RNG = np.random.default_rng(0)
KERNEL = zonal.Matern(1.5, 0.8)
B = np.array([[1.0, 0.7, 0.2], [0.7, 1.2, 0.4], [0.2, 0.4, 0.8]])
E = np.array([[0.10, 0.04, 0.0], [0.04, 0.12, 0.02], [0.0, 0.02, 0.08]])
X = RNG.standard_normal((25, 2))
ROWS = stacked(X, 3)
ROWS = ROWS[RNG.permutation(len(ROWS))[:60]]  # with gaps


def covariance(rows, others, same):
    """B k(x, x') + same [x = x'], by the definition."""
    a, b = rows[:, -1].astype(int), others[:, -1].astype(int)
    at = (rows[:, None, :-1] == others[None, :, :-1]).all(axis=2)
    return B[np.ix_(a, b)] * KERNEL(rows[:, :-1], others[:, :-1]) + at * same[np.ix_(a, b)]


@pytest.mark.parametrize("n_features", [0, 8])
def test_predictions_are_those_of_dense_algebra(n_features):
    low = low_degrees(KERNEL, 1.0, X, n_features) if n_features else None
    process = CoregionalProcess(ROWS, KERNEL, B, E, 100, low)
    queries = stacked(np.vstack([X[:4], RNG.standard_normal((4, 2))]), 3)
    # What a target has at a place is known from the others alone: p in the place of E_aa.
    p = [E[a, o] @ np.linalg.solve(E[np.ix_(o, o)], E[o, a])
         for a, o in ((0, [1, 2]), (1, [0, 2]), (2, [0, 1]))]  # fmt: skip
    shared = E - np.diag(np.diag(E)) + np.diag(p)
    V = covariance(ROWS, ROWS, E)
    C = covariance(ROWS, queries, shared)
    prior = np.diag(B)[queries[:, -1].astype(int)] + np.array(p)[queries[:, -1].astype(int)]
    if low is not None:  # the rest of the kernel, with features apart
        Z, Q = low.features(ROWS[:, :-1]), low.features(queries[:, :-1])
        a, b = ROWS[:, -1].astype(int), queries[:, -1].astype(int)
        V -= B[np.ix_(a, a)] * (Z @ Z.T)
        C -= B[np.ix_(a, b)] * (Z @ Q.T)
        prior -= np.diag(B)[b] * np.square(Q).sum(axis=1)
        features = process.features(ROWS)[:, 3:]
        np.testing.assert_allclose(features @ features.T, B[np.ix_(a, a)] * (Z @ Z.T), rtol=1e-8,
                                   atol=1e-8)  # fmt: skip
    neighbors, weights, variance = process.at(queries)
    found = np.zeros((len(queries), len(ROWS) + 1))
    np.put_along_axis(found, neighbors, weights, axis=1)  # -1, for none, is the last
    np.testing.assert_allclose(found[:, :-1], np.linalg.solve(V, C).T, rtol=1e-8, atol=1e-9)
    expected = prior - np.sum(C * np.linalg.solve(V, C), axis=0)
    np.testing.assert_allclose(variance, expected, rtol=1e-8)


def test_whitening_has_the_determinant_and_the_squares_of_dense_algebra():
    process = CoregionalProcess(ROWS, KERNEL, B, E, 100)
    whitening = process.whitening()
    V = covariance(ROWS, ROWS, E)
    y = RNG.standard_normal(len(ROWS))
    whitened = whitening.apply(y[:, None])[:, 0]
    np.testing.assert_allclose(whitened @ whitened, y @ np.linalg.solve(V, y), rtol=1e-8)
    log_determinant = np.linalg.slogdet(V)[1]
    np.testing.assert_allclose(np.log(whitening.variance).sum(), log_determinant, rtol=1e-8)


@pytest.mark.parametrize("n_features", [0, 8])
def test_joint_posteriors_are_those_of_dense_algebra(n_features):
    """Of u + f at places old and new: e at a place is u and what is left, by their definition."""
    low = low_degrees(KERNEL, 1.0, X, n_features) if n_features else None
    process = CoregionalProcess(ROWS, KERNEL, B, E, 200, low)
    n, index = len(ROWS), np.arange(len(ROWS))
    places = Locations(ROWS, np.ones((n, 1)), np.ones(n), Repeated.nothing(n, 1), index)
    joint = fit_joint(places, process, scale=1.0)
    queries = stacked(np.vstack([X[:4], RNG.standard_normal((4, 2))]), 3)
    latent = stacked(queries[::3, :-1], 3, latent=True)
    found = Sequence.of(joint, latent)
    white = np.eye(found.n_common + len(queries))
    root = found.deviation(process.features, white[: found.n_common], white[found.n_common :])
    # u is a linear map of e: row a of P has the regression of e_a on the other targets.
    P = np.zeros((3, 3))
    for a in range(3):
        o = [b for b in range(3) if b != a]
        P[a, o] = np.linalg.solve(E[np.ix_(o, o)], E[o, a])
    a, b = ROWS[:, -1].astype(int), queries[:, -1].astype(int)
    level = 9 * B  # the prior of each target's level, beside one that is flat
    V = covariance(ROWS, ROWS, E) + level[np.ix_(a, a)]
    C = covariance(ROWS, queries, E @ P.T) + level[np.ix_(a, b)]
    prior = covariance(queries, queries, P @ E @ P.T) + level[np.ix_(b, b)]
    solved = np.linalg.solve(V, np.column_stack([C, np.ones(n)]))
    gap = 1 - solved[:, -1] @ C
    expected = prior - C.T @ solved[:, :-1] + np.outer(gap, gap) / solved[:, -1].sum()
    np.testing.assert_allclose(root @ root.T, expected, rtol=1e-8, atol=1e-8 * expected.max())


def test_each_target_has_its_own_nearest_neighbours():
    process = CoregionalProcess(ROWS, KERNEL, B, E, 8)
    points = ROWS[:, :-1]
    for i, near in enumerate(process.earlier()):
        expected = []
        for target in range(3):
            count = 4 if target == ROWS[i, -1] else 2
            known = np.flatnonzero(ROWS[:i, -1] == target)
            order = np.argsort(np.linalg.norm(points[known] - points[i], axis=1))
            expected += known[order[:count]].tolist()
        assert sorted(near[near >= 0]) == sorted(expected)


def test_repeated_observations_have_noise_of_their_own():
    rows = np.vstack([ROWS[:1], ROWS[:1]])
    process = CoregionalProcess(rows, KERNEL, B, E, 5)
    a = int(rows[0, -1])
    V = np.full((2, 2), B[a, a]) + E[a, a] * np.eye(2)
    found = process.whitening().variance
    np.testing.assert_allclose(np.prod(found), np.linalg.det(V), rtol=1e-9)


def test_covariances_are_found():
    """Of a simulated field: to within a few standard errors of correlations of 400 places."""
    rng = np.random.default_rng(1)
    places = rng.uniform(0, 12, (400, 2))
    rows = stacked(places, 2)
    correlation = 0.8
    fields = np.array([[1, correlation], [correlation, 1]])
    V = np.kron(KERNEL(places), fields) + 0.05 * np.eye(800)
    y = np.linalg.cholesky(V) @ rng.standard_normal(800)
    order = rng.permutation(800)
    found, noise, _ = find_covariances(rows[order], y[order], KERNEL, 0.1, 20)
    assert abs(found[0, 1] / np.sqrt(found[0, 0] * found[1, 1]) - correlation) < 0.1
    assert (np.abs(np.log(np.diag(noise) / 0.05)) < 0.7).all()
    assert abs(noise[0, 1]) < 0.04
    apart = rng.standard_normal((400, 2)) @ np.diag([1, 1])
    both = (np.linalg.cholesky(KERNEL(places) + 0.05 * np.eye(400)) @ apart).ravel()
    found, _, _ = find_covariances(rows[order], both[order], KERNEL, 0.1, 20)
    assert abs(found[0, 1] / np.sqrt(found[0, 0] * found[1, 1])) < 0.15
