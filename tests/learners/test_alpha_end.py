"""Where the best alpha is at an end of those that were tried."""

import warnings

import numpy as np
import pytest

import zonal
from zonal.moments.held_out import best_alpha, falling_end, least_error

X = np.random.default_rng(0).standard_normal((300, 2))
WAVE = np.sin(X[:, 0]) + 0.1 * np.random.default_rng(1).standard_normal(300)
NOISE = np.random.default_rng(2).standard_normal(300)


def ridge(**kwargs):
    features = zonal.HarmonicFeatures(zonal.Gaussian(1.0), 60)
    return zonal.KernelRidge(features, local=None, **kwargs)


@pytest.mark.parametrize(
    ("y", "alphas", "end", "advice"),
    [
        (WAVE, [10, 100, 1000], "smallest", "smaller"),
        (NOISE, [1e-6, 1e-5, 1e-4], "largest", "larg"),
    ],
)
def test_ends_of_given_alphas(y, alphas, end, advice):
    with pytest.warns(zonal.AlphaWarning, match=f"{end} that was tried.*Pass {advice}"):
        model = ridge(alphas=alphas).fit(X, y)
    assert model.alpha_ == (min if end == "smallest" else max)(alphas)


@pytest.mark.parametrize(
    ("y", "alphas"),
    [
        (WAVE, None),
        (NOISE, None),  # the largest of ours, and there is nothing to say about noise
        (WAVE, np.geomspace(1e-6, 1e4, 11)),
        (np.full(300, 2.5), None),  # all the same: a tie
        (X[:, 0], None),  # an error of rounding
        (WAVE, [1.0, 1000.0]),  # nothing between the ends
    ],
)
def test_nothing_to_say(y, alphas):
    with warnings.catch_warnings():
        warnings.simplefilter("error", zonal.AlphaWarning)
        ridge(alphas=alphas).fit(X, y)


def test_small_alphas_are_tried():
    """Harmonics of degrees 11 to 15 have 3e-11 to 6e-17 of the trace at bandwidth 1."""
    rng = np.random.default_rng(0)
    sphere = rng.standard_normal((4000, 3))
    sphere /= np.linalg.norm(sphere, axis=1, keepdims=True)
    y = sum(zonal.theory.gegenbauer(ell, 3, sphere[:, 2]) for ell in range(11, 16))
    features = zonal.GegenbauerFeatures(zonal.Gaussian(1.0), 400, max_degree=16, random_state=0)
    model = zonal.KernelRidge(features, local=None)
    model.fit(sphere, y)
    relative = model.alpha_ / model.cv_results_["alpha"].max()
    assert relative < 1e-10  # where the grid used to end


def test_falling_end():
    alphas = np.array([3.0, 1.0, 2.0])
    assert falling_end(alphas, np.array([3.0, 1.0, 2.0]), 1.0) == "smallest"
    assert falling_end(alphas, np.array([1.0, 3.0, 2.0]), 1.0) == "largest"
    assert falling_end(alphas, np.array([2.0, 3.0, 1.0]), 1.0) is None
    assert falling_end(alphas, np.array([3.0, 1.0, 1.00001]), 1.0) is None  # a tie
    assert best_alpha(alphas, np.array([3.0, 1.0, 1.00001]), 1.0) == 2.0


@pytest.mark.parametrize("best", range(30))
def test_least_error_finds_every_minimum(best):
    """Of curves that fall and then rise; small alphas are not tried where large ones are best."""
    asked = []

    def error(index):
        asked.append(index)
        return abs(index - best) + 1.0

    assert least_error(error, np.arange(30)) == 1.0
    assert len(set(asked)) == len(asked)
    if best >= 14:
        assert min(asked) >= 10


def test_least_error_stays_on_a_plateau():
    """Below the rounding of the sums no alpha makes a difference, and none is tried."""
    asked = []

    def error(index):
        asked.append(index)
        return max(float(index), 9.0)

    assert least_error(error, np.arange(30)) == 9.0
    assert min(asked) >= 3
