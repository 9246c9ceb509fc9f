import math

import numpy as np
import pytest
from scipy.special import gammaln, roots_jacobi

from zonal.polynomials import gauss_gegenbauer, gegenbauer_table, log_harmonic_dimensions


@pytest.mark.parametrize("dim", [2, 3, 4, 9, 30, 100])
def test_agrees_with_scipy(dim):
    nodes, weights = gauss_gegenbauer(40, dim)
    expected_nodes, expected_weights = roots_jacobi(40, (dim - 3) / 2, (dim - 3) / 2)
    np.testing.assert_allclose(nodes, expected_nodes, atol=1e-13)
    np.testing.assert_allclose(weights, expected_weights / expected_weights.sum(), atol=1e-13)


@pytest.mark.parametrize("dim", [1, 2, 3, 9, 100, 1000, 100_000])
def test_moments_of_a_coordinate(dim):
    """E[t^{2k}] = Γ(k+½) Γ(d/2) / (Γ(½) Γ(k+d/2)) for a coordinate of a uniform unit vector."""
    nodes, weights = gauss_gegenbauer(400, dim)
    assert np.isfinite(weights).all()
    for k in range(6):
        log_moment = gammaln(k + 0.5) + gammaln(dim / 2) - gammaln(0.5) - gammaln(k + dim / 2)
        moment = weights @ nodes ** (2 * k)
        assert moment == pytest.approx(math.exp(log_moment), rel=1e-10)
        assert weights @ nodes ** (2 * k + 1) == pytest.approx(0, abs=1e-16)


@pytest.mark.parametrize("dim", [2, 3, 4, 9, 30, 1000])
def test_orthogonality(dim):
    """E[P_k P_ℓ] = 1/α_ℓ if k = ℓ, else 0; here scaled to the identity matrix."""
    nodes, weights = gauss_gegenbauer(64, dim)
    scale = np.exp(log_harmonic_dimensions(20, dim) / 2)
    table = scale[:, None] * gegenbauer_table(20, dim, nodes)
    np.testing.assert_allclose((table * weights) @ table.T, np.eye(21), atol=1e-11)


@pytest.mark.parametrize("dim", [2, 3, 4, 9])
def test_reproducing_property(dim):
    """α_ℓ E_w[P_ℓ(⟨x,w⟩) P_ℓ(⟨y,w⟩)] = P_ℓ(⟨x,y⟩), by a product rule over the sphere.

    With x = e_1 and y = cos φ e_1 + sin φ e_2, ⟨y,w⟩ = t cos φ + √(1-t²) u sin φ, where t is the
    first coordinate of w and u that of a uniform point on the sphere one dimension lower.
    """
    t, weight_t = gauss_gegenbauer(40, dim)
    u, weight_u = gauss_gegenbauer(40, dim - 1)
    alpha = np.exp(log_harmonic_dimensions(8, dim))
    for cos in (-1.0, -0.3, 0.0, 0.6, 1.0):
        other = t[:, None] * cos + np.sqrt(1 - t**2)[:, None] * u * math.sqrt(1 - cos**2)
        left = gegenbauer_table(8, dim, t)
        right = gegenbauer_table(8, dim, other)
        products = np.einsum("at,btu,t,u->ab", left, right, weight_t, weight_u)
        expected = np.diag(gegenbauer_table(8, dim, cos) / alpha)
        np.testing.assert_allclose(products, expected, atol=1e-13)


def test_arrays_are_shared_and_read_only():
    nodes, _ = gauss_gegenbauer(10, 3)
    assert gauss_gegenbauer(10, 3)[0] is nodes
    with pytest.raises(ValueError, match="read-only"):
        nodes[0] = 0
