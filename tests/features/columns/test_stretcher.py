"""Columns stretched where the targets are steep."""

import numpy as np
import pytest
from scipy.integrate import cumulative_trapezoid

from zonal.features.chain_rule import features_gradient
from zonal.features.columns.stretcher import Stretcher
from zonal.features.columns.table.monotone import Stretch


def test_stretch_is_the_integral_of_the_fourth_root():
    x = np.linspace(-1, 1, 20_001)
    squares = np.exp(-2 * x**2)
    stretch = Stretch.of(x, squares, np.ones(len(x)))
    z = stretch(x)
    exact = cumulative_trapezoid(squares**0.25, x, initial=0.0)
    exact = (exact - exact.mean()) / exact.std()
    np.testing.assert_allclose(z, exact, atol=0.01)  # 32 knots, each with 5 mean rows
    np.testing.assert_allclose([z.mean(), z.std()], [0, 1], atol=1e-9)
    beyond = stretch([1.0, 2.0, 3.0])
    assert np.diff(beyond) == pytest.approx(stretch.slope(np.array([2.0, 3.0])))


def test_constant_slopes_change_nothing_but_units():
    x = np.random.default_rng(0).uniform(2, 5, 1000)
    z = Stretch.of(x, np.full(1000, 7.0), np.ones(1000))(x)
    np.testing.assert_allclose(z, (x - x.mean()) / x.std(), atol=1e-10)


@pytest.fixture(scope="module")
def steep():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (800, 3))
    X[:, 2] = rng.integers(0, 2, 800)
    return X, np.tanh(15 * X[:, 0]) + 0.3 * X[:, 1] + X[:, 2]


def test_columns_are_stretched_where_targets_are_steep(steep):
    X, y = steep
    stretcher = Stretcher([0.3, 2.0, 2.0], [0, 2], n_components=200).fit(X, y)
    assert list(stretcher.stretches_) == [0]  # two values cannot be stretched
    Z = stretcher.transform(X.astype(np.float32))
    assert Z.dtype == np.float32
    np.testing.assert_array_equal(Z[:, 1:], X[:, 1:].astype(np.float32))
    assert (np.diff(Z[np.argsort(X[:, 0]), 0]) >= 0).all()
    slopes = stretcher.slopes(np.column_stack([[0.0, 0.8], np.zeros((2, 2))]))
    assert slopes[0, 0] > 2 * slopes[1, 0]


def test_gradients_go_through_stretched_columns(steep):
    X, y = steep
    stretcher = Stretcher([0.3, 2.0, 2.0], [0, 1], n_components=200).fit(X, y)

    class Squares:
        def contract_gradient(self, rows, coef):
            return 2 * rows[:, None, :] * coef[None, :, :].sum(axis=1)[:, :, None]

    def values(rows):
        return np.square(stretcher.transform(rows)).sum(axis=1)

    rows = np.vstack([X[:20], [[1.5, -1.5, 0.0]]])
    found = features_gradient([stretcher, Squares()], rows, np.ones((1, 1)))[:, 0]
    step = 1e-6
    for j in range(3):
        move = step * np.eye(3)[j]
        numeric = (values(rows + move) - values(rows - move)) / (2 * step)
        np.testing.assert_allclose(found[:, j], numeric, rtol=1e-4, atol=1e-6)
