"""Products with a kernel matrix against the matrix itself."""

import numpy as np
import pytest
import scipy.sparse as sp

import zonal
from zonal.rows.buffers import Scratch
from zonal.solvers import products
from zonal.solvers.products import KernelProduct
from zonal.solvers.tiles import KernelTiles

RNG = np.random.default_rng(0)
X = RNG.standard_normal((230, 4))
WIDE = RNG.standard_normal((150, 40))
V = RNG.standard_normal((230, 3))
KERNELS = [
    zonal.Gaussian(1.5),
    zonal.Laplacian(2.0),
    zonal.Matern(1.5, 2.0),
    zonal.Matern(2.5, [1.0, 2.0, 3.0, 4.0]),
    zonal.RationalQuadratic(1.5, 0.7),
    zonal.NTK(2),
    zonal.Gaussian(2.0) + zonal.Polynomial(2),
]
TOLERANCE = {np.float32: 1e-5, np.float64: 1e-9}


@pytest.fixture(autouse=True)
def _small_tiles(monkeypatch):
    """Tiles of 64, so that there are several, and a last one that is smaller."""
    monkeypatch.setattr(products, "TILE", 64)
    monkeypatch.setattr(products._slices, "__defaults__", (64,))


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
@pytest.mark.parametrize("dtype", TOLERANCE)
def test_products(kernel, dtype):
    K = kernel(X)
    whole = KernelProduct(kernel, X, dtype=dtype)
    some = KernelProduct(kernel, X, X[:90], dtype)
    weights = RNG.uniform(0, 2, 230)
    atol = TOLERANCE[dtype] * np.abs(K).sum(axis=1).max() * np.abs(V).max()
    np.testing.assert_allclose(whole @ V, K @ V, atol=atol)
    shares = sum(whole.share(number, 3, V) for number in range(3))
    np.testing.assert_allclose(shares, K @ V, atol=atol)
    np.testing.assert_allclose(some @ V[:90], K[:, :90] @ V[:90], atol=atol)
    np.testing.assert_allclose(some.transposed(V), K[:, :90].T @ V, atol=atol)
    gram = K[:, :90].T @ (weights[:, None] * (K[:, :90] @ V[:90]))
    scale = np.abs(gram).max() / np.abs(K @ V).max()
    np.testing.assert_allclose(some.gram(V[:90], weights), gram, atol=10 * scale * atol)


@pytest.mark.parametrize("dtype", TOLERANCE)
def test_sparse_rows(dtype):
    kernel = zonal.Gaussian(1.5)
    product = KernelProduct(kernel, sp.csr_array(X), dtype=dtype)
    np.testing.assert_allclose(product @ V, kernel(X) @ V, atol=1e-3 * TOLERANCE[dtype] / 1e-5)


@pytest.mark.parametrize("dtype", TOLERANCE)
def test_rows_far_from_zero_and_close_to_each_other(dtype):
    """Squares of norms would leave nothing of the distances; they are not used there."""
    kernel = zonal.Laplacian(1.0)
    rows = 1e4 + WIDE
    rows[1] = rows[0] + 1e-3
    rows[2] = rows[0]
    tiles = KernelTiles(kernel, rows, dtype=dtype)
    tile = tiles.fill(slice(0, 5), slice(0, 100), Scratch())
    np.testing.assert_allclose(tile, kernel(rows[:5], rows[:100]), atol=10 * TOLERANCE[dtype])


def test_vectors_beyond_the_range_of_single_precision():
    kernel = zonal.Gaussian(1.5)
    large = 1e200 * V
    np.testing.assert_allclose(KernelProduct(kernel, X) @ large, kernel(X) @ large, rtol=1e-3)


def test_exponential_of_single_precision():
    """To two units in the last place, from zero to where the result is zero."""
    distances = np.linspace(0.0, 80.0, 4001)[:, None]
    tiles = KernelTiles(zonal.Laplacian(1.0), distances, dtype=np.float32)
    values = tiles.fill(slice(0, 1), slice(0, 4001), Scratch())[0]
    columns = (distances - distances.mean()).astype(np.float32)[:, 0]
    exact = np.exp(-np.abs(columns.astype(np.float64) - np.float64(columns[0])))
    # The distance itself is rounded once, by at most half a unit of 64 to 128.
    np.testing.assert_allclose(values, exact, rtol=2 * 2**-23 + 2**-18)
