from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import multivariate_normal
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process import kernels as sklearn_kernels

import zonal
from zonal.kernels.compiled import of_kernel
from zonal.kriging import neighborhood
from zonal.kriging.climbing import maximize
from zonal.kriging.evidence import evaluate, gradient
from zonal.kriging.locations import locate
from zonal.kriging.marginal import _inverse_root
from zonal.kriging.sample import Parameters, Sample

RNG = np.random.default_rng(0)
X = RNG.standard_normal((120, 3))
X[50:60] = X[:10]  # repeated rows, with other targets
Y = np.column_stack([np.sin(2 * X[:, 0]) + X[:, 1], X[:, 2] ** 2])
Y += 0.1 * RNG.standard_normal(Y.shape)
WEIGHT = np.ones(len(X))
WEIGHT[[50, 52, 7]] = 3, 2, 2
GROUPS = np.array([0, 1, 1])
KERNELS = [
    zonal.Matern(0.5),
    zonal.Matern(1.5),
    zonal.Matern(2.5),
    zonal.Gaussian(),
    zonal.RationalQuadratic(1.0, alpha=0.7),
]
PARAMETERS = Parameters(np.array([0.2, -0.3]), np.log(0.2), np.log(1.5))


def make_sample(weight=WEIGHT, width=0, targets=Y, rows=X):
    found = locate(rows, targets, weight)
    features = np.cos(found.rows @ np.random.default_rng(1).standard_normal((3, width)))
    return Sample.of(found, np.zeros(3), np.ones(3), GROUPS, features if width else None)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("width", [0, 4])
