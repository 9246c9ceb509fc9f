"""Spherical random features: the fitted spectrum and what they estimate."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.utils.estimator_checks import parametrize_with_checks

import zonal
from zonal.features.baselines.spherical import N_FREQUENCIES, _waves, fit_spectrum

RNG = np.random.default_rng(0)
X = RNG.standard_normal((40, 10))
X /= np.linalg.norm(X, axis=1, keepdims=True)
# The paper's (1 - ‖x - y‖²/a²)^p with a = 2.
HIGH = zonal.Polynomial(10, gamma=0.5, coef0=0.5)


@parametrize_with_checks(
    [zonal.SphericalFeatures(n_components=16), zonal.SphericalFeatures(HIGH, 7, orthogonal=False)]
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("width", [30, 31], ids=["even", "odd"])
def test_unbiased_for_the_fitted_kernel_with_the_variance_of_fourier_features(width):
    """Pairs of cosine and sine: Var = (K(0) (K(0) + K(2z)) / 2 - K(z)²) / m."""
    n_seeds = 100
    grams = []
    for seed in range(n_seeds):
        features = zonal.SphericalFeatures(HIGH, width, orthogonal=False, random_state=seed)
        Z = features.fit_transform(X)
        grams.append(Z @ Z.T)
    z = np.linalg.norm(X[:, None] - X, axis=2)
    expected = features.fitted_kernel(z)
    top = features.fitted_kernel(np.zeros(1))[0]
    m = -(-width // 2)
    variance = (top * (top + features.fitted_kernel(2 * z)) / 2 - expected**2) / m
    if width % 2:
        variance += top**2 / m**2  # a cosine with an offset has at most that much more
    error = np.sqrt(np.maximum(variance, 0) / n_seeds)
    assert (np.abs(np.mean(grams, axis=0) - expected) <= 5 * error + 1e-9).all()


def test_the_fit_of_the_paper():
    """(1 - z²/4)^p is close to the transform of a density, the closer the higher p is.

    The fit is at least as good as e^{-p z²/4}, which is a transform, up to the points of the
    integrals: a step of the grid of frequencies moves K by |z K'(z)| times half its logarithm.
    """
    z = np.linspace(0, 2, 2001)
    step = np.log(60 / 1e-3) / (N_FREQUENCIES - 1)
    rounding = 2 / np.e * step / 2  # |z d/dz e^{-c z²}| is at most 2/e
    errors = []
    for p in (3, 10, 20):
        errors.append(fit_spectrum(lambda z, p=p: (1 - z**2 / 4) ** p, 50)[1])
        gap = np.sqrt(np.mean(((1 - z**2 / 4) ** p - np.exp(-p * z**2 / 4)) ** 2))
        assert errors[-1] <= gap + rounding
    assert errors[0] > errors[1] > errors[2]
    spectrum, error = fit_spectrum(lambda z: np.exp(-2 * z**2), 50)
    assert error <= rounding  # a Gaussian is one already
    assert (spectrum[1] >= 0).all()


def test_high_degrees_beat_random_maclaurin_features():
    """The claim of the paper."""
    K = HIGH(X)
    errors = {
        kind: np.mean(
            [
                np.linalg.norm(Z @ Z.T - K)
                for Z in (kind(HIGH, 512, random_state=seed).fit_transform(X) for seed in range(5))
            ]
        )
        for kind in (zonal.SphericalFeatures, zonal.MaclaurinFeatures)
    }
    assert errors[zonal.SphericalFeatures] < 0.5 * errors[zonal.MaclaurinFeatures]


def test_rows_sparse_single_precision_and_saved(tmp_path):
    features = zonal.SphericalFeatures(HIGH, 64, random_state=0).fit(X)
    Z = features.transform(X)
    np.testing.assert_allclose(features.transform(sp.csr_array(X)), Z, atol=1e-12)
    np.testing.assert_allclose(features.transform(3 * X), Z, atol=1e-12)  # projected
    single = features.transform(X.astype(np.float32))
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, Z, atol=1e-4)
    zonal.save(features, tmp_path / "map.zonal")
    np.testing.assert_array_equal(zonal.load(tmp_path / "map.zonal").transform(X), Z)


def test_waves_in_many_dimensions_go_on_from_few():
    """On both sides of the change of formula, and against the closed form sin(t)/t."""
    t = np.linspace(0.0, 40.0, 200)
    # At one t²/d, so that the step from 150 to 151 columns changes next to nothing.
    np.testing.assert_allclose(_waves(t, 150), _waves(t * (151 / 150) ** 0.5, 151), atol=2e-4)
    np.testing.assert_allclose(_waves(t, 3), np.sinc(t / np.pi), atol=1e-9)
    assert np.isfinite(_waves(1e4 * t, 20_000)).all()
