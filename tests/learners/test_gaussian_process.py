import numpy as np
import pytest
from scipy.stats import multivariate_normal
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF
from sklearn.kernel_approximation import RBFSampler

import zonal
from zonal.learners.evidence import Evidence
from zonal.moments import Moments

RNG = np.random.default_rng(0)
X = RNG.uniform(-2, 2, (120, 2))
y = np.sin(2 * X[:, 0]) * X[:, 1] + 0.1 * RNG.standard_normal(120)
NEW = RNG.uniform(-2, 2, (40, 2))
FAR = 100 + NEW


def features(n=60):
    return zonal.GegenbauerFeatures(
        zonal.Gaussian(1.0), n, max_degree=10, n_radial=4, random_state=0
    )


def test_posterior_by_the_textbook():
    """Bayesian linear regression with the n × n formulas."""
    noise = 0.02
    model = zonal.GaussianProcess(features(), noise).fit(X, y)
    map_ = features().fit(X)
    Z, Z_new = map_.transform(X), map_.transform(NEW)
    C = Z @ Z.T + noise * np.eye(120)
    mean, std = model.predict(NEW, return_std=True)
    np.testing.assert_allclose(mean, Z_new @ Z.T @ np.linalg.solve(C, y), atol=1e-8)
    squares = np.sum(Z_new**2, axis=1)
    variance = squares - np.sum((Z_new @ Z.T) * np.linalg.solve(C, Z @ Z_new.T).T, axis=1)
    variance += np.maximum(1 - squares, 0)
    np.testing.assert_allclose(std**2, variance, atol=1e-8)
    evidence = multivariate_normal(np.zeros(120), C).logpdf(y)
    assert model.log_evidence_ == pytest.approx(evidence, rel=1e-8)


def test_evidence_is_maximal():
    model = zonal.GaussianProcess(features()).fit(X, y)
    for factor in (0.5, 0.9, 1.1, 2.0):
        other = zonal.GaussianProcess(features(), model.noise_ * factor).fit(X, y)
        assert other.log_evidence_ < model.log_evidence_
    assert 0.005 < model.noise_ < 0.03  # the truth is 0.01


@pytest.mark.parametrize("constant", [True, False])
def test_many_alphas_in_one_go(constant):
    moments = Moments(np.zeros(6), 2)
    moments.update(RNG.standard_normal((50, 7)))
    evidence, alphas = Evidence(moments, constant), np.geomspace(1e-9, 1e9, 20)
    expected = [evidence.log_evidence(alpha) for alpha in alphas]
    np.testing.assert_allclose(evidence.scan(alphas), expected, rtol=1e-12)


def test_against_the_exact_gaussian_process():
    """Mean and variance agree within what the measured error of the features can do to them.

    With C = K + σ²I, an error E in K, e in the new rows k and ε in k(x,x), perturbation theory
    bounds the change of kᵀC⁻¹y by (‖C⁻¹k‖‖E‖ + ‖e‖) ‖C⁻¹y‖ / (1 - ‖E‖/σ²), and likewise for the
    variance. Seen: 9e-4 in the entries of K, 1.4e-3 in the mean, 3.5e-3 in std, 0.1 % in the
    evidence.
    """
    kernel, noise = zonal.Gaussian(1.5), 0.05
    wide = zonal.GegenbauerFeatures(kernel, 10 * 256, max_degree=16, n_radial=10, random_state=0)
    model = zonal.GaussianProcess(wide, noise).fit(X, y)
    exact = GaussianProcessRegressor(RBF(1.5), alpha=noise, optimizer=None).fit(X, y)
    Z, Z_new = model.features_.transform(X), model.features_.transform(NEW)
    E = np.linalg.norm(Z @ Z.T - kernel(X), 2)
    e = np.linalg.norm(Z_new @ Z.T - kernel(NEW, X), axis=1)
    solved = np.linalg.solve(kernel(X) + noise * np.eye(120), np.column_stack([y, kernel(X, NEW)]))
    weights, rows = np.linalg.norm(solved[:, 0]), np.linalg.norm(solved[:, 1:], axis=0)
    slack = 1 / (1 - E / noise)
    mean, std = model.predict(NEW, return_std=True)
    exact_mean, exact_std = exact.predict(NEW, return_std=True)
    assert (np.abs(mean - exact_mean) <= (rows * E + e) * weights * slack).all()
    diagonal = np.abs(np.sum(Z_new**2, axis=1) - 1)
    assert (np.abs(std**2 - exact_std**2) <= (rows * E + 2 * e) * rows * slack + diagonal).all()
    assert np.abs(mean - exact_mean).max() < 5e-3
    assert np.abs(std - exact_std).max() < 0.01
    assert model.log_evidence_ == pytest.approx(exact.log_marginal_likelihood_value_, rel=5e-3)


