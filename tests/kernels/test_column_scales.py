"""One length scale for each column."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.gaussian_process import kernels as sklearn_kernels

import zonal

RNG = np.random.default_rng(0)
X, Y = RNG.standard_normal((30, 3)), RNG.standard_normal((20, 3))
SCALES = [0.5, 1.0, 2.0]
KERNELS = [
    (zonal.Matern(1.5, SCALES), sklearn_kernels.Matern(SCALES, nu=1.5)),
    (zonal.Matern(0.7, np.array(SCALES)), sklearn_kernels.Matern(SCALES, nu=0.7)),
    (zonal.Laplacian(SCALES), sklearn_kernels.Matern(SCALES, nu=0.5)),
    (zonal.Gaussian(SCALES), sklearn_kernels.RBF(SCALES)),
]


@pytest.mark.parametrize(("kernel", "expected"), KERNELS)
@pytest.mark.parametrize("convert", [np.asarray, sp.csr_array], ids=["dense", "csr"])
def test_equals_scikit_learn(kernel, expected, convert):
    np.testing.assert_allclose(kernel(convert(X), Y), expected(X, Y), atol=1e-12)
    np.testing.assert_allclose(clone(kernel)(convert(X)), expected(X), atol=1e-12)
    assert kernel(convert(X.astype(np.float32))).dtype == np.float32


def test_rational_quadratic_is_the_same_on_scaled_columns():
    kernel = zonal.RationalQuadratic(SCALES, alpha=0.7)
    expected = sklearn_kernels.RationalQuadratic(length_scale=1.0, alpha=0.7)
    np.testing.assert_allclose(kernel(X, Y), expected(X / SCALES, Y / SCALES), atol=1e-12)


@pytest.mark.parametrize("kernel", [pair[0] for pair in KERNELS])
def test_gradient_by_differences(kernel):
    gradient, step = kernel.gradient(X, Y), 1e-6
    for column in range(3):
        move = step * np.eye(3)[column]
        slope = (kernel(X + move, Y) - kernel(X - move, Y)) / (2 * step)
        np.testing.assert_allclose(gradient[:, :, column], slope, atol=1e-7)
    coef = RNG.standard_normal(len(Y))
    np.testing.assert_allclose(
        kernel.contract_gradient(X, Y, coef), np.einsum("ijk,j->ik", gradient, coef), atol=1e-12
    )


@pytest.mark.parametrize("kernel", [pair[0] for pair in KERNELS])
def test_features_say_what_to_do(kernel):
    for features in (zonal.HarmonicFeatures, zonal.GegenbauerFeatures, zonal.FourierFeatures):
        with pytest.raises(ValueError, match="divide the columns"):
            features(kernel, 16).fit(X)
    with pytest.raises(ValueError, match="divide the columns"):
        kernel.expand(3)


def test_parameters():
    kernel = zonal.Matern(2.5, SCALES)
    assert repr(kernel) == "Matern(length_scale=[0.5, 1.0, 2.0], nu=2.5)"
    assert kernel.get_params() == {"nu": 2.5, "length_scale": SCALES}
    with pytest.raises(ValueError, match=r"has 3 entries, but the rows have 2 columns"):
        kernel(X[:, :2])
    for wrong in ([1.0, -1.0, 1.0], [1.0, np.inf, 1.0], [[1.0, 2.0, 3.0]], [], ["a", 1.0, 1.0]):
        with pytest.raises(ValueError, match="one such number for each column"):
            clone(kernel).set_params(length_scale=wrong)(X)
