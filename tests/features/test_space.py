"""Features of low rank: the narrower form gives the same model."""

import numpy as np
import pytest
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import zonal
from zonal.features.space import FeatureSpace
from zonal.moments.moments import Moments


def features(**options):
    return zonal.GegenbauerFeatures(zonal.Gaussian(1.5), random_state=0, **options)


def rows(dim, n=400):
    return np.random.default_rng(0).standard_normal((n, dim))


@pytest.mark.parametrize(
    ("dim", "options", "width"),
    [
        (3, {"n_components": 300, "max_degree": 6, "n_radial": 1}, 49),
        (3, {"n_components": 301, "max_degree": 6, "n_radial": 2}, 98),
        (2, {"n_components": 100, "max_degree": 8, "n_radial": 2, "directions": "iid"}, 34),
        (4, {"n_components": 90, "max_degree": 4, "n_radial": 1, "directions": "orthogonal"}, 55),
        (6, {"n_components": 90, "max_degree": 1, "n_radial": 3, "center": False}, 21),
    ],
)
def test_form_times_mixing_is_the_map(dim, options, width):
    X = rows(dim)
    X[0] = 0
    fitted = features(**options).fit(X)
    form = fitted.narrow_form()
    Z = fitted.transform(X)
    assert form.mixing.shape == (width, Z.shape[1])
    np.testing.assert_allclose(form.transform(X) @ form.mixing, Z, atol=1e-13 * np.abs(Z).max())
    single = form.transform(X.astype(np.float32))
    assert single.dtype == np.float32
    np.testing.assert_allclose(single @ form.mixing, Z, atol=1e-5 * np.abs(Z).max())


def test_no_form_where_it_is_not_narrower():
    assert features(n_components=48, max_degree=6, n_radial=1).fit(rows(3)).narrow_form() is None
    assert features(n_components=90, max_degree=4).fit(rows(1)).narrow_form() is None
    map_ = features(n_components=300, max_degree=6, n_radial=1).fit(rows(3))
    assert FeatureSpace(map_, 300).narrow(n_rows=300).mixing is None  # too few rows to pay
    assert FeatureSpace(map_, 300).narrow(n_rows=10_000).n_columns == 49


@pytest.mark.parametrize("scaled", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_ridge_is_that_of_the_wide_features(scaled, weighted):
    """Against scikit-learn's ridge on all 300 columns, of rank 49."""
    X = rows(3, n=16 * 300) + 1
    y = np.column_stack([np.sin(X[:, 0]), X[:, 1] * X[:, 2]])
    weight = np.random.default_rng(1).random(len(X)) if weighted else None
    map_ = features(n_components=300, max_degree=6, n_radial=1)
    map_ = make_pipeline(StandardScaler(), map_) if scaled else map_
    model = zonal.KernelRidge(map_, 0.1).fit(X, y, sample_weight=weight)
    Z = model.features_.transform(X)
    peer = Ridge(0.1).fit(Z, y, sample_weight=weight)
    np.testing.assert_allclose(model.predict(X), peer.predict(Z), atol=1e-9)
    np.testing.assert_allclose(model.coef_, peer.coef_, atol=1e-9)
    # Fewer rows take the wide way.
    few = np.concatenate([model.predict(X[part]) for part in np.array_split(np.arange(len(X)), 4)])
    np.testing.assert_allclose(few, model.predict(X), atol=1e-10)


def test_mixed_moments():
    rng = np.random.default_rng(2)
    H, y, G = (rng.standard_normal(shape) for shape in ((50, 4), (50, 2), (4, 7)))

    def moments(Z, shift):
        found = Moments(shift, 2)
        found.update(np.column_stack([Z, y, np.ones(50)]) - np.append(shift, 0.0))
        return found

    shift = rng.standard_normal(6)
    mixed = moments(H, shift).mixed(G)
    direct = moments(H @ G, np.zeros(9))
    np.testing.assert_allclose(mixed.products(), direct.products(), atol=1e-11)
    np.testing.assert_allclose(mixed.mean(), direct.mean(), atol=1e-13)
    assert mixed.n_rows == 50
