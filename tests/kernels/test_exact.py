"""Exact kernel matrices against independent formulas."""

import math

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.metrics.pairwise import polynomial_kernel, rbf_kernel

import zonal
from zonal.kernels import as_kernel

RNG = np.random.default_rng(0)
X, Y = RNG.standard_normal((20, 4)), RNG.standard_normal((7, 4))
UNIT = X / np.linalg.norm(X, axis=1, keepdims=True)


def multiquadric(r, s, cos):
    return 1 / np.sqrt(1 + r**2 + s**2 - 2 * r * s * cos)


KERNELS = [
    zonal.Gaussian(1.3),
    zonal.Exponential(2.0),
    zonal.Polynomial(3, 0.5, 2.0),
    zonal.DotProduct(np.cosh),
    zonal.ArcCosine(0),
    zonal.ArcCosine(1),
    zonal.ArcCosine(2),
    zonal.NTK(1),
    zonal.NTK(3),
    2 * zonal.Gaussian(2.0) + zonal.Polynomial(2),
    zonal.Gaussian(2.0) * zonal.Polynomial(2),
    zonal.Gaussian(2.0).expand(4, 6, 3),
    zonal.Matern(0.3, 2.0),
    zonal.Matern(1.5, 2.0),
    zonal.Matern(40.0, 2.0),
    zonal.Matern(np.inf, 2.0),
    zonal.Laplacian(2.0),
    zonal.RationalQuadratic(2.0, 0.7),
    zonal.RotationInvariant(multiquadric),
    zonal.Matern(0.5) * zonal.NTK(1) + 2 * zonal.Laplacian(),
]


def test_closed_forms():
    np.testing.assert_allclose(zonal.Gaussian(2.0)(X, Y), rbf_kernel(X, Y, gamma=1 / 8))
    np.testing.assert_allclose(zonal.Exponential(2.0)(X, Y), np.exp(X @ Y.T / 4))
    np.testing.assert_allclose(
        zonal.Polynomial(3, 0.5, 2.0)(X, Y), polynomial_kernel(X, Y, degree=3, gamma=0.5, coef0=2)
    )
    np.testing.assert_allclose(zonal.DotProduct(np.cosh)(X, Y), np.cosh(X @ Y.T))
    np.testing.assert_allclose(zonal.Zonal(np.exp)(UNIT), np.exp(UNIT @ UNIT.T))


@pytest.mark.parametrize("order", [0, 1, 2])
def test_arc_cosine_is_an_expectation(order):
    """Cho and Saul: k(x,y) = 2 E[max(0,⟨w,x⟩)ⁿ max(0,⟨w,y⟩)ⁿ], w standard normal."""
    n = 400_000
    W = np.random.default_rng(1).standard_normal((n, 4))
    x, y = X[0], X[1]
    activation = [(W @ v > 0) * np.maximum(W @ v, 0) ** order for v in (x, y)]
    for a, b, value in [
        (0, 1, zonal.ArcCosine(order)(x[None], y[None])[0, 0]),
        (0, 0, zonal.ArcCosine(order).diag(x[None])[0]),
    ]:
        sample = 2 * activation[a] * activation[b]
        assert abs(sample.mean() - value) < 5 * sample.std() / math.sqrt(n)


def test_arc_cosine_diagonal():
    norms = np.linalg.norm(X, axis=1)
    for order, factor in enumerate([1, 1, 3]):
        np.testing.assert_allclose(
            zonal.ArcCosine(order).diag(X), factor * norms ** (2 * order), rtol=1e-12
        )


