"""How much of the latent variance errors in the test rows of a splitter show."""

import numpy as np
import pytest

import zonal
from zonal.calibration.variance import OutOfFold
from zonal.model.feature_calibration import _likeliest


@pytest.mark.parametrize("share", [0.02, 0.3])
def test_share_of_the_latent_variance(share) -> None:
    """Errors of a known variance: the estimate is within four of its standard errors."""
    rng = np.random.default_rng(0)
    n, noise = 20_000, 0.5
    latent = np.exp(rng.uniform(-3, 3, (n, 1)))
    variance = share * latent + noise
    residual = np.sqrt(variance) * rng.standard_normal((n, 1))

    def errors(of: float) -> OutOfFold:
        return OutOfFold(residual, np.sqrt(of * latent + noise), np.ones(n))

    # Fisher's information of the share, with the common factor free.
    slope = latent / variance
    information = 0.5 * n * slope.var()
    assert abs(_likeliest(errors) - share) < 4 / np.sqrt(information)


def test_what_comes_back_is_known_beyond_the_last_time() -> None:
    """A ridge that is far too small claims a latent deviation of ten beyond the last time.

    90 % intervals of that are 33 wide. The function stays between -1 and 1, and predictions there
    go to zero.
    """
    rng = np.random.default_rng(1)
    times = np.sort(rng.uniform(0, 60, 3000))[:, None]
    y = np.sin(2 * np.pi * times[:, 0]) + 0.1 * rng.standard_normal(3000)
    features = zonal.HarmonicFeatures(zonal.Gaussian(0.3), 900)
    known = times[:, 0] < 55
    model = zonal.KernelRidge(
        features, 1e-4, cv=zonal.ForwardKFold(4, time=0, horizon=5.0), local=None
    ).fit(times[known], y[known])
    lower, upper = model.predict_interval(times[~known], 0.9)
    assert np.mean((y[~known] >= lower) & (y[~known] <= upper)) > 0.8
    assert np.median(upper - lower) < 10
