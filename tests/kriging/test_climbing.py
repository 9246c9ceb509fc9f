"""Damped steps by the information, against the gradient, finite differences and SciPy."""

import numpy as np
import pytest
from scipy.optimize import minimize

import zonal
from zonal.kernels.compiled import of_kernel
from zonal.kriging import information as module
from zonal.kriging.climbing import climb
from zonal.kriging.evidence import evaluate, gradient
from zonal.kriging.information import information
from zonal.kriging.locations import locate
from zonal.kriging.pairs import NO_EXTRA, Extra
from zonal.kriging.sample import Parameters, Sample

GROUPS = np.array([0, 1, 1])
PARAMETERS = Parameters(np.log([0.5, 0.8]), np.log(0.1), np.log(0.7))
CORRELATION = of_kernel(zonal.Matern(1.5))


def make_sample(n_rows=300, n_targets=1):
    rng = np.random.default_rng(0)
    rows = rng.random((n_rows, 3))
    waves = np.sin(3 * rows @ rng.standard_normal((3, n_targets)))
    y = waves + 0.2 * rng.standard_normal((n_rows, n_targets))
    return Sample.of(locate(rows, y), np.zeros(3), np.ones(3), GROUPS)


def make_extra(n_rows, m):
    """Covariances of a constant that varies a little from row to row: they stay positive."""
    pairs, diagonal = np.full((n_rows, m * (m + 1) // 2), 0.3), np.full((n_rows, m + 1), 0.5)
    return Extra(pairs, diagonal, 0.8)


@pytest.mark.parametrize("has_extra", [False, True])
@pytest.mark.parametrize("kept", [False, True])
def test_gradients_of_rows_add_up_to_the_gradient(has_extra, kept):
    sample = make_sample()
    near = sample.neighbors(PARAMETERS, 8)
    extra = make_extra(*near.shape) if has_extra else NO_EXTRA
    at = evaluate(sample, CORRELATION, PARAMETERS, near, extra)
    given = at if kept else type(at)(at.found, at.whitening, at.whitened, None)
    by_mean, by_variance = module._row_gradients(
        sample, CORRELATION, PARAMETERS, given, extra, slice(None)
    )
    variance, scale = at.whitening.variance, at.found.scale[0]
    coef = np.vstack([-at.found.mean, np.eye(1)])
    residual = (at.whitened @ coef)[:, 0] / np.sqrt(scale)
    signs = np.random.default_rng(0).choice([-1.0, 1.0], (len(sample), 1))[:, 0]
    # d/dθ of -(log v + r²)/2 with r = (y - μ)/(σ√v).
    total = (signs * residual / np.sqrt(variance)) @ by_mean
    total += ((residual**2 - 1) / (2 * variance)) @ by_variance
    expected = gradient(sample, CORRELATION, PARAMETERS, at, extra)
    found = [*np.bincount(GROUPS, total[:3]), *total[3:]]
    np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-8)


def test_information_is_the_products_of_finite_differences():
    """Means and log variances of rows at moved parameters, in the definition of the information."""
    sample = make_sample(120)
    near = sample.neighbors(PARAMETERS, 6)
    at = evaluate(sample, CORRELATION, PARAMETERS, near)
    centred, vector, h = sample.targets[:, 0] - at.found.mean[0], PARAMETERS.vector(), 1e-5

    def rows_at(moved):
        whitening = evaluate(sample, CORRELATION, Parameters.of_vector(moved), near).whitening
        known = np.where(near >= 0, centred[near], 0.0)
        return (whitening.weights * known).sum(axis=1), np.log(whitening.variance)

    slopes = []
    for number in range(3):
        ahead, behind = (rows_at(vector + side * h * np.eye(4)[number]) for side in (1, -1))
        slopes.append([(a - b) / (2 * h) for a, b in zip(ahead, behind, strict=True)])
    means, logs = np.array(slopes).swapaxes(0, 1)
    means /= np.sqrt(at.whitening.variance * at.found.scale[0])
    logs -= logs.mean(axis=1, keepdims=True)
    expected = (means @ means.T + logs @ logs.T / 2) / len(sample)
    found = information(sample, CORRELATION, PARAMETERS, at)
    np.testing.assert_allclose(found[:3, :3], expected, rtol=1e-5)
    assert not found[3].any()  # without features their weight is of no meaning


def test_targets_that_are_the_same_have_as_many_times_the_information():
    """Random signs have the sum of squares on average; 2,000 rows tell it to about 6 %."""
    single = make_sample(2000)
    found = []
    for n_targets in (1, 3):
        targets = np.repeat(single.targets, n_targets, axis=1)
        sample = Sample.of(locate(single.points, targets), np.zeros(3), np.ones(3), GROUPS)
        near = sample.neighbors(PARAMETERS, 8)
        at = evaluate(sample, CORRELATION, PARAMETERS, near)
        found.append(information(sample, CORRELATION, PARAMETERS, at)[:3, :3])
    np.testing.assert_allclose(np.diag(found[1]), 3 * np.diag(found[0]), rtol=0.25)


@pytest.mark.parametrize("has_extra", [False, True])
def test_a_climb_reaches_what_scipy_reaches(has_extra):
    sample = make_sample()
    near = sample.neighbors(PARAMETERS, 8)
    extra = make_extra(*near.shape) if has_extra else NO_EXTRA
    free = np.array([True, True, True, has_extra])
    start = Parameters(np.log([5.0, 0.05]), np.log(2.0), 0.0)
    best, value, gain = climb(sample, CORRELATION, start, free, near, 100, extra)

    def loss(part):
        whole = start.vector()
        whole[free] = part
        given = sample, CORRELATION, Parameters.of_vector(whole)
        at = evaluate(*given, near, extra)
        slope = gradient(*given, at, extra)
        return -at.found.log_evidence, -slope[free]

    bounds = [(np.log(1e-4), np.log(1e3))] * 2 + [(np.log(1e-8), np.log(1e4))]
    bounds += [(np.log(1e-6), np.log(1e6))] * has_extra
    expected = minimize(loss, start.vector()[free], jac=True, method="L-BFGS-B", bounds=bounds)
    # Steps end where they promise less than a ten-thousandth for each row.
    assert value > -expected.fun - 1e-3 * len(sample)
    assert value == evaluate(sample, CORRELATION, best, near, extra).found.log_evidence
    assert gain > 0