def test_two_layer_ntk_is_the_paper_formula():
    t = np.linspace(-1, 1, 101)

    def a0(x):
        return 1 - np.arccos(x) / np.pi

    def a1(x):
        return (np.sqrt(1 - x**2) + x * (np.pi - np.arccos(x))) / np.pi

    inner = np.clip(a1(t), -1, 1)
    expected = a1(inner) + (a1(t) + t * a0(t)) * a0(inner)
    points = np.column_stack([t, np.sqrt(1 - t**2)])
    values = zonal.NTK(depth=2)(np.array([[1.0, 0.0]]), points)[0]
    np.testing.assert_allclose(values, expected, atol=1e-7)  # arccos near 1 costs half the digits
    np.testing.assert_allclose(
        zonal.NTK(2)(2 * points[:1], 3 * points)[0],
        6 * zonal.NTK(2)(points[:1], points)[0],
        atol=1e-12,
    )


@pytest.mark.parametrize("depth", [1, 2, 4])
def test_ntk_recursion_and_value_on_the_diagonal(depth):
    # K_h(1) = K_{h-1}(1) + 1, K_0(1) = 1.
    assert zonal.NTK(depth).diag(np.array([[1.0, 0.0]]))[0] == pytest.approx(depth + 1)


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_matrix_diag_dtype_sparse_and_clone(kernel):
    K = kernel(X)
    np.testing.assert_array_equal(K, kernel(X, X))
    np.testing.assert_allclose(K, kernel(X, X.copy()), atol=1e-7 * K.max())
    np.testing.assert_allclose(kernel.diag(X), np.diag(K), rtol=1e-10)
    assert np.linalg.eigvalsh(K).min() > -1e-9 * np.linalg.eigvalsh(K).max()
    single = kernel(X.astype(np.float32))
    assert single.dtype == np.float32
    assert kernel.diag(X.astype(np.float32)).dtype == np.float32
    np.testing.assert_allclose(single, K, atol=1e-5 * np.abs(K).max())
    np.testing.assert_allclose(kernel(sp.csr_array(X), sp.csr_array(Y)), kernel(X, Y), atol=1e-9)
    np.testing.assert_allclose(clone(kernel)(X), K)


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_zero_rows(kernel):
    rows = np.vstack([np.zeros(4), X])
    K = kernel(rows)
    assert np.isfinite(K).all()
    np.testing.assert_allclose(kernel.diag(rows), np.diag(K), rtol=1e-10)


def test_algebra():
    one, two = zonal.Gaussian(1.0), zonal.Exponential(2.0)
    np.testing.assert_allclose((one + two)(X), one(X) + two(X))
    np.testing.assert_allclose((one * two)(X, Y), one(X, Y) * two(X, Y))
    np.testing.assert_allclose((3 * one * 0.5)(X), 1.5 * one(X))
    assert (one + one).shift_invariant
    assert not (one * two).shift_invariant
    assert (2 * one).shift_invariant
    kernel = one + 2 * two
    kernel.set_params(k1__bandwidth=5.0, k2__factor=4.0)
    np.testing.assert_allclose(kernel(X), zonal.Gaussian(5.0)(X) + 4 * two(X))


def test_median_bandwidth():
    points = np.array([[0.0], [1.0], [3.0], [3.0]])
    # Distances between different rows: 1, 2, 2, 3, 3; the pair of equal rows does not count.
    assert zonal.Gaussian("median").resolve(points).bandwidth == 2.0
    weighted = zonal.Gaussian("median").resolve(points[:3], [1, 1, 2])
    assert weighted.bandwidth == 2.0
    with pytest.warns(UserWarning, match="All rows are equal"):
        assert zonal.Gaussian("median").resolve(np.ones((5, 2))).bandwidth == 1.0


@pytest.mark.parametrize("name", ["matern", "laplacian", "rational_quadratic"])
def test_median_length_scale(name):
    points = np.array([[0.0], [1.0], [3.0], [3.0]])
    kernel = as_kernel(name)
    assert kernel.length_scale == "median"
    resolved = (2 * kernel + kernel * kernel).resolve(points)
    assert resolved.k1.kernel.length_scale == resolved.k2.k1.length_scale == 2.0
    assert kernel.resolve(points[:3], [1, 1, 2]).length_scale == 2.0
    with pytest.raises(ValueError, match=r'length_scale="median".* call kernel.resolve\(X\)'):
        kernel(points)


