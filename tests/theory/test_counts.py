"""Degree, order and number of features of the theorems on particular kernels."""

import itertools
import math

import numpy as np
import pytest

import zonal
from zonal.polynomials import uniform_sphere
from zonal.theory import degree_and_order, n_features

GRID = list(
    itertools.product((3, 5, 10, 20), (0.3, 1.0, 1.5, 2.0, 2.5), (1.0, 1e4, 1e8), (0.1, 0.5, 0.9))
)
# (d, r, n/λ, ε) where the q and s of the paper leave out more than they may, and how much more.
MISSED = {(10, 1.5, 1e4, 0.9): 1.09, (20, 2.0, 1e8, 0.1): 3.5, (20, 2.5, 1e8, 0.5): 1.3}


def excess(kernel, dim, radius, ratio, eps):
    """Max |k_{q,s} - k| over random rows of norms up to the radius, in units of ε λ / (10 n)."""
    q, s = degree_and_order(kernel, dim, radius, 1000, 1000 / ratio, eps)
    rng = np.random.default_rng(dim)
    X = uniform_sphere(30, dim, rng) * radius * np.r_[1.0, 1.0, rng.random(28)][:, None]
    gap = np.abs(kernel(X) - kernel.expand(dim, max_degree=q, n_radial=s)(X)).max()
    return gap / (eps / (10 * ratio))


@pytest.mark.parametrize("dim", [3, 5, 10, 20])
def test_truncation_of_the_gaussian(dim):
    for case in GRID:
        if case[0] == dim:
            assert excess(zonal.Gaussian(), *case) <= 1, case


@pytest.mark.parametrize("dim", [3, 5, 10, 20])
def test_truncation_of_the_exponential(dim):
    """As the theorem states it, but for three of the 180 cases, where it is false."""
    for case in GRID:
        if case[0] == dim and case not in MISSED:
            assert excess(zonal.Exponential(), *case) <= 1, case


@pytest.mark.parametrize("case", MISSED, ids=str)
def test_truncation_that_misses(case):
    """At x = y, |x| = r all terms are positive and the tail is largest: a counterexample each."""
    assert excess(zonal.Exponential(), *case) == pytest.approx(MISSED[case], rel=0.03)


def test_missed_by_nine_per_cent_term_by_term():
    """The tail of exp(r²) itself at d = 10, r = 1.5, from its series: independent of the library.

    t^j has the coefficient α_{ℓ,d} j! Γ(d/2) / (2^ℓ (2i)! …) of degree ℓ = j - 2i, in the paper's
    formula for h; at the pole all of them add up.
    """
    d, r, q, s = 10, 1.5, 10, 9
    assert degree_and_order(zonal.Exponential(), d, r, 10**4, 1.0, 0.9) == (q, s)

    def coefficient(ell, i):
        alpha = math.comb(d + ell - 1, ell) - (math.comb(d + ell - 3, ell - 2) if ell > 1 else 0)
        gammas = math.gamma(d / 2) * math.gamma(i + 0.5) / math.gamma(i + ell + d / 2)
        return alpha * gammas / (2**ell * math.sqrt(math.pi) * math.factorial(2 * i))

    kept = sum(
        coefficient(ell, i) * r ** (2 * ell + 4 * i) for ell in range(q + 1) for i in range(s)
    )
    assert (math.exp(r**2) - kept) / (0.9 / 1e5) == pytest.approx(1.089, abs=0.001)


def test_formulas_by_hand():
    # L = log(1000 / 0.5) = 7.601: q = 1.5 log(2.8 (1 + L + 3) / 3) + L = 11.17, s = L / 2 = 3.8
    assert degree_and_order(zonal.Gaussian(), 3, 1.0, 1000, 1.0, 0.5) == (12, 4)
    # 3.7 r² = 33.3 decides both
    assert degree_and_order(zonal.Gaussian(), 3, 3.0, 1000, 1.0, 0.5) == (34, 34)
    # q = 1 + 2 log(3/4) + L = 8.03, s = 1/4 + L/2 = 4.05
    assert degree_and_order(zonal.Exponential(), 4, 1.0, 1000, 1.0, 0.5) == (9, 5)
    # d decides, and d/2
    assert degree_and_order(zonal.Exponential(), 31, 0.5, 100, 1.0, 0.5) == (31, 16)


def test_units():
    """The Gaussian knows r/σ only, the exponential r/scale."""
    args = (500, 0.1, 0.3)
    for kernel, unit in ((zonal.Gaussian, "bandwidth"), (zonal.Exponential, "scale")):
        expected = degree_and_order(kernel(), 5, 1.2, *args)
        assert degree_and_order(kernel(**{unit: 3.0}), 5, 3.6, *args) == expected