@pytest.mark.parametrize("some", [False, True])
@pytest.mark.parametrize("kept", [False, True])
def test_gradient_by_differences(kernel, width, some, kept, monkeypatch):
    if not kept:  # factors are found again where there are too many
        monkeypatch.setattr(neighborhood, "KEPT_NUMBERS", 0)
    sample, correlation = make_sample(width=width), of_kernel(kernel)
    if some:
        sample = sample.thin(40)
    near = sample.neighbors(PARAMETERS, 8)
    at = evaluate(sample, correlation, PARAMETERS, near)
    assert (at.factors is not None) is kept
    found = gradient(sample, correlation, PARAMETERS, at)
    step, vector = 1e-5, PARAMETERS.vector()

    def value(vector):
        return evaluate(sample, correlation, Parameters.of_vector(vector), near).found.log_evidence

    differences = [
        (value(vector + step * e) - value(vector - step * e)) / (2 * step) for e in np.eye(4)
    ]
    np.testing.assert_allclose(found, differences, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("width", [0, 4])
def test_all_neighbours_give_the_exact_evidence(kernel, width):
    """Of every observation, of its own precision, also where rows repeat a location."""
    sample = make_sample(width=width)
    near = sample.neighbors(PARAMETERS, len(sample) - 1)
    found = evaluate(sample, of_kernel(kernel), PARAMETERS, near).found
    rows, targets = X, standardized(Y)
    scales = np.exp(PARAMETERS.log_scales)[GROUPS]
    features = np.cos(rows @ np.random.default_rng(1).standard_normal((3, width)))
    covariance = kernel(rows / scales) + np.diag(0.2 / WEIGHT) + 1.5 * features @ features.T
    total, ones = 0.0, np.ones(len(rows))
    for t in range(2):
        inverse = np.linalg.inv(covariance)
        mean = (ones @ inverse @ targets[:, t]) / (ones @ inverse @ ones)
        rest = targets[:, t] - mean
        scale = rest @ inverse @ rest / len(rows)
        np.testing.assert_allclose(found.mean[t], mean, atol=1e-8)
        np.testing.assert_allclose(found.scale[t], scale, rtol=1e-8)
        total += multivariate_normal(mean * ones, scale * covariance).logpdf(targets[:, t])
    np.testing.assert_allclose(found.log_evidence, total, rtol=1e-8)


def standardized(targets):
    """What `Sample.of` makes of targets."""
    means = locate(X, targets, WEIGHT).targets
    return (targets - means.mean(axis=0)) / means.std(axis=0)


def test_zero_mean_equals_scikit_learn():
    rows, y = X[:50], (Y[:50, :1] - Y[:50, :1].mean()) / Y[:50, :1].std()
    found = locate(rows, y)
    sample = Sample.of(found, np.zeros(3), np.ones(3), GROUPS)
    sample = replace(sample, center=False)
    near = sample.neighbors(PARAMETERS, 49)
    at = evaluate(sample, of_kernel(zonal.Matern(1.5)), PARAMETERS, near).found
    scales = np.exp(PARAMETERS.log_scales)[GROUPS]
    kernel = sklearn_kernels.ConstantKernel(at.scale[0]) * sklearn_kernels.Matern(scales, nu=1.5)
    model = GaussianProcessRegressor(kernel, alpha=0.2 * at.scale[0], optimizer=None)
    model.fit(rows, y[:, 0])
    np.testing.assert_allclose(at.log_evidence, model.log_marginal_likelihood_value_, rtol=1e-7)
    assert at.mean.tolist() == [0.0]


def test_some_rows_estimate_the_whole():
    rng = np.random.default_rng(0)
    rows = rng.random((4000, 3))
    y = np.sin(6 * rows).sum(axis=1, keepdims=True) + 0.1 * rng.standard_normal((4000, 1))
    sample = Sample.of(locate(rows, y), np.zeros(3), np.ones(3), GROUPS)
    correlation = of_kernel(zonal.Matern(1.5))
    thin = sample.thin(1000)
    whole, part = (
        evaluate(s, correlation, PARAMETERS, s.neighbors(PARAMETERS, 10)).found
        for s in (sample, thin)
    )
    # Terms of a Gaussian log density have a variance near 1/2 about their mean.
    bound = 4 * np.sqrt(0.5 / 1000)
    assert abs(whole.log_evidence / 4000 - part.log_evidence / 1000) < bound


def test_maximize_climbs_to_a_point_without_slope():
    sample, correlation = make_sample(width=4), of_kernel(zonal.Matern(1.5))
    free = np.ones(4, bool)
    best, value = maximize(sample, correlation, PARAMETERS, free, 20, 100)
    near = sample.neighbors(PARAMETERS, 20)
    at = evaluate(sample, correlation, best, near)
    np.testing.assert_allclose(at.found.log_evidence, value, rtol=1e-12)
    start = evaluate(sample, correlation, PARAMETERS, near).found.log_evidence
    assert value > start
    slope = gradient(sample, correlation, best, at)
    inside = np.abs(best.vector()) < np.log(900)
    assert np.abs(slope[inside]).max() < 0.5
    held = np.array([True, True, False, False])
    fixed, _ = maximize(sample, correlation, PARAMETERS, held, 20, 100)
    assert fixed.log_noise == PARAMETERS.log_noise
    assert fixed.log_ratio == PARAMETERS.log_ratio


def test_features_that_hide_the_ridge_in_rounding():
    """Sums of products in float32 have negative eigenvalues far beyond the ridge."""
    rng = np.random.default_rng(0)
    Z = (1e4 * rng.standard_normal((40, 5)) @ rng.standard_normal((5, 12))).astype(np.float32)
    gram = (Z.T @ Z).astype(np.float64)
    gram = (gram + gram.T) / 2
    values, vectors = np.linalg.eigh(gram + np.eye(12))
    assert values.min() < -1
    root, log_determinant = _inverse_root(gram, 1.0)
    np.testing.assert_allclose(root, np.triu(root))
    known = np.maximum(values, -values.min())
    np.testing.assert_allclose(
        root @ root.T, vectors / known @ vectors.T, atol=1e-9 / -values.min()
    )
    np.testing.assert_allclose(log_determinant, np.log(known).sum())
