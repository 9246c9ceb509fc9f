import numpy as np

from zonal.calibration.ridge_variance import ridge_variance
from zonal.calibration.variance import OutOfFold

RNG = np.random.default_rng(0)
N = 4000
COLUMNS = RNG.standard_normal((N, 5))


def test_a_log_variance_is_recovered():
    true = 1.2 * COLUMNS[:, 0] - 0.8 * COLUMNS[:, 1]
    residual = np.exp(true / 2) * RNG.standard_normal(N)
    coef, log_variance = ridge_variance(
        OutOfFold(residual[:, None], np.ones((N, 1)), np.ones(N)), COLUMNS
    )
    # The logarithm of a squared normal variable has the variance π²/2 (a little less where it is
    # cut), so that each coefficient has a standard error of about 2.2/√n = 0.035.
    np.testing.assert_allclose(coef[:, 0], [1.2, -0.8, 0, 0, 0], atol=0.2)
    assert np.corrcoef(log_variance[:, 0], true)[0, 1] > 0.98


def test_a_constant_variance_stays():
    residual = 3 * RNG.standard_normal((N, 1))
    found = OutOfFold(residual, np.ones((N, 1)), np.ones(N))
    coef, log_variance = ridge_variance(found, COLUMNS)
    assert coef is None
    assert not log_variance.any()


def test_rows_that_are_too_few():
    found = OutOfFold(np.ones((8, 1)), np.ones((8, 1)), np.ones(8))
    assert ridge_variance(found, COLUMNS[:8])[0] is None