@pytest.mark.parametrize(
    ("kernel", "message"),
    [
        (zonal.Gaussian(0.0), r"bandwidth=0.0 of Gaussian must be a positive"),
        (zonal.Gaussian(-1), "bandwidth=-1"),
        (zonal.Gaussian(np.nan), "bandwidth=nan"),
        (zonal.Gaussian("mean"), "bandwidth='mean'"),
        (zonal.Gaussian("median"), "resolve"),
        (zonal.Exponential(0), "scale=0"),
        (zonal.Polynomial(0), "degree=0"),
        (zonal.Polynomial(2, gamma=-1.0), "gamma=-1.0"),
        (zonal.Polynomial(2, coef0=-1.0), "coef0=-1.0"),
        (zonal.ArcCosine(3), "order=3"),
        (zonal.NTK(0), "depth=0"),
        (zonal.Matern(0.0), "nu=0.0 of Matern must be .*numpy.inf"),
        (zonal.Matern(np.nan), "nu=nan"),
        (zonal.Matern("rough"), "nu='rough'"),
        (zonal.Matern(1.5, -1), 'length_scale=-1 of Matern must be .* or "median"'),
        (zonal.Laplacian(np.inf), "length_scale=inf of Laplacian"),
        (zonal.RationalQuadratic(0.0), "length_scale=0.0 of RationalQuadratic"),
        (zonal.RationalQuadratic(1.0, alpha=-1.0), "alpha=-1.0 of RationalQuadratic"),
        (zonal.RotationInvariant(3), "f=3 of RotationInvariant must be a function"),
        (-1 * zonal.Gaussian(), "factor=-1.0"),
        (zonal.GeneralizedZonalKernel(4, np.ones_like, -1, 1), "max_degree=-1"),
    ],
)
def test_bad_parameters(kernel, message):
    with pytest.raises(ValueError, match=message):
        kernel(X)


def test_bad_rows():
    kernel = zonal.Gaussian()
    with pytest.raises(ValueError, match="NaN"):
        kernel([[np.nan, 1.0]])
    with pytest.raises(ValueError, match="4 columns and Y has 3"):
        kernel(X, Y[:, :3])
    with pytest.raises(ValueError, match="Normalizer"):
        zonal.Zonal(np.exp)(X)
    with pytest.raises(ValueError, match="dim=3"):
        zonal.Gaussian().expand(3)(X)


@pytest.mark.parametrize("kernel", [zonal.Gaussian, zonal.Laplacian, zonal.RationalQuadratic])
@pytest.mark.parametrize("scale", [1e-30, 1e-24, 1.0, 1e24])
def test_float32_at_any_scale(kernel, scale):
    """Squares of differences are beyond the range of float32, the kernel is not."""
    X = np.random.default_rng(0).standard_normal((6, 3))
    single = (scale * X).astype(np.float32)
    # Rounded scales and rows: a few units of float32.
    np.testing.assert_allclose(kernel(scale)(single), kernel(1.0)(X), rtol=1e-5)


@pytest.mark.parametrize("kernel", [zonal.Gaussian, zonal.Laplacian])
def test_scale_below_the_range_of_float32(kernel):
    X = np.random.default_rng(0).standard_normal((4, 3)).astype(np.float32)
    np.testing.assert_array_equal(kernel(1e-50)(X), np.eye(4))


@pytest.mark.parametrize("dim", [3, 40])
def test_type_of_mixed_rows_does_not_depend_on_the_columns(dim):
    X = np.random.default_rng(0).standard_normal((4, dim))
    for kernel in (zonal.Gaussian(), zonal.Matern()):
        assert kernel(X.astype(np.float32), X).dtype == np.float64
        assert kernel(X.astype(np.float32), X.astype(np.float32)).dtype == np.float32
