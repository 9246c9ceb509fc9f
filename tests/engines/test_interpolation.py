"""Interpolation in tables of functions."""

import itertools

import numpy as np
import pytest
from scipy.interpolate import BarycentricInterpolator

from zonal.engines.interpolation import (
    interpolate,
    interpolate_derivative,
    interpolate_pairs,
    interpolate_pairs_derivative,
)


@pytest.mark.parametrize("n_grid", [6, 7, 129])
def test_polynomials_of_degree_five_are_exact(n_grid):
    """Everywhere, the ends and a little beyond included."""
    rng = np.random.default_rng(0)
    polynomials = [np.polynomial.Polynomial(rng.standard_normal(degree + 1)) for degree in range(6)]
    low, high = -0.5, 1.0
    grid = np.linspace(low, high, n_grid)
    at = np.concatenate([rng.uniform(low, high, 200), grid, [low - 1e-3, high + 1e-3]])
    values = interpolate(at, low, high, np.column_stack([p(grid) for p in polynomials]))
    np.testing.assert_allclose(values, np.column_stack([p(at) for p in polynomials]), atol=1e-12)


def test_degree_six_is_not_exact():
    grid, at = np.linspace(0, 1, 6), np.array([0.1])
    assert abs(interpolate(at, 0.0, 1.0, grid[:, None] ** 6)[0, 0] - 1e-6) > 1e-5


def test_six_points_are_lagranges_polynomial():
    rng = np.random.default_rng(0)
    table, at = rng.standard_normal((6, 4)), rng.uniform(2, 3, 50)
    expected = BarycentricInterpolator(np.linspace(2, 3, 6), table)(at)
    np.testing.assert_allclose(interpolate(at, 2.0, 3.0, table), expected, atol=1e-12)


def test_order_of_convergence():
    """Half the distance is 2⁶ times the accuracy; the constant is that of the ends."""
    at = np.random.default_rng(0).uniform(0, 3, 5000)
    errors = []
    for n_grid in (33, 65, 129):
        grid = np.linspace(0, 3, n_grid)
        values = interpolate(at, 0.0, 3.0, np.sin(4 * grid)[:, None])[:, 0]
        errors.append(np.abs(values - np.sin(4 * at)).max())
        # |Π (x - x_k)| f⁽⁶⁾ / 6!: the product is at most 17 h⁶, between the first two points.
        assert errors[-1] <= 17 * (3 / (n_grid - 1)) ** 6 * 4**6 / 720
    for coarse, fine in itertools.pairwise(errors):
        assert 5.7 < np.log2(coarse / fine) < 6.3


def test_points_of_the_grid_are_returned():
    table = np.random.default_rng(0).standard_normal((40, 3))
    np.testing.assert_allclose(
        interpolate(np.linspace(1, 2, 40), 1.0, 2.0, table), table, atol=1e-12
    )


@pytest.mark.parametrize("shape", [(6, 9), (40, 6)])
def test_pairs_are_one_axis_after_the_other(shape):
    rng = np.random.default_rng(0)
    table, low, high = rng.standard_normal((*shape, 3)), np.array([1.0, -2.0]), np.array([2.0, 5.0])
    at = rng.uniform(low, high, (30, 2))
    for row in at:
        (x, y), ends = row[:, None], list(zip(low, high, strict=True))
        by_second = interpolate(y, *ends[1], table.swapaxes(0, 1).reshape(shape[1], -1))
        expected = interpolate(x, *ends[0], by_second.reshape(shape[0], 3))
        found = interpolate_pairs(row[None], low, high, table)
        np.testing.assert_allclose(found, expected, atol=1e-12)
        slope = interpolate_derivative(x, *ends[0], by_second.reshape(shape[0], 3))
        found = interpolate_pairs_derivative(row[None], low, high, table, 0)
        np.testing.assert_allclose(found, slope, atol=1e-10)
        by_first = interpolate(x, *ends[0], table.reshape(shape[0], -1)).reshape(shape[1], 3)
        slope = interpolate_derivative(y, *ends[1], by_first)
        found = interpolate_pairs_derivative(row[None], low, high, table, 1)
        np.testing.assert_allclose(found, slope, atol=1e-10)


def test_tables_that_are_too_short_are_errors():
    with pytest.raises(ValueError, match="at least 6 rows"):
        interpolate_pairs(np.zeros((1, 2)), np.zeros(2), np.ones(2), np.zeros((5, 9, 1)))
