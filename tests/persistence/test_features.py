"""Kernels and feature maps that are saved and loaded again, to the last bit."""

import io

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.special import i0
from sklearn.base import clone

import zonal

from .common import SPHERE, X, again, assert_same, features, parts, refuse, write_parts

KERNELS = {
    "gaussian": zonal.Gaussian(2.0),
    "gaussian by name": "gaussian",
    "median": zonal.Gaussian("median"),
    "exponential": zonal.Exponential(2.0),
    "polynomial": zonal.Polynomial(3, gamma=0.5),
    "dot product": zonal.DotProduct(np.cosh),
    "dot product with its series": zonal.DotProduct(np.square, taylor=[0.0, 0.0, 1.0]),
    "arc-cosine 0": zonal.ArcCosine(0),
    "arc-cosine 1": zonal.ArcCosine(1),
    "arc-cosine 2": zonal.ArcCosine(2),
    "ntk": zonal.NTK(2),
    "nngp": zonal.NNGP(3),
    "network": zonal.NetworkKernel("gelu", 2, True),
    "network of numpy": zonal.NetworkKernel(np.cos, 1),
    "zonal": zonal.Zonal(np.exp),
    "zonal of scipy": zonal.Zonal(i0),
    "sum": zonal.Gaussian(2.0) + zonal.NTK(1),
    "product": zonal.Gaussian(2.0) * zonal.Polynomial(2),
    "multiple": 2 * zonal.Exponential(2.0),
    "nested": 0.5 * (zonal.Gaussian(2.0) + zonal.Exponential(3.0) * zonal.Polynomial(1)),
    "expansion": zonal.Gaussian(2.0).expand(dim=3, max_degree=5, n_radial=3),
    "expansion on the sphere": zonal.NTK(1).expand(dim=3, max_degree=5, radii=[1.0, 1.0]),
    # A fixed term in a sum keeps a bound method of the expansion.
    "sum with an expansion": zonal.Gaussian(2.0).expand(dim=3, max_degree=5, n_radial=2)
    + zonal.Gaussian(1.0),
}


@pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64], ids=["float32", "float64"])
@pytest.mark.parametrize("on_sphere", [True, False], ids=["sphere", "space"])
def test_features_come_back_to_the_bit(kernel, dtype, on_sphere, path):
    # A kernel that is on the sphere only has the same rows twice.
    rows = (SPHERE if on_sphere or isinstance(kernel, zonal.Zonal) else X).astype(dtype)
    model = features(kernel).fit(rows)
    loaded = again(model, path)
    for one in (rows, SPHERE[:5], SPHERE[:5].astype(np.float32)):
        assert_same(loaded.transform(one), model.transform(one))
        assert_same(loaded.kernel_diag(one), model.kernel_diag(one))
    assert_same(loaded.expansion_(rows), model.expansion_(rows))
    assert_same(loaded.get_feature_names_out(), model.get_feature_names_out())
    unfitted = again(features(kernel), path)
    assert_same(unfitted.fit(rows).transform(rows), model.transform(rows))


@pytest.mark.parametrize("name", [name for name in KERNELS if name != "gaussian by name"])
def test_kernels_alone(name, path):
    kernel = KERNELS[name]
    loaded = again(kernel, path)
    assert repr(loaded) == repr(kernel)
    if name != "median":  # which has no values yet
        assert_same(loaded(SPHERE), kernel(SPHERE))
        assert_same(loaded.diag(SPHERE), kernel.diag(SPHERE))
        assert_same(loaded.expand(3)(SPHERE), kernel.expand(3)(SPHERE))


@pytest.mark.parametrize("scheme", ["iid", "orthogonal", "sobol", "fibonacci"])
@pytest.mark.parametrize("width", [40, 41], ids=["even", "uneven"])
def test_directions(scheme, width, path):
    model = features(n_components=width, n_radial=2, directions=scheme).fit(X)
    if scheme == "fibonacci":
        assert len(model._groups) == (2 if width == 41 else 1)
    loaded = again(model, path)
    assert_same(loaded.transform(X), model.transform(X))
    assert_same(loaded.directions_, model.directions_)


