"""What the paper's proofs leave open: items of docs/theory/slips.md that no other file checks."""

import itertools
import math

import numpy as np
import pytest

import zonal
from zonal.theory import degree_and_order, harmonic_dimension, leverage_bound, spectral_error


@pytest.mark.parametrize("eps", [0.1, 0.5, 0.51, 0.9])
def test_constant_of_bernstein(eps):
    """The failure probability 16 s exp(-m ε²/2 / (L (1 + 2ε/3))) at m = 8/(3ε²) L log(16 s/δ)."""
    s_lam, delta, bound = 20.0, 0.1, 50.0

    def failure(constant):
        m = constant / eps**2 * math.log(16 * s_lam / delta) * bound
        return 16 * s_lam * math.exp(-m * eps**2 / 2 / (bound * (1 + 2 * eps / 3)))

    assert (failure(8 / 3) <= delta * (1 + 1e-12)) == (eps <= 0.5)
    assert failure(2 * (1 + 2 * eps / 3)) == pytest.approx(delta)


def test_what_is_proven_is_weaker_than_what_is_stated():
    """(1 - ε)(K + λ) = Z Zᵀ + λ is allowed by the proof, and has the error ε/(1-ε) of equation (1).

    ε/(1+ε) in place of ε gives both sides of equation (1).
    """
    K, lam, eps = 4 * np.eye(3), 1.0, 0.3

    def error(shrink):
        return spectral_error(K, math.sqrt((1 - shrink) * 5 - 1) * np.eye(3), lam)

    assert error(eps) == pytest.approx(eps / (1 - eps))
    assert error(eps / (1 + eps)) == pytest.approx(eps)
    # The last step of the two application theorems, from 0.8 ε and a tenth for the truncation.
    assert (1 - 0.8 * 0.12) * (1 - 0.1 * 0.12) > 1 / 1.12
    assert (1 - 0.8 * 0.13) * (1 - 0.1 * 0.13) < 1 / 1.13


def test_harmonics_outnumber_the_binomial():
    """Σ α_ℓ up to degree q is C(q+d-1, q) + C(q+d-2, q-1), up to twice the first, not 1.1 times."""
    for d, q in itertools.product((3, 4, 10), (1, 4, 15)):
        total = sum(harmonic_dimension(ell, d) for ell in range(q + 1))
        assert total == math.comb(q + d - 1, q) + math.comb(q + d - 2, q - 1)


def test_bound_exceeds_the_closed_form():
    """Where it matters: exp at d = 3, r = 1, n = 100, λ = 10, ε = 0.5 (q = s = 4)."""
    kernel, d, n, lam = zonal.Exponential(), 3, 100, 10.0
    q, s = degree_and_order(kernel, d, 1.0, n, lam, 0.5)
    assert (q, s) == (4, 4)
    bound = leverage_bound(kernel.expand(d, max_degree=q, n_radial=s), np.ones(n), lam)
    assert bound == pytest.approx(s * 25)  # every degree is full: 4 (1 + 3 + 5 + 7 + 9)
    assert bound > 1.5 * 1.1 * s * math.comb(q + d - 1, q)


def test_where_the_order_is_half_the_degree():
    """4.58 s² ≤ 5/4 q² up to s = 0.52 q; s = q wherever 3.7 r² decides."""
    needed = 1.1 * (8 / 3) / 0.64
    assert needed == pytest.approx(4.58, abs=0.01)
    assert math.sqrt(1.25 / needed) == pytest.approx(0.52, abs=0.01)
    for radius in (2.5, 3.0):
        q, s = degree_and_order(zonal.Gaussian(), 3, radius, 1000, 1.0, 0.5)
        assert q == s == math.ceil(3.7 * radius**2)
