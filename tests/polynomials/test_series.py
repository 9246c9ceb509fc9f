import math

import numpy as np
import pytest
from scipy.special import gamma, gammaln, iv

from zonal.polynomials import gegenbauer_table, log_monomial_series, taylor_coefficients
from zonal.theory import gegenbauer_series, harmonic_dimension


@pytest.mark.parametrize("dim", [2, 3, 4, 9, 30])
def test_exponential_has_bessel_coefficients(dim):
    """Funk–Hecke: e^{zt} = Σ α_ℓ Γ(d/2) (2/z)^{d/2-1} I_{ℓ+d/2-1}(z) P_ℓ(t)."""
    z, nu = 2.0, dim / 2 - 1
    coefficients = gegenbauer_series(lambda t: np.exp(z * t), dim, 12)
    for degree, value in enumerate(coefficients):
        expected = gamma(dim / 2) * (2 / z) ** nu * iv(degree + nu, z)
        noise = 1e-15 * math.sqrt(harmonic_dimension(degree, dim)) * math.exp(z)
        assert value == pytest.approx(
            harmonic_dimension(degree, dim) * expected, rel=1e-11, abs=10 * noise
        )


def test_chebyshev_and_taylor_limits():
    chebyshev = np.polynomial.chebyshev.chebinterpolate(np.exp, 30)[:10]
    np.testing.assert_allclose(gegenbauer_series(np.exp, 2, 9), chebyshev, atol=1e-14)
    taylor = gegenbauer_series(np.exp, math.inf, 9)
    np.testing.assert_allclose(taylor, 1 / gamma(np.arange(10) + 1), rtol=1e-12)


def test_one_dimension_gives_even_and_odd_part():
    even, odd = gegenbauer_series(np.exp, 1, 1)
    assert even == pytest.approx(math.cosh(1), rel=1e-15)
    assert odd == pytest.approx(math.sinh(1), rel=1e-15)


@pytest.mark.parametrize("dim", [2, 3, 8, 32])
def test_series_converges_to_the_function(dim):
    t = np.linspace(-1, 1, 201)
    coefficients = gegenbauer_series(lambda t: 1 / (1.5 - t), dim, 60)
    approximation = coefficients @ gegenbauer_table(60, dim, t)
    # The ellipse of analyticity gives ρ = 1.5 + √1.25 in Chebyshev; at 60 the rest is below 1e-10
    # in low dimension. In d = 32 the magnified rounding error dominates near t = 1.
    tolerance = 1e-10 if dim < 10 else 1e-6
    inside = np.abs(t) <= (1 if dim < 10 else 0.9)
    np.testing.assert_allclose(approximation[inside], 1 / (1.5 - t[inside]), atol=tolerance)


@pytest.mark.parametrize("dim", [1, 2, 3, 4, 9, 400])
def test_monomial_series_is_the_paper_formula(dim):
    """α_ℓ/2^ℓ Γ(d/2)/(√π (2i)!) Γ(i+½)/Γ(i+ℓ+d/2), literally."""
    top = 1 if dim == 1 else 6
    table = np.exp(log_monomial_series(top, 5, dim))
    for ell in range(top + 1):
        for i in range(5):
            log_gammas = gammaln(dim / 2) + gammaln(i + 0.5) - gammaln(i + ell + dim / 2)
            expected = (
                harmonic_dimension(ell, dim)
                / 2**ell
                / (math.sqrt(math.pi) * math.factorial(2 * i))
                * math.exp(log_gammas)
            )
            assert table[ell, i] == pytest.approx(expected, rel=1e-11)


@pytest.mark.parametrize("dim", [2, 3, 4, 9])
def test_monomials_are_reproduced(dim):
    """t^j = Σ_i w_{j-2i,i} j! P_{j-2i}(t)."""
    t = np.linspace(-1, 1, 21)
    log_weights = log_monomial_series(9, 6, dim)
    table = gegenbauer_table(9, dim, t)
    for j in range(10):
        total = sum(
            math.factorial(j) * math.exp(log_weights[j - 2 * i, i]) * table[j - 2 * i]
            for i in range(j // 2 + 1)
        )
        np.testing.assert_allclose(total, t**j, atol=1e-13)


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (np.exp, lambda j: np.exp(-gammaln(j + 1))),
        (np.cosh, lambda j: np.where(j % 2 == 0, np.exp(-gammaln(j + 1)), 0)),
        (lambda z: 1 / (1 - z / 3), lambda j: 3.0**-j),
        (lambda z: 1 / (1 - 100 * z), lambda j: 100.0**j),
        (lambda z: (1 + 2 * z) ** 3, lambda j: np.array([1, 6, 12, 8] + [0] * 36)),
        (lambda z: np.exp(z**2), lambda j: np.where(j % 2 == 0, np.exp(-gammaln(j / 2 + 1)), 0)),
        (lambda z: -np.log(1 - z), lambda j: np.where(j > 0, 1 / np.maximum(j, 1), 0)),
    ],
)
def test_taylor_coefficients(function, expected):
    j = np.arange(40)
    np.testing.assert_allclose(taylor_coefficients(function, 40), expected(j), rtol=1e-8)


def test_taylor_of_constants():
    np.testing.assert_array_equal(taylor_coefficients(lambda z: 0 * z, 3), np.zeros(3))
    np.testing.assert_allclose(taylor_coefficients(lambda z: 2.0, 3), [2, 0, 0], atol=1e-15)


@pytest.mark.parametrize("function", [np.abs, np.sqrt, lambda z: 1 / z])
def test_functions_without_taylor_series(function):
    with pytest.raises(ValueError, match="no Taylor series"):
        taylor_coefficients(function, 10)


def test_functions_that_reject_complex_numbers():
    with pytest.raises(TypeError, match="complex"):
        taylor_coefficients(lambda z: math.exp(z[0]), 10)
