"""Logarithms of modified Bessel functions."""

import numpy as np
import pytest
from scipy.special import gammaln, ive

from zonal.engines.bessel import log_scaled_bessel

ORDERS = np.array([-0.5, 0.0, 0.5, 1.0, 7.5, 30.0, 49.0, 51.0, 120.0, 600.0])


def test_scipys_values_where_it_has_them():
    z = np.array([1e-8, 0.1, 1.0, 20.0, 49.9, 50.1, 300.0, 1e4, 1e6])
    expected = ive(ORDERS[:, None], z)
    known = expected > 1e-280
    assert known.sum() > 70
    relative = np.exp(log_scaled_bessel(ORDERS, z))[known] / expected[known] - 1
    assert np.abs(relative).max() < 1e-11  # logarithms of up to 640, rounded


@pytest.mark.parametrize("first", [-0.5, 0.0, 0.5, 3.5, 48.0])
def test_orders_that_follow_each_other(first):
    """They are found from each other, and agree with orders that are asked for one by one."""
    z = np.array([3e-308, 1e-30, 1e-8, 0.1, 1.0, 7.3, 20.0, 49.9, 50.1, 300.0])
    orders = first + np.arange(60)
    single = np.concatenate([log_scaled_bessel([order], z) for order in orders])
    # Rounding of the logarithms, up to 700 for each order at the smallest argument.
    np.testing.assert_allclose(log_scaled_bessel(orders, z), single, rtol=2e-14, atol=2e-14)


@pytest.mark.parametrize("z", [1e10, 1e15, 1e30, 1e300])
def test_large_arguments(z):
    """SciPy returns NaN there: I_ν(z) → e^z / √(2πz) (1 - (4ν² - 1) / 8z)."""
    expected = -np.log(2 * np.pi * z) / 2 - (4 * ORDERS**2 - 1) / (8 * z)
    np.testing.assert_allclose(log_scaled_bessel(ORDERS, np.array([z]))[:, 0], expected, rtol=1e-12)


def test_small_arguments():
    """I_ν(z) → (z/2)^ν / Γ(ν+1), far below the range of numbers."""
    orders, z = np.array([40.0, 100.0, 4096.0]), np.array([3e-308, 1e-200, 1e-9])
    expected = orders[:, None] * np.log(z / 2) - gammaln(orders + 1)[:, None] - z
    np.testing.assert_allclose(log_scaled_bessel(orders, z), expected, rtol=1e-13)


def test_the_recurrence_of_the_orders():
    """I_{ν-1} - I_{ν+1} = 2ν/z I_ν, at orders and arguments that SciPy does not reach."""
    z, nu = np.array([2e10, 3e12]), 5e5
    below, middle, above = log_scaled_bessel([nu - 1, nu, nu + 1], z)
    left = np.expm1(below - middle) - np.expm1(above - middle)
    np.testing.assert_allclose(left, 2 * nu / z, rtol=1e-6)