def test_uncertainty_grows_back_to_the_prior():
    model = zonal.GaussianProcess(budget=200, random_state=0).fit(X, y)
    _, near = model.predict(X, return_std=True)
    _, far = model.predict(FAR, return_std=True)
    assert near.max() < 0.5
    # Features that know nothing there leave all of the prior but what the rows themselves lack.
    rows = model.features_.transform(X)
    lacking = np.max(1 - np.square(rows).sum(axis=1))
    # The constant is not known either: its variance is that of generalised least squares.
    C = model.amplitude_ * rows @ rows.T + model.noise_ * np.eye(len(X))
    constant = 1 / np.linalg.solve(C, np.ones(len(X))).sum()
    np.testing.assert_allclose(far**2, model.amplitude_ * (1 - lacking) + constant, rtol=0.01)
    assert (far > 5 * near.max()).all()


def test_samples():
    model = zonal.GaussianProcess(features(), 0.02).fit(X, y)
    n = 4000
    draws = model.sample_y(NEW, n, random_state=1)
    assert draws.shape == (40, n)
    mean, std = model.predict(NEW, return_std=True)
    assert (np.abs(draws.mean(axis=1) - mean) < 5 * std / np.sqrt(n)).all()
    # The standard error of a variance is σ² √(2/n).
    assert (np.abs(draws.var(axis=1) / std**2 - 1) < 5 * np.sqrt(2 / n)).all()
    np.testing.assert_array_equal(draws, model.sample_y(NEW, n, random_state=1))


def test_several_targets():
    Y = np.column_stack([y, -2 * y])
    model = zonal.GaussianProcess(features(), 0.02).fit(X, Y)
    single = zonal.GaussianProcess(features(), 0.02).fit(X, y)
    np.testing.assert_allclose(
        model.predict(NEW), single.predict(NEW)[:, None] * [1, -2], atol=1e-8
    )
    assert model.sample_y(NEW, 5).shape == (40, 2, 5)
    double = zonal.GaussianProcess(features(), 0.02).fit(X, -2 * y)
    assert model.log_evidence_ == pytest.approx(single.log_evidence_ + double.log_evidence_)


@pytest.mark.parametrize("size", [1, 7, 1000])
def test_stream(size):
    def oblivious():
        return features().set_params(radial_basis="taylor", center=False)

    whole = zonal.GaussianProcess(oblivious()).fit(X, y)
    parts = zonal.GaussianProcess(oblivious())
    for start in range(0, 120, size):
        parts.partial_fit(X[start : start + size], y[start : start + size])
    np.testing.assert_allclose(parts.predict(NEW), whole.predict(NEW), rtol=1e-6, atol=1e-8)
    assert parts.log_evidence_ == pytest.approx(whole.log_evidence_, rel=1e-8)


def test_other_transformers_and_degenerate_targets():
    sampler = RBFSampler(n_components=50, random_state=0)
    _, std = zonal.GaussianProcess(sampler).fit(X, y).predict(FAR, return_std=True)
    assert np.isfinite(std).all()
    mean, std = zonal.GaussianProcess(features()).fit(X, 0 * y).predict(X, return_std=True)
    np.testing.assert_array_equal(mean, 0)
    assert np.isfinite(std).all()
    constant = zonal.GaussianProcess(features()).fit(X, np.full(120, 3.0))
    # Zero prior mean and no intercept: a constant is a function like any other.
    assert np.abs(constant.predict(X) - 3).mean() < 0.1


@pytest.mark.parametrize("noise", [0.0, -1.0, "auto", np.nan, True])
def test_bad_noise(noise):
    with pytest.raises(ValueError, match="noise="):
        zonal.GaussianProcess(features(), noise).fit(X, y)
