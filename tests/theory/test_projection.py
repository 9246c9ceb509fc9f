"""The worst projection, against many projections."""

import math

import numpy as np
import pytest
from scipy.linalg import eigh

import zonal
from zonal.theory import n_directions, projection_cost_error
from zonal.theory.leverage import feature_columns


def relative_error(A, K, basis):
    """|Tr(Y A) / Tr(Y K) - 1| for Y = I - Q Qᵀ."""
    Q = np.linalg.qr(basis)[0]
    cost = [np.trace(M) - np.trace(Q.T @ M @ Q) for M in (A, K)]
    return abs(cost[0] / cost[1] - 1)


def adversarial(A, K, rank, rng, n_steps=300):
    """Local search: random turns of the basis that increase the error."""
    basis = np.linalg.qr(rng.standard_normal((len(K), rank)))[0]
    best, size = relative_error(A, K, basis), 1.0
    for _ in range(n_steps):
        trial = basis + size * rng.standard_normal(basis.shape) / math.sqrt(len(K))
        error = relative_error(A, K, trial)
        if error > best:
            basis, best = np.linalg.qr(trial)[0], error
        else:
            size = max(size * 0.97, 1e-3)
    return best


@pytest.mark.parametrize("rank", [1, 2, 5])
@pytest.mark.parametrize("width", [3, 40])
def test_no_projection_is_worse_and_one_is_as_bad(rank, width):
    rng = np.random.default_rng(rank)
    X = rng.standard_normal((12, 3))
    kernel = zonal.Gaussian(1.5)
    K = kernel(X)
    Z = zonal.FourierFeatures(kernel, width, random_state=0).fit_transform(X)
    A = Z @ Z.T
    worst = projection_cost_error(K, Z, rank)
    bases = [rng.standard_normal((12, rank)) for _ in range(2000)]
    # Eigenvectors are what an adversary tries first.
    for M in (A, K, A - K, K - A, *(A - rho * K for rho in np.linspace(0, 3, 31))):
        vectors = eigh(M)[1]
        bases += [vectors[:, :rank], vectors[:, -rank:]]
    found = max(relative_error(A, K, basis) for basis in bases)
    found = max(found, *(adversarial(A, K, rank, rng) for _ in range(6)))
    assert found <= worst * (1 + 1e-10)
    assert found > 0.97 * worst


def test_two_dimensions_by_angle():
    """Every projection of rank one in the plane is an angle."""
    rng = np.random.default_rng(5)
    root, Z = rng.standard_normal((2, 2, 2))
    K, A = root @ root.T, Z @ Z.T
    angles = np.linspace(0, np.pi, 200_001)
    Y = np.array([np.cos(angles), np.sin(angles)])
    ratios = np.einsum("in,ij,jn->n", Y, A, Y) / np.einsum("in,ij,jn->n", Y, K, Y)
    expected = max(ratios.max() - 1, 1 - ratios.min())
    # The grid misses the peak by half a step, 8e-6, and the ratio is flat there.
    assert projection_cost_error(K, Z, 1) == pytest.approx(expected, rel=1e-8)


@pytest.mark.parametrize("side", [0.5, 2.0])
def test_both_sides(side):
    """Z Zᵀ = c K: every cost is c times the other."""
    X = np.random.default_rng(0).standard_normal((9, 2))
    K = zonal.Gaussian()(X)
    Z = math.sqrt(side) * np.linalg.cholesky(K)
    assert projection_cost_error(K, Z, 3) == pytest.approx(abs(side - 1), rel=1e-9)


def test_theorem():
    """The m of the projection-cost theorem keeps all costs within ε."""
    X = 0.5 * np.random.default_rng(0).standard_normal((60, 3))
    gzk = zonal.Gaussian().expand(3, max_degree=8, n_radial=3)
    m = n_directions(gzk, X, None, 0.5, 0.1, rank=2)
    W = np.random.default_rng(1).standard_normal((m, 3))
    W /= np.linalg.norm(W, axis=1, keepdims=True)
    assert projection_cost_error(gzk(X), feature_columns(gzk, X, W) / math.sqrt(m), 2) < 0.5


def test_bad_rank():
    K = np.diag([1.0, 1.0, 0.0])
    for rank in (0, -1, 1.5, "1"):
        with pytest.raises(ValueError, match="rank="):
            projection_cost_error(K, np.eye(3), rank)
    for rank in (2, 3):
        with pytest.raises(ValueError, match=f"rank={rank} .* below the rank 2 of K"):
            projection_cost_error(K, np.eye(3), rank)