@pytest.mark.parametrize("center", [True, False, [1.0, 2.0, 3.0], np.ones(3)], ids=str)
def test_centers(center, path):
    model = features(center=center).fit(X)
    assert_same(again(model, path).transform(X), model.transform(X))


def test_one_column(path):
    column = X[:, :1]
    model = features(n_components=7, n_radial=3).fit(column)
    assert_same(again(model, path).transform(column), model.transform(column))


def test_the_state_of_a_random_state_is_kept(path):
    random_state = np.random.RandomState(0)
    random_state.standard_normal(17)
    loaded = again(features(random_state=random_state), path)
    expected = features(random_state=random_state).fit_transform(X)
    assert_same(loaded.fit_transform(X), expected)


@pytest.mark.parametrize(
    "baseline",
    [
        zonal.FourierFeatures(n_components=9, random_state=0),
        zonal.FourierFeatures(n_components=8, orthogonal=True, random_state=0),
        zonal.ModifiedFourierFeatures(n_components=8, random_state=0),
        zonal.FastFoodFeatures(n_components=8, random_state=0),
        zonal.MaclaurinFeatures(n_components=8, random_state=0),
        zonal.PolySketchFeatures(n_components=40, random_state=0),
        zonal.TensorSketchFeatures(n_components=40, random_state=0),
        zonal.PolySketchFeatures(zonal.Polynomial(4), 30, base_sketch="srht", random_state=0),
        zonal.NystroemFeatures(n_components=8, random_state=0),
        zonal.NystroemFeatures(zonal.NTK(), 8, sampling="rpcholesky", random_state=0),
    ],
    ids=repr,
)
def test_baselines_come_back_to_the_bit(baseline, tmp_path):
    rows = np.random.default_rng(0).standard_normal((60, 5))
    expected = baseline.fit(rows).transform(rows)
    zonal.save(baseline, tmp_path / "map.zonal")
    np.testing.assert_array_equal(zonal.load(tmp_path / "map.zonal").transform(rows), expected)


@pytest.mark.parametrize("kind", [sp.csr_matrix, sp.csr_array])
@pytest.mark.parametrize(
    "baseline",
    [
        zonal.PolySketchFeatures(zonal.Polynomial(3), 50, base_sketch="count", random_state=0),
        zonal.PolySketchFeatures(zonal.Gaussian(8.0), 50, base_sketch="osnap", random_state=0),
        zonal.NystroemFeatures(zonal.Gaussian(8.0), 20, random_state=0),
        zonal.NystroemFeatures(zonal.NTK(), 20, sampling="uniform", random_state=0),
    ],
    ids=repr,
)
def test_maps_of_sparse_rows_come_back_to_the_bit(baseline, kind, path):
    """Base sketches and landmarks are sparse there: with 300 columns no leaf is the rows."""
    rows = kind(sp.random(60, 300, density=0.05, random_state=0, format="csr"))
    expected = clone(baseline).fit(rows).transform(rows)
    loaded = again(clone(baseline).fit(rows), path)
    assert_same(loaded.transform(rows), expected)


def test_sparse_arrays_that_point_out_of_themselves_are_refused(path):
    rows = sp.csr_array(sp.random(40, 30, density=0.2, random_state=0, format="csr"))
    model = zonal.NystroemFeatures(zonal.Gaussian(8.0), 20, random_state=0).fit(rows)
    zonal.save(model, path)
    contents = parts(path)
    name = next(name for name in contents if name.endswith(".npz"))
    buffer = io.BytesIO()
    rows = sp.load_npz(io.BytesIO(contents[name]))
    rows.indices[3] = 1_000_000
    sp.save_npz(buffer, rows)
    write_parts(path, {**contents, name: buffer.getvalue()})
    refuse(path, "damaged: its sparse landmarks_")
    model.landmarks_.indices[3] = 1_000_000
    with pytest.raises(ValueError, match=r"was not saved, .* its sparse landmarks_"):
        zonal.save(model, path)
