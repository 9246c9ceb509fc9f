"""Products over columns, by independent sums and differences."""

from itertools import chain, combinations

import numpy as np
import pytest

import zonal
from tests.finite_differences import assert_gradient
from zonal.engines.anova import anova_matrix, anova_slopes

RNG = np.random.default_rng(0)
X, Y = RNG.standard_normal((7, 4)), RNG.standard_normal((5, 4))
LENGTH, WEIGHT = np.array([0.5, 1.0, 2.0, 8.0]), np.array([0.2, 3.0, 1.0, 0.7])


def test_it_is_the_sum_over_all_sets_of_columns():
    sets = chain.from_iterable(combinations(range(4), k) for k in range(5))
    total = np.zeros((7, 5))
    for columns in sets:
        part = np.ones((7, 5))
        for j in columns:
            part *= WEIGHT[j] * zonal.Matern(1.5, LENGTH[j])(X[:, [j]], Y[:, [j]])
        total += part
    kernel = zonal.Anova(LENGTH, WEIGHT)
    np.testing.assert_allclose(kernel(X, Y), total / np.prod(1 + WEIGHT), rtol=1e-13)
    np.testing.assert_array_equal(kernel.diag(X), 1)


@pytest.mark.parametrize("far", [0.0, 1e6])
def test_rows_far_from_zero_and_from_each_other(far):
    """Where exponentials of columns would overflow, differences are taken."""
    kernel = zonal.Anova(1e-3, 2.0)
    expected = kernel.of_differences((X + far)[:, None] - (Y + far))
    np.testing.assert_allclose(kernel(X + far, Y + far), expected, rtol=1e-12)
    assert kernel(X.astype(np.float32)).dtype == np.float32


def test_gradients_are_those_of_differences():
    kernel = zonal.Anova(LENGTH, WEIGHT)
    assert_gradient(kernel.gradient(X, Y), lambda rows: kernel(rows, Y), X)


def test_slopes_by_parameters_are_those_of_differences():
    factors, step = RNG.standard_normal((7, 5)), 1e-6

    def total(logs):
        length, weight = np.exp(logs)
        return (factors * np.log(anova_matrix(X / length, Y / length, weight))).sum()

    start = np.log([LENGTH, WEIGHT])
    found = anova_slopes(X / LENGTH, Y / LENGTH, WEIGHT, factors)
    for kind in range(2):
        for j in range(4):
            move = np.zeros((2, 4))
            move[kind, j] = step
            slope = (total(start + move) - total(start - move)) / (2 * step)
            assert found[kind][j] == pytest.approx(slope, rel=1e-6, abs=1e-8)


def test_errors():
    with pytest.raises(ValueError, match=r"weight=-1\.0"):
        zonal.Anova(1.0, -1.0)(X)
    with pytest.raises(ValueError, match="3 numbers"):
        zonal.Anova([1.0, 2.0, 3.0])(X)
    with pytest.raises(ValueError, match="as many columns"):
        anova_matrix(X, Y[:, :2], WEIGHT)
    with pytest.raises(ValueError, match="NystroemFeatures"):
        zonal.Anova().terms()
