"""The paper's feature map in one call."""

import math

import numpy as np
import pytest
from sklearn.base import clone

import zonal
from tests.naive import paper_features

ROWS = np.random.default_rng(1).standard_normal((6, 4)) * [[0.3], [0.6], [0.9], [1.2], [0.0], [2.0]]


@pytest.mark.parametrize(
    ("kernel", "derivative", "gaussian"),
    [
        (zonal.Gaussian(1.0), lambda j: 1.0, True),
        (zonal.Exponential(1.0), lambda j: 1.0, False),
        (zonal.Polynomial(3), lambda j: math.perm(3, j) if j <= 3 else 0.0, False),
    ],
    ids=["Gaussian", "Exponential", "Polynomial"],
)
@pytest.mark.parametrize("rows", ["ball", "sphere"])
def test_columns_are_the_definition(kernel, derivative, gaussian, rows):
    """Entry by entry, on rows of all norms and on a sphere, where our default would differ."""
    X = ROWS if rows == "ball" else ROWS[:4] / np.linalg.norm(ROWS[:4], axis=1, keepdims=True)
    features = zonal.GegenbauerFeatures.paper(kernel, 15, 4, 3, random_state=0).fit(X)
    assert features.directions_.shape == (5, 4)
    expected = paper_features(X, features.directions_, 4, 3, derivative, gaussian)
    np.testing.assert_allclose(features.transform(X), expected, rtol=1e-10, atol=1e-12)


def test_directions_are_independent_and_uniform():
    """Means of coordinates and of their products, within five standard errors."""
    m, d = 20_000, 3
    features = zonal.GegenbauerFeatures.paper(zonal.Gaussian(), m, 1, 1, random_state=0)
    W = features.fit(np.ones((2, d))).directions_
    np.testing.assert_allclose(np.linalg.norm(W, axis=1), 1)
    assert (np.abs(W.mean(axis=0)) < 5 / np.sqrt(m * d)).all()
    neighbours = np.einsum("md,md->m", W[:-1], W[1:])  # 1/d on average for no lattice
    assert abs(np.square(neighbours).mean() - 1 / d) < 5 / np.sqrt(m)
    assert abs(neighbours.mean()) < 5 / np.sqrt(m * d)


def test_an_ordinary_estimator():
    features = zonal.GegenbauerFeatures.paper(zonal.Gaussian(2.0), 64, 5, 2, random_state=3)
    assert type(features) is zonal.GegenbauerFeatures
    copy = clone(features)
    assert copy.get_params() == {**features.get_params(), "kernel": copy.kernel}
    X = np.random.default_rng(0).standard_normal((20, 3)) + 4
    Z = copy.fit_transform(X)
    # Nothing is learnt: one other row gives the same map, and nothing is subtracted.
    np.testing.assert_array_equal(features.fit(X[:1] - 7).transform(X), Z)
    assert not copy.center_.any()