def test_growth_is_found():
    """exp has C = β = 1, however it is written; a factor and a scale show in C and β."""
    args = (5, 1.2, 500, 0.1, 0.3)
    expected = degree_and_order(zonal.Exponential(), *args)
    assert degree_and_order(zonal.DotProduct(np.exp), *args) == expected
    assert degree_and_order(zonal.DotProduct(np.cosh), *args) == expected
    assert degree_and_order(zonal.Exponential(), *args, growth=(1, 1)) == expected
    tripled = degree_and_order(3 * zonal.Exponential(2.0), *args)
    assert tripled == degree_and_order(zonal.Exponential(), *args, growth=(3, 0.25))
    assert degree_and_order(3 * zonal.Exponential(), *args)[0] > expected[0]


@pytest.mark.parametrize(
    "kernel",
    [
        zonal.DotProduct(lambda t: t * np.exp(t)),  # derivatives j: no C for β = 1
        zonal.DotProduct(lambda t: np.exp(2 * t) + t),
        zonal.Polynomial(3),
        zonal.Polynomial(12, gamma=0.5),
        zonal.Exponential() * zonal.Polynomial(2),
    ],
    ids=repr,
)
@pytest.mark.parametrize(("dim", "radius"), [(3, 0.5), (3, 1.5), (6, 1.0)])
def test_truncation_of_other_kernels(kernel, dim, radius):
    for ratio in (1e2, 1e6):
        assert excess(kernel, dim, radius, ratio, 0.5) <= 1


def test_number_of_features_by_hand():
    # q = 12, s = 4: 5 q²/4 / ε² = 720, C(14, 12) = 91, log(16 · 1000 / 0.1) = 11.983
    found = n_features(zonal.Gaussian(), 3, 1.0, 1000, 1.0, 0.5, 0.1)
    assert found == math.ceil(720 * 91 * math.log(160_000))
    known = n_features(zonal.Gaussian(), 3, 1.0, 1000, 1.0, 0.5, 0.1, s_lam=10.0)
    assert known == math.ceil(720 * 91 * math.log(1600))


def test_number_of_features_where_the_order_is_as_large_as_the_degree():
    """q = s = 34: 5 q²/4 is less than the proof's 1.1 · 2(1 + 2ε'/3)/0.64 s², ε' = 0.8 ε."""
    q = s = 34
    proof = 1.1 * 2 * (1 + 2 * 0.4 / 3) / 0.64 * s**2
    assert proof > 3 * 5 * q**2 / 4
    expected = proof / 0.25 * math.comb(q + 2, q) * math.log(160_000)
    found = n_features(zonal.Gaussian(), 3, 3.0, 1000, 1.0, 0.5, 0.1)
    assert found == pytest.approx(expected, abs=1)


def test_number_of_features_beyond_floating_point():
    huge = n_features(zonal.Gaussian(), 784, 30.0, 60_000, 1.0, 0.5, 0.1)
    assert isinstance(huge, int)
    assert huge > 10**308


def test_bad_input():
    good = {"dim": 3, "radius": 1.0, "n": 100, "lam": 1.0, "eps": 0.5}
    bad = {
        "dim": (2, 0, 3.5),
        "radius": (0, -1.0, np.inf),
        "n": (0, 1.5),
        "lam": (0, -1.0),
        "eps": (0, 1, 1.5, -0.1),
    }
    for name, values in bad.items():
        for value in values:
            with pytest.raises(ValueError, match=f"{name}="):
                degree_and_order(zonal.Gaussian(), **{**good, name: value})
    for delta in (0, 1, -1):
        with pytest.raises(ValueError, match="delta="):
            n_features(zonal.Gaussian(), **good, delta=delta)
    with pytest.raises(ValueError, match=r"lam=101.* exceeds 100"):
        n_features(zonal.Gaussian(), 3, 1.0, 100, 101.0, 0.5, 0.1)
    for kernel in (zonal.NTK(2), zonal.ArcCosine(1), zonal.Gaussian() + zonal.Exponential()):
        with pytest.raises(ValueError, match="neither a Gaussian nor a dot-product kernel"):
            degree_and_order(kernel, **good)
    for kappa in (lambda t: 1 / (2 - t), lambda t: np.exp(t**2)):
        with pytest.raises(ValueError, match="grow faster than any"):
            degree_and_order(zonal.DotProduct(kappa), **good)
    with pytest.raises(ValueError, match="pair"):
        degree_and_order(zonal.Exponential(), **good, growth=1.0)
    with pytest.raises(ValueError, match="beta=0"):
        degree_and_order(zonal.Exponential(), **good, growth=(1.0, 0))
    with pytest.raises(ValueError, match="no bandwidth yet"):
        degree_and_order("gaussian", **good)


def test_radius_beyond_the_domain():
    with pytest.raises(ValueError, match="Normalizer"):
        degree_and_order(zonal.Zonal(np.exp), 3, 2.0, 100, 1.0, 0.5)
