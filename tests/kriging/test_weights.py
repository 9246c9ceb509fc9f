import numpy as np
import pytest

import zonal
from zonal.engines.correlation import correlate, exp_minus, scaled, slopes
from zonal.kernels.compiled import of_kernel
from zonal.kriging.covariance import Covariance
from zonal.kriging.neighbors import Nearest
from zonal.kriging.reference import reference_weights
from zonal.kriging.weights import compiled_weights

RNG = np.random.default_rng(0)
SCALES = np.array([0.5, 1.0, 3.0])
KERNELS = [
    zonal.Matern(0.5, SCALES),
    zonal.Matern(1.5, SCALES),
    zonal.Matern(2.5, SCALES),
    zonal.Matern(np.inf, SCALES),
    zonal.Laplacian(0.7),
    zonal.Gaussian(SCALES),
    zonal.RationalQuadratic(SCALES, alpha=0.7),
]
ROWS, QUERIES = RNG.standard_normal((200, 3)), RNG.standard_normal((60, 3))


def test_exponential_of_the_loop():
    x = np.concatenate([[0.0, 1e-300, 707.9, 5000.0], RNG.uniform(0, 3, 500), np.arange(700.0)])
    scratch, out = np.empty(len(x)), np.empty(len(x))
    exp_minus(x, scratch, scratch.view(np.int64), out)
    np.testing.assert_allclose(out, np.exp(-np.minimum(x, 708)), rtol=6e-16)
    assert out[0] == 1.0


@pytest.mark.parametrize("kernel", KERNELS)
def test_correlation_is_the_kernel(kernel):
    found = of_kernel(kernel)
    difference = scaled(ROWS[:1], found.length_scale) - scaled(QUERIES, found.length_scale)
    squares = (difference**2).sum(axis=1)
    values, slope, scratch = np.empty((3, 60))
    correlate(found.family, found.shape, squares, scratch, values)
    np.testing.assert_allclose(values, kernel(ROWS[:1], QUERIES)[0], atol=1e-14)
    slopes(found.family, found.shape, squares, values, slope)
    shifted, step = np.empty(60), 1e-6
    correlate(found.family, found.shape, (np.sqrt(squares) + step) ** 2, scratch, shifted)
    np.testing.assert_allclose(slope, (shifted - values) / step / np.sqrt(squares), atol=1e-4)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("noise", [0.0, 1e-3, 1.0])
def test_loop_equals_reference_and_dense_solution(kernel, noise):
    found = of_kernel(kernel)
    points, queries = (scaled(part, found.length_scale) for part in (ROWS, QUERIES))
    nugget = noise * RNG.uniform(0.5, 2, len(ROWS))
    near = Nearest(points).query(queries, 12)
    near[3, 5:] = -1
    near[4] = -1
    weights, variance = compiled_weights(Covariance.of(found), points, nugget, queries, near)
    expected_weights, expected_variance = reference_weights(kernel, ROWS, nugget, QUERIES, near)
    # Condition numbers of smooth kernels without noise are up to 1e7 here.
    np.testing.assert_allclose(weights, expected_weights, atol=1e-8)
    np.testing.assert_allclose(variance, expected_variance, atol=1e-11)
    members = near[0]
    matrix = kernel(ROWS[members]) + np.diag(nugget[members])
    right = kernel(ROWS[members], QUERIES[:1])[:, 0]
    solution = np.linalg.solve(matrix, right)
    np.testing.assert_allclose(weights[0], solution, atol=1e-8)
    np.testing.assert_allclose(variance[0], 1 - right @ solution, atol=1e-11)
    assert weights[4].tolist() == [0.0] * 12
    assert variance[4] == 1.0


@pytest.mark.parametrize("kernel", KERNELS)
def test_repeated_neighbours_without_noise(kernel):
    rows = np.concatenate([ROWS[:6], ROWS[:6]])
    near = np.tile(np.arange(12, dtype=np.int32), (60, 1))
    found = of_kernel(kernel)
    points, queries = (scaled(part, found.length_scale) for part in (rows, QUERIES))
    weights, variance = compiled_weights(Covariance.of(found), points, np.zeros(12), queries, near)
    once, variance_once = compiled_weights(
        Covariance.of(found), points, np.zeros(12), queries, near[:, :6]
    )
    np.testing.assert_allclose(weights[:, :6] + weights[:, 6:], once, atol=1e-9)
    np.testing.assert_allclose(variance, variance_once, atol=1e-12)
    slow, slow_variance = reference_weights(kernel, rows, np.zeros(12), QUERIES, near)
    np.testing.assert_allclose(slow, weights, atol=1e-9)
    np.testing.assert_allclose(slow_variance, variance, atol=1e-12)


def test_a_kernel_that_is_not_a_correlation():
    kernel = zonal.Polynomial(degree=2) + 2 * zonal.Matern(0.7)
    near = np.tile(np.arange(20, dtype=np.int32), (60, 1))
    weights, variance = reference_weights(kernel, ROWS, np.full(200, 0.1), QUERIES, near)
    matrix = kernel(ROWS[:20]) + 0.1 * np.eye(20)
    expected = np.linalg.solve(matrix, kernel(ROWS[:20], QUERIES)).T
    np.testing.assert_allclose(weights, expected, atol=1e-10)
    explained = (expected * kernel(QUERIES, ROWS[:20])).sum(axis=1)
    np.testing.assert_allclose(variance, kernel.diag(QUERIES) - explained, atol=1e-10)
