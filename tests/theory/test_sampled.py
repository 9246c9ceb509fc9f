"""Estimates without the n × n matrix, against the exact values."""

import numpy as np
import pytest
import scipy.sparse as sp

import zonal
from zonal.theory import (
    leverage_scores,
    n_directions,
    projection_cost_error,
    spectral_error,
    statistical_dimension,
)
from zonal.theory.kernel_rows import KernelRows
from zonal.theory.leverage import feature_columns
from zonal.theory.spectral import exact_error


def rows(n, dim=3, seed=0):
    return np.random.default_rng(seed).standard_normal((n, dim))


def test_kernel_rows():
    X, V = rows(700), rows(700, 4, seed=1)
    for given in (X, sp.csr_matrix(X)):
        matrix = KernelRows(zonal.Gaussian(), given)
        np.testing.assert_allclose(matrix @ V, zonal.Gaussian()(X) @ V, atol=1e-10)
        assert matrix.trace() == pytest.approx(700)


@pytest.mark.parametrize("lam", [0.01, 1.0])
@pytest.mark.parametrize("kernel", [zonal.Gaussian(0.5), zonal.Laplacian(1.0)])
def test_statistical_dimension_of_few_rows(kernel, lam):
    """Both where landmarks catch the kernel (Gaussian) and where they do not (Laplacian)."""
    X = rows(600)
    exact = statistical_dimension(kernel, lam, X=X)
    errors = []
    for seed in range(3):
        found = statistical_dimension(kernel, lam, X=X, method="sampled", random_state=seed)
        # Student's t with 15 degrees of freedom exceeds 7 with probability 4e-6.
        assert abs(found - exact) < 7 * found.error + 1e-6 * exact
        errors.append(found.error)
    assert max(errors) < 0.05 * exact


@pytest.mark.slow
def test_statistical_dimension_of_2000_rows():
    X, kernel = rows(2000), zonal.Matern(1.5, 1.0)
    exact = statistical_dimension(kernel, 1.0, X=X)
    found = statistical_dimension(kernel, 1.0, X=X, method="sampled", random_state=0)
    assert abs(found - exact) < 5 * found.error
    assert found.error < 0.02 * exact


@pytest.mark.parametrize("lam", [0.1, 1.0])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_spectral_error_of_few_rows(lam, dtype):
    X = rows(600).astype(dtype)
    kernel = zonal.Gaussian()
    for map_ in (zonal.GegenbauerFeatures, zonal.FourierFeatures, zonal.NystroemFeatures):
        features = map_(kernel, 150, random_state=0).fit(X)
        exact = spectral_error(kernel(X.astype(float)), features.transform(X), lam)
        found = spectral_error(kernel, features, lam, X=X, method="sampled", random_state=1)
        assert found <= exact * (1 + 1e-4)  # a Ritz value is inside the spectrum
        assert abs(found - exact) <= found.error + 1e-4 * exact
        assert found.error <= 0.01 * found


@pytest.mark.longest
def test_spectral_error_of_2000_rows():
    X = rows(2000)  # several blocks of rows
    kernel, lam = zonal.Gaussian(), 1.0
    features = zonal.GegenbauerFeatures(kernel, 300, random_state=0).fit(X)
    exact = exact_error(kernel(X), features.transform(X), lam)
    found = spectral_error(kernel, features, lam, X=X, method="sampled", random_state=0)
    assert abs(found - exact) <= found.error + 1e-9
    assert found.error <= 0.01 * found


def test_number_of_directions_without_the_matrix(monkeypatch):
    """The same rows, above and below the size where estimates take over; and by rank."""
    X = 0.5 * rows(800)
    gzk = zonal.Gaussian().expand(3, max_degree=8, n_radial=3)
    for lam, rank in ((0.5, None), (None, 3)):
        exact = n_directions(gzk, X, lam, 0.5, 0.1, rank)
        monkeypatch.setattr("zonal.theory.counts.EXACT_ROWS", 100)
        found = n_directions(gzk, X, lam, 0.5, 0.1, rank)
        monkeypatch.undo()
        # Eigenvalues within 1 % of theirs; λ = (Tr K - head) / r magnifies that.
        assert found == pytest.approx(exact, rel=0.02 if rank is None else 0.2)


def test_leverage_scores_without_the_matrix(monkeypatch):
    X, W = 0.5 * rows(600), np.eye(3)
    gzk = zonal.Gaussian().expand(3, max_degree=8, n_radial=3)
    exact = leverage_scores(gzk, X, 0.1, W)
    monkeypatch.setattr("zonal.theory.leverage.EXACT_ROWS", 100)
    # Too small by at most TOL² ‖φ‖² / λ.
    norms = (feature_columns(gzk, X, W) ** 2).sum(axis=0).reshape(3, 3).sum(axis=0)
    found = leverage_scores(gzk, X, 0.1, W)
    assert (np.abs(found - exact) <= 1e-8 * norms / 0.1 + 1e-9).all()


@pytest.mark.parametrize("rank", [1, 4])
def test_projection_cost_error_without_the_matrix(rank):
    X, kernel = rows(500), zonal.Gaussian()
    for width in (30, 200):
        features = zonal.FourierFeatures(kernel, width, random_state=0).fit(X)
        exact = projection_cost_error(kernel, features, rank, X=X)
        found = projection_cost_error(kernel, features, rank, X=X, method="sampled", random_state=0)
        assert found <= exact * (1 + 1e-9)
        assert exact - found <= found.error + 1e-3 * (1 + exact)  # and the last step of the ratio
    with pytest.raises(ValueError, match="takes a kernel and X"):
        projection_cost_error(np.eye(3), np.eye(3), 1, method="sampled")


def test_too_small_a_ridge(monkeypatch):
    monkeypatch.setattr("zonal.theory.ridge.MAX_PASSES", 3)
    with pytest.raises(ValueError, match=r"did not converge in 3 passes.*Raise lam"):
        statistical_dimension(
            zonal.Laplacian(3.0), 1e-9, X=rows(300), method="sampled", random_state=0
        )
