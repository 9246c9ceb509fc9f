import itertools
import math

import numpy as np
import pytest
from numpy.polynomial import Polynomial
from scipy.special import eval_chebyt, eval_gegenbauer, eval_legendre, gamma

from zonal.polynomials import gegenbauer_table, log_harmonic_dimensions, orthonormal_table
from zonal.theory import gegenbauer, harmonic_dimension

T = np.linspace(-1, 1, 1001)


@pytest.mark.parametrize("dim", [3, 4, 5, 9, 30, 100])
@pytest.mark.parametrize("degree", [0, 1, 2, 7, 50, 200])
def test_agrees_with_scipy(dim, degree):
    index = (dim - 2) / 2
    expected = eval_gegenbauer(degree, index, T) / eval_gegenbauer(degree, index, 1.0)
    np.testing.assert_allclose(gegenbauer(degree, dim, T), expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("degree", [0, 1, 2, 3, 20, 200])
def test_limits(degree):
    np.testing.assert_allclose(gegenbauer(degree, 2, T), eval_chebyt(degree, T), atol=1e-12)
    np.testing.assert_allclose(gegenbauer(degree, 3, T), eval_legendre(degree, T), atol=1e-12)
    np.testing.assert_allclose(gegenbauer(degree, math.inf, T), T**degree, atol=1e-12)


@pytest.mark.parametrize("degree", range(6))
def test_large_dimension_approaches_monomials(degree):
    # P_ℓ(t) = t^ℓ + O(1/d): the first correction is ℓ(ℓ-1)/(2d) (t^ℓ - t^{ℓ-2}).
    np.testing.assert_allclose(gegenbauer(degree, 10**6, T), T**degree, atol=degree**2 / 10**6)


@pytest.mark.parametrize("dim", [3, 5, 7, 9])
@pytest.mark.parametrize("degree", range(7))
def test_rodrigues_formula(dim, degree):
    """The paper's derivative formula; for odd d everything in it is a polynomial."""
    half = (dim - 3) // 2
    power = Polynomial([1, 0, -1]) ** (degree + half)
    derivative = power.deriv(degree) if degree else power
    factor = (-1) ** degree * gamma((dim - 1) / 2) / (2**degree * gamma(degree + (dim - 1) / 2))
    t = np.linspace(-0.9, 0.9, 50)
    expected = factor * derivative(t) / (1 - t**2) ** half
    np.testing.assert_allclose(gegenbauer(degree, dim, t), expected, atol=1e-11)


@pytest.mark.parametrize("dim", [2, 3, 4, 11])
@pytest.mark.parametrize("degree", range(9))
def test_explicit_sum_of_the_paper(dim, degree):
    c, expected = 1.0, np.zeros_like(T)
    for j in range(degree // 2 + 1):
        expected += c * T ** (degree - 2 * j) * (1 - T**2) ** j
        c *= -(degree - 2 * j) * (degree - 2 * j - 1) / (2 * (j + 1) * (dim - 1 + 2 * j))
    np.testing.assert_allclose(gegenbauer(degree, dim, T), expected, atol=1e-12)


@pytest.mark.parametrize("dim", [2, 3, 10, 1000, 100_000])
def test_one_at_one_and_bounded(dim):
    table = gegenbauer_table(200, dim, T)
    assert np.isfinite(table).all()
    np.testing.assert_allclose(table[:, -1], 1, atol=1e-12)
    assert np.abs(table).max() <= 1 + 1e-12


def test_one_dimension_has_even_and_odd_functions_only():
    np.testing.assert_array_equal(gegenbauer(0, 1, [-1, 1]), [1, 1])
    np.testing.assert_array_equal(gegenbauer(1, 1, [-1, 1]), [-1, 1])
    with pytest.raises(ValueError, match="degree=2 does not exist for dim=1"):
        gegenbauer(2, 1, [1.0])
    assert [harmonic_dimension(degree, 1) for degree in range(4)] == [1, 1, 0, 0]


@pytest.mark.parametrize("dim", [1, 2, 3, 4, 9, 20])
def test_harmonic_dimension_by_polynomial_counting(dim):
    """Homogeneous polynomials of degree ℓ minus those that are |x|² times one of degree ℓ-2."""

    def monomials(degree):
        if degree < 0:
            return 0
        return sum(1 for _ in itertools.combinations_with_replacement(range(dim), degree))

    for degree in range(5):
        assert harmonic_dimension(degree, dim) == monomials(degree) - monomials(degree - 2)


def test_harmonic_dimension_known_values():
    assert harmonic_dimension([0, 1, 2, 3], 2).tolist() == [1, 2, 2, 2]
    assert harmonic_dimension(np.arange(5), 3).tolist() == [1, 3, 5, 7, 9]
    assert harmonic_dimension(np.arange(5), 4).tolist() == [1, 4, 9, 16, 25]


@pytest.mark.parametrize("dim", [2, 3, 30, 1000, 100_000])
def test_log_harmonic_dimensions(dim):
    expected = [math.log(harmonic_dimension(degree, dim)) for degree in range(201)]
    np.testing.assert_allclose(log_harmonic_dimensions(200, dim), expected, rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize(
    ("degree", "dim", "message"),
    [(-1, 3, "degree=-1"), (2, 0, "dim=0"), (2, 2.5, "dim=2.5"), (1.5, 3, "degree=1.5")],
)
def test_bad_input(degree, dim, message):
    with pytest.raises(ValueError, match=message):
        gegenbauer(degree, dim, 0.5)


def test_fractional_degree_has_no_dimension():
    with pytest.raises(ValueError, match=r"degree=2\.7"):
        harmonic_dimension(2.7, 3)


@pytest.mark.parametrize("dim", [1, 2, 3, 9, 30])
def test_orthonormal_table(dim):
    top = 1 if dim == 1 else 12
    t = np.linspace(-1, 1, 11)
    scale = np.exp(log_harmonic_dimensions(top, dim) / 2)[:, None]
    expected = scale * gegenbauer_table(top, dim, t)
    np.testing.assert_allclose(orthonormal_table(top, dim, t), expected, rtol=1e-11, atol=1e-9)
