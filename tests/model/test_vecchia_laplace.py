"""A local part with a likelihood, against a dense Laplace Gaussian process."""

import numpy as np
import pytest

import zonal
from zonal.kriging.locations import locate
from zonal.kriging.search import Found
from zonal.likelihoods import Bernoulli, Binomial, Gamma, NegativeBinomial, Observed, Poisson
from zonal.model.vecchia_laplace import Responses, find_laplace

RNG = np.random.default_rng(0)
N = 60
X = RNG.uniform(-2, 2, (N, 2))
LATENT = np.sin(2 * X[:, 0]) + X[:, 1] / 2
TRIALS = RNG.integers(1, 5, N).astype(float)
OFFSET = RNG.normal(0, 0.2, N)
CASES = {
    "poisson": (Poisson(), RNG.poisson(np.exp(LATENT + OFFSET))),
    "negative_binomial": (NegativeBinomial(2.0), RNG.poisson(np.exp(LATENT + OFFSET))),
    "gamma": (Gamma(3.0), RNG.gamma(3.0, np.exp(LATENT + OFFSET) / 3)),
    "bernoulli": (Bernoulli(), (LATENT > 0).astype(float)),
    "binomial": (Binomial(), RNG.binomial(TRIALS.astype(int), 0.4)),
}
KERNEL, SCALE, RATIO = zonal.Matern(1.5, 0.8), 1.7, 0.6
WEIGHT = np.where(np.arange(N) % 7 == 0, 2.0, 1.0)


def dense(likelihood, y, trials, Z, queries, Zq):
    """Laplace's approximation with dense matrices (Rasmussen and Williams, section 3.4).

    The constant is the one of largest likelihood, by generalized least squares.
    """
    C = SCALE * (KERNEL(X) + RATIO * Z @ Z.T)
    observed, phi = Observed.of(y, trials), likelihood.dispersion
    level = likelihood.link(np.array([y.sum() / trials.sum()]))
    f = np.full(N, level[0])
    for _ in range(60):
        g, h = (WEIGHT * part / phi for part in likelihood.derivatives(observed, f + OFFSET))
        V = np.linalg.inv(C + np.diag(1 / h))
        t = f + g / h
        mean = V.sum(axis=0) @ t / V.sum()
        f = mean + C @ V @ (t - mean)
    u = f - mean
    evidence = WEIGHT @ likelihood.log_density(observed, f + OFFSET)
    evidence -= u @ np.linalg.solve(C, u) / 2 + np.linalg.slogdet(np.eye(N) + C * h)[1] / 2
    cross = SCALE * (KERNEL(queries, X) + RATIO * Zq @ Z.T)
    own = SCALE * (1 + RATIO * np.square(Zq).sum(axis=1))
    variance = own - np.einsum("qi,ij,qj->q", cross, V, cross)
    variance += (1 - cross @ V.sum(axis=0)) ** 2 / V.sum()
    return mean + cross @ V @ (t - mean), variance, evidence


