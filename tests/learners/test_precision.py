"""Targets and predictions keep their precision, whatever that of the rows is."""

import numpy as np
import pytest

import zonal

RNG = np.random.default_rng(0)
X = RNG.standard_normal((400, 2)).astype(np.float32)
SINE = np.sin(X[:, 0].astype(float))


def features():
    return zonal.GegenbauerFeatures(zonal.Gaussian(1.0), n_components=64, random_state=0)


LEARNERS = {
    "automatic": zonal.KernelRidge(budget=64, random_state=0),
    "few rows": zonal.KernelRidge(budget=64, random_state=0),
    "features": zonal.KernelRidge(features()),
    "local part": zonal.KernelRidge(features(), local=zonal.NeighborKriging()),
    "process": zonal.GaussianProcess(features()),
    "kriging": zonal.NeighborKriging(),
    "exact": zonal.ExactKernelRidge(zonal.Gaussian(1.0), 1e-2, fit_intercept=True),
}


@pytest.mark.parametrize(("middle", "size"), [(1.7e9, 60.0), (0.0, 1e40), (0.0, 1e-40)])
@pytest.mark.parametrize("name", LEARNERS)
def test_targets_far_from_zero_and_of_any_size(name, middle, size):
    rows = slice(200) if name == "few rows" else slice(None)
    y = middle + size * SINE[rows]
    model = LEARNERS[name].fit(X[rows], y)
    found = model.predict(X[rows])
    assert found.dtype == np.float64
    assert np.mean(((found - y) / size) ** 2) < 0.05 * np.var(SINE)
    if hasattr(model, "predict_interval"):
        lower, upper = model.predict_interval(X[rows])
        assert lower.dtype == upper.dtype == np.float64
        assert np.mean((lower <= y) & (y <= upper)) > 0.8
    if hasattr(model, "sample_y"):
        assert np.abs(model.sample_y(X[rows])[:, 0] - y).max() < size


@pytest.mark.parametrize("kind", ["chunks", "stream", "dask"])
@pytest.mark.parametrize("name", ["features", "local part", "process"])
def test_in_blocks(name, kind):
    y = 1.7e9 + 60 * SINE
    blocks = [(X[start : start + 100], y[start : start + 100]) for start in range(0, 400, 100)]
    model = LEARNERS[name]
    if kind == "chunks":
        model = type(model)(**model.get_params(deep=False))
        for block in blocks:
            model.partial_fit(*block)
        found = model.predict(X)
    elif kind == "stream":
        found = model.fit(iter(blocks)).predict(X)
    else:
        da = pytest.importorskip("dask.array")
        model.fit(da.from_array(X, chunks=(100, 2)), da.from_array(y, chunks=100))
        found = model.predict(da.from_array(X, chunks=(100, 2))).compute()
    assert found.dtype == np.float64
    assert np.mean((found - y) ** 2) < 0.05 * np.var(y)


@pytest.mark.parametrize("name", LEARNERS)
def test_single_only_where_rows_and_targets_both_are(name):
    model = LEARNERS[name].fit(X, SINE.astype(np.float32))
    assert model.predict(X).dtype == np.float32
    assert model.predict(X.astype(float)).dtype == np.float64
    if hasattr(model, "predict_interval"):
        for found in (*model.predict(X, return_std=True), *model.predict_interval(X)):
            assert found.dtype == np.float32


@pytest.mark.parametrize("name", LEARNERS)
def test_squares_beyond_all_numbers_are_an_error(name):
    with pytest.raises(ValueError, match=r"targets up to 1e\+200, whose squares overflow"):
        LEARNERS[name].fit(X, np.where(SINE > 0, 1e200, -1e200))
