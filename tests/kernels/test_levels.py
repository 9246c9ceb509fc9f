"""Rows whose columns have levels, by brute force and differences."""

import numpy as np
import pytest

import zonal
from tests.finite_differences import assert_gradient
from zonal.kernels.levels import Levels, level_distances, level_slopes

RNG = np.random.default_rng(0)
X = np.column_stack([RNG.integers(0, 3, 9) - 1.0, RNG.standard_normal(9), RNG.integers(0, 2, 9)])
LEVELS = np.array([[0, -1, 0.3], [0, 0, 0.1], [0, 1, 0.7], [2, 0, 0.4], [2, 1, 0.2]])


def test_columns_of_few_values_have_levels():
    found = Levels.found(X, 3)
    np.testing.assert_array_equal(found.column, LEVELS[:, 0])
    np.testing.assert_array_equal(found.value, LEVELS[:, 1])
    assert len(Levels.found(X, 2)) == 2
    assert len(Levels.found(np.ones((5, 2)), 3)) == 0  # a constant column tells nothing


def test_a_value_is_the_level_next_to_it():
    levels = Levels.found(X, 3)
    moved = X + RNG.uniform(-0.4, 0.4, X.shape)
    np.testing.assert_array_equal(levels.indicators(moved), levels.indicators(X))


def test_the_kernel_is_a_product_over_columns():
    counts = {(int(j), v): u for j, v, u in LEVELS}
    expected = zonal.Anova(0.7, 2.0)(X[:, [1]])
    for i, row in enumerate(X):
        for k, other in enumerate(X):
            for j in (0, 2):
                if row[j] != other[j]:
                    expected[i, k] *= np.exp(-counts[j, row[j]] - counts[j, other[j]])
    kernel = zonal.Anova(0.7, [0.0, 2.0, 0.0], LEVELS)
    np.testing.assert_allclose(kernel(X), expected, rtol=1e-12)
    np.testing.assert_allclose(kernel(X.astype(np.float32)), expected, rtol=1e-5)
    np.testing.assert_array_equal(kernel.diag(X), 1)


def test_it_is_a_gaussian_kernel_of_scaled_indicators():
    rows = Levels.found(X, 3).indicators(X) * np.sqrt(LEVELS[:, 2])
    squares = np.square(rows[:, None] - rows).sum(axis=2)
    np.testing.assert_allclose(zonal.Anova(1.0, 0.0, LEVELS)(X), np.exp(-squares), rtol=1e-12)


def test_slopes_are_those_of_differences():
    levels = Levels.found(X, 3)
    left, right = levels.indicators(X), levels.indicators(X[:4])
    factors, counts, step = RNG.standard_normal((9, 4)), LEVELS[:, 2], 1e-6

    def total(own):
        return (factors * level_distances(left, right, own)).sum()

    for slope, move in zip(
        level_slopes(left, right, factors), step * np.eye(len(counts)), strict=True
    ):
        expected = (total(counts + move) - total(counts - move)) / (2 * step)
        assert slope == pytest.approx(expected, rel=1e-6, abs=1e-8)


def test_gradients_are_those_of_differences():
    kernel = zonal.Anova(0.7, [0.0, 2.0, 0.0], LEVELS)
    assert_gradient(kernel.gradient(X, X[:4]), lambda rows: kernel(rows, X[:4]), X)
    coef = RNG.standard_normal(4)
    expected = np.einsum("nmd,m->nd", kernel.gradient(X, X[:4]), coef)
    np.testing.assert_allclose(kernel.contract_gradient(X, X[:4], coef), expected, atol=1e-12)


@pytest.mark.parametrize(
    ("levels", "message"),
    [
        ([[0, 1.0]], "shape"),
        ([[0, np.nan, 1.0]], "finite"),
        ([[1, 0.0, 1.0], [0, 0.0, 1.0]], "order"),
        ([[0, 1.0, 1.0], [0, 1.0, 1.0]], "increasing"),
        ([[0.5, 1.0, 1.0]], "numbered from 0"),
        ([[0, 1.0, -1.0]], "at least zero, not -1"),
        ([[7, 0.0, 1.0], [7, 1.0, 1.0]], "column 7, but the rows have 3 columns"),
    ],
)
def test_errors(levels, message):
    with pytest.raises(ValueError, match=message):
        zonal.Anova(levels=levels)(X)


def test_sums_and_products_are_not_known_by_differences():
    kernel = zonal.Anova(levels=LEVELS)
    with pytest.raises(ValueError, match="no function of differences"):
        (2 * kernel).gradient(X)