@pytest.mark.parametrize("kernel", [zonal.Gaussian(3.0), zonal.Gaussian(9.0)], ids=repr)
def test_the_mode_of_a_smooth_kernel(kernel):
    """Its covariance matrix is singular to rounding, and no dense formula here inverts it."""
    likelihood, y = CASES["poisson"]
    observed, C = Observed.of(y, np.ones(N)), SCALE * kernel(X)
    f = np.zeros(N)
    for _ in range(60):
        g, h = likelihood.derivatives(observed, f)
        V = np.linalg.inv(C + np.diag(1 / h))
        mean = V.sum(axis=0) @ (f + g / h) / V.sum()
        f = mean + C @ V @ (f + g / h - mean)
    locations = locate(X, np.zeros((N, 1)), np.ones(N))
    packed = np.column_stack([y, np.zeros(N), np.ones(N)])
    responses, found = Responses.of(locations, packed, np.ones(N)), Found(kernel, 1.0, 1.0, np.nan)
    solved = find_laplace(locations, responses, likelihood, found, SCALE, None, n_neighbors=N)
    np.testing.assert_allclose(solved.joint.predict(X)[0][:, 0], f, atol=1e-5)
    at_rows = solved.joint.predict(locations.rows)[0][:, 0]
    np.testing.assert_allclose(solved.latent, at_rows, atol=1e-5)


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("with_features", [False, True])
def test_with_all_rows_as_neighbours_it_is_dense(name, with_features):
    likelihood, y = CASES[name]
    trials = TRIALS if name == "binomial" else np.ones(N)

    def features(rows):
        return np.column_stack([rows, rows[:, 0] * rows[:, 1]])

    def none(rows):
        return np.empty((len(rows), 0))

    own = features if with_features else none
    packed = np.column_stack([y, OFFSET, trials])
    locations = locate(X, np.zeros((N, 1)), WEIGHT)
    responses = Responses.of(locations, packed, WEIGHT)
    found = Found(KERNEL, 1.0, RATIO, np.nan)
    solved = find_laplace(
        locations, responses, likelihood, found, SCALE,
        features if with_features else None, n_neighbors=N,
    )  # fmt: skip
    queries = np.random.default_rng(1).uniform(-2, 2, (20, 2))
    mean, std = solved.joint.predict(queries, features if with_features else None, True)
    known, variance, evidence = dense(likelihood, y, trials, own(X), queries, own(queries))
    np.testing.assert_allclose(mean[:, 0], known, atol=1e-6)
    np.testing.assert_allclose(std[:, 0] ** 2, variance, atol=1e-6)
    assert solved.log_evidence == pytest.approx(evidence, abs=1e-6)


@pytest.mark.parametrize("likelihood", [Poisson(), NegativeBinomial(5.0)], ids=repr)
def test_a_wide_prior_does_not_throw_newtons_method_off(likelihood):
    """Counts from none to hundreds, and a variance of a thousand: f = μ + σ²K g at the mode."""
    rng = np.random.default_rng(0)
    y = rng.poisson(np.exp(3 + 3 * LATENT)) * (rng.random(N) > 0.2)
    kernel, scale = zonal.Matern(1.5, 8.0), 1000.0
    locations = locate(X, y[:, None].astype(float), None)
    packed = np.column_stack([y, np.zeros(N), np.ones(N)])
    responses = Responses.of(locations, packed, None)
    solved = find_laplace(
        locations, responses, likelihood, Found(kernel, 1.0, 1.0, 0.0), scale, n_neighbors=N
    )
    f = solved.latent[locations.index]
    g = likelihood.derivatives(Observed.of(y.astype(float)), f)[0]
    assert abs(g.sum()) < 1e-4
    level = f - scale * kernel(X) @ g
    np.testing.assert_allclose(level, level.mean(), atol=1e-3 * np.ptp(f))


@pytest.mark.parametrize("name", ["poisson", "gamma"])
def test_a_mode_of_other_parameters_is_a_beginning(name):
    """It takes fewer steps to the same mode."""
    likelihood, y = CASES[name]
    packed = np.column_stack([y, OFFSET, np.ones(N)])
    locations = locate(X, np.zeros((N, 1)), WEIGHT)
    responses = Responses.of(locations, packed, WEIGHT)
    found = Found(KERNEL, 1.0, RATIO, np.nan)

    def solved(scale, near=None):
        return find_laplace(
            locations, responses, likelihood, found, scale, n_neighbors=N, near=near
        )

    cold, warm = solved(SCALE), solved(SCALE, solved(1.2 * SCALE).latent)
    assert warm.n_steps < cold.n_steps
    np.testing.assert_allclose(warm.latent, cold.latent, atol=1e-7)
    assert warm.log_evidence == pytest.approx(cold.log_evidence, abs=1e-7)
