"""Grids in and out, on the command line and in Python; collections of Dask; a notebook's page."""

import numpy as np
import pytest
import xarray as xr

pytestmark = pytest.mark.slow


def test_grids(walk):
    walk.shell(
        "zonal fill sst.nc --target sst --interval 0.8 --save-model sst.zonal --out filled.nc\n"
        "zonal predict sst.zonal --grid 10 --out map.nc\n"
        "zonal predict sst.zonal --grid 10 --extent=-40,-20,40,20 --yes --out map.png\n"
        "zonal predict sst.zonal sst.nc --interval 0.9 --out same.nc\n"
        "zonal fit coads_sst.nc --target SST --cv block:20deg --features harmonic --budget 64 "
        "--out months.zonal\n"
        "zonal predict months.zonal --grid 20 --time 0.04 --time 0.12 --out months.nc"
    )
    with (
        xr.open_dataset(walk.folder / "filled.nc") as filled,
        xr.open_dataset(walk.folder / "sst.nc") as known,
    ):
        value = filled["prediction"]
        assert np.isfinite(value).all()
        assert value.attrs["units"] == "degC"
        had = known["sst"].notnull()
        np.testing.assert_allclose(value.where(had), known["sst"], atol=1e-4)
        # The hole is at 36° S to 12° S, where the field is the cosine that files.py has.
        lat, lon = np.radians(known["lat"]), np.radians(known["lon"])
        truth = 28 * np.cos(lat) + 3 * np.sin(lon) + np.sin(2 * np.pi * 0.04)
        assert float(abs(value - truth).where(~had).max()) < 2
    with xr.open_dataset(walk.folder / "months.nc") as months:
        assert dict(months.sizes)["time" if "time" in months.sizes else "TIME"] == 2
    assert (walk.folder / "map.png").read_bytes().startswith(b"\x89PNG")


def test_dask_in_python(walk):
    walk.fresh().python(
        """
import dask.array as da
import numpy as np
import zonal

if __name__ == "__main__":
    rng = np.random.default_rng(0)
    X = rng.uniform(-2, 2, (2000, 2))
    y = np.sin(X[:, 0]) * X[:, 1]
    features = zonal.HarmonicFeatures(zonal.Gaussian(1.0), n_components=60)
    here = zonal.KernelRidge(features, alpha=1e-3).fit(X, y)
    from zonal.distributed import local_cluster

    with local_cluster(n_workers=1):
        rows, targets = da.from_array(X, (500, 2)), da.from_array(y, 500)
        there = zonal.KernelRidge(features, alpha=1e-3).fit(rows, targets)
        predicted = there.predict(rows)
        assert not isinstance(predicted, np.ndarray)
        np.testing.assert_allclose(predicted.compute(), here.predict(X), atol=1e-8)
"""
    )


def test_what_a_notebook_shows(walk):
    """The last line of a cell is shown by _repr_html_, before and after a fit."""
    walk.python(
        """
import numpy as np
import zonal

model = zonal.KernelRidge(budget=32, random_state=0)
assert "KernelRidge" in model._repr_html_()
X = np.random.default_rng(0).uniform(-2, 2, (320, 2))
model.fit(X, np.sin(X).sum(axis=1))
page = model._repr_html_()
assert "What was tried" in page and "</table>" in page, page[-500:]
shown = model._repr_mimebundle_()
assert shown["text/html"] and shown["text/plain"]
assert "<table" in model.selection_._repr_html_()
for other in (zonal.GaussianProcess(), zonal.HarmonicFeatures().fit(X), zonal.NeighborKriging()):
    assert type(other).__name__ in other._repr_html_()
"""
    )
