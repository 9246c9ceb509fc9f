import itertools

import numpy as np
import pytest
from sklearn.kernel_approximation import RBFSampler
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import zonal
from zonal.evaluation import approximation_curve, relative_error

X = np.random.default_rng(0).standard_normal((300, 3))


def test_relative_error_is_that_of_the_kernel_matrix():
    features = zonal.FourierFeatures(zonal.Gaussian(1.5), n_components=64, random_state=0).fit(X)
    Z = features.transform(X)
    K = rbf_kernel(X, gamma=1 / (2 * 1.5**2))
    expected = np.linalg.norm(Z @ Z.T - K) / np.linalg.norm(K)
    assert relative_error(features, X) == pytest.approx(expected, rel=1e-10)


def test_the_curve_falls_with_the_number_of_features():
    features = zonal.HarmonicFeatures(zonal.Gaussian(1.5), n_components=256)
    model = make_pipeline(StandardScaler(), features).fit(X)
    curve = approximation_curve(model, X, 256)
    widths, errors = zip(*curve, strict=True)
    assert widths == (8, 16, 32, 64, 128, 256)
    assert all(later < earlier for earlier, later in itertools.pairwise(errors))


def test_features_of_no_kernel_have_no_curve():
    assert approximation_curve(RBFSampler(n_components=16).fit(X), X, 16) == []


def test_widths_that_are_too_small_are_left_out():
    features = zonal.GegenbauerFeatures(zonal.Gaussian(2.0), 64, max_degree=4, n_radial=20)
    with pytest.warns(UserWarning, match="No error is shown for 8 features"):
        curve = approximation_curve(features.fit(X), X, 64)
    assert [width for width, _ in curve] == [32, 64]
