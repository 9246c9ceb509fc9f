import numpy as np
import pytest
from sklearn.linear_model import Ridge

from zonal.moments.left_out import left_out_errors

RNG = np.random.default_rng(0)
ALPHAS = np.array([1e-8, 1e-2, 10.0])


@pytest.mark.parametrize("width", [5, 60])  # fewer columns than rows, and more
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
def test_errors_are_those_of_fits_to_the_other_rows(width, intercept, weighted):
    Z, Y = RNG.standard_normal((25, width)) + 1, RNG.standard_normal((25, 2)) + 3
    weight = RNG.uniform(0.5, 3, 25) if weighted else np.ones(25)
    expected = np.empty((25, len(ALPHAS)))
    for column, alpha in enumerate(ALPHAS):
        for row in range(25):
            others = np.arange(25) != row
            model = Ridge(alpha, fit_intercept=intercept, solver="svd")
            model.fit(Z[others], Y[others], sample_weight=weight[others])
            expected[row, column] = np.mean((Y[row] - model.predict(Z[[row]])[0]) ** 2)
    found = left_out_errors(Z, Y, weight, ALPHAS, intercept)
    np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_no_regularisation_and_columns_that_say_nothing():
    Y = RNG.standard_normal((10, 1))
    found = left_out_errors(np.ones((10, 3)), Y, np.ones(10), np.array([0.0, 1.0]), True)
    # The mean of the other rows, whatever α is.
    expected = (Y[:, 0] - (Y.sum() - Y[:, 0]) / 9) ** 2
    np.testing.assert_allclose(found, np.column_stack([expected, expected]), rtol=1e-9)
