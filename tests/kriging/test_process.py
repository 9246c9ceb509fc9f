import numpy as np
import pytest

import zonal
from zonal.kriging.process import LocalProcess

RNG = np.random.default_rng(0)
X = RNG.standard_normal((200, 2))
WEIGHT = RNG.uniform(0.5, 2, 200)
KERNEL = zonal.Matern(1.5, [0.5, 1.0])


@pytest.mark.parametrize("folded", [False, True])
@pytest.mark.parametrize("m", [8, 300])
def test_held_out_rows_are_those_of_a_process_without_them(folded, m):
    folds = RNG.integers(0, 4, 200) if folded else None
    process = LocalProcess(X, WEIGHT, KERNEL, 0.1, m)
    rows = np.array([3, 50, 199], np.int32)
    neighbors, weights, variance = process.held_out(rows, folds)
    for i, row in enumerate(rows):
        others = np.arange(200) != row if folds is None else folds != folds[row]
        alone = LocalProcess(X[others], WEIGHT[others], KERNEL, 0.1, m)
        expected, expected_weights, expected_variance = alone.at(X[row : row + 1])
        known = neighbors[i] >= 0
        np.testing.assert_array_equal(neighbors[i][known], np.flatnonzero(others)[expected[0]])
        np.testing.assert_allclose(weights[i][known], expected_weights[0], atol=1e-10)
        np.testing.assert_allclose(variance[i], expected_variance[0], atol=1e-12)
        assert (weights[i][~known] == 0).all()


def test_errors():
    with pytest.raises(ValueError, match="at least one other row"):
        LocalProcess(X[:1], WEIGHT[:1], KERNEL, 0.1, 4).held_out(np.array([0], np.int32))
    process = LocalProcess(X, WEIGHT, KERNEL, 0.1, 4)
    with pytest.raises(ValueError, match="of another fold"):
        process.held_out(np.array([0], np.int32), np.zeros(200))


def test_held_out_errors_are_those_of_leave_one_out():
    y = np.sin(2 * X[:, 0])
    process = LocalProcess(X, np.ones(200), KERNEL, 0.1, 199)
    neighbors, weights, variance = process.held_out(np.arange(200, dtype=np.int32))
    inverse = np.linalg.inv(KERNEL(X) + 0.1 * np.eye(200))
    # Dubrule's formulas for the errors and variances of observations.
    errors = inverse @ y / np.diag(inverse)
    np.testing.assert_allclose(y - (weights * y[neighbors]).sum(axis=1), errors, atol=1e-9)
    np.testing.assert_allclose(variance + 0.1, 1 / np.diag(inverse), atol=1e-9)
