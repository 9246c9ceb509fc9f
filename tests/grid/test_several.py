"""Several variables filled together."""

import numpy as np
import pytest
import xarray as xr
from sklearn.pipeline import make_pipeline

import zonal

LAT, LON = np.arange(-75.0, 76, 15), np.arange(0.0, 360, 15)
KERNEL = zonal.Matern(1.5, 0.4)


@pytest.fixture(scope="module")
def fields():
    rng = np.random.default_rng(0)
    lat, lon = np.meshgrid(LAT, LON, indexing="ij")
    places = zonal.datasets.to_sphere(lat.ravel(), lon.ravel())
    root = np.linalg.cholesky(KERNEL(places) + 1e-8 * np.eye(len(places)))
    white = rng.standard_normal((len(places), 2))
    one, other = (root @ white @ [[1, 0.95], [0, 0.31]]).T  # of correlation 0.95
    shape = lat.shape
    return xr.Dataset(
        {"a": (("lat", "lon"), one.reshape(shape)), "b": (("lat", "lon"), other.reshape(shape))},
        {"lat": LAT, "lon": LON},
    )


def test_one_variable_informs_the_other(fields):
    rng = np.random.default_rng(1)
    holes = fields.copy(deep=True)
    gone = rng.random(fields["b"].shape) < 0.7
    holes["b"] = fields["b"].where(~gone)
    model = make_pipeline(zonal.SphereEncoder(), zonal.CoKriging(KERNEL, n_features=0))
    found = zonal.fill(holes, ["a", "b"], model=model)
    assert set(found.data_vars) == {"a", "a_std", "a_lower", "a_upper"} | {
        "b", "b_std", "b_lower", "b_upper",
    }  # fmt: skip
    np.testing.assert_array_equal(found["a"], fields["a"])
    np.testing.assert_array_equal(found["b"].values[~gone], fields["b"].values[~gone])
    assert (found["b_std"].values[gone] > 0).all()
    alone = zonal.fill(
        holes[["b"]],
        model=make_pipeline(
            zonal.SphereEncoder(), zonal.NeighborKriging(KERNEL, noise=1e-4, n_features=0)
        ),
    )["prediction"]
    errors = [float(((part - fields["b"]) ** 2).mean()) for part in (found["b"], alone)]
    assert errors[0] < 0.5 * errors[1]
    some = zonal.fill(holes, ["a", "b"], model=model, where=holes.lat > 0, max_distance=3000.0)
    assert some["b"].where(some.lat <= 0, drop=True).isnull().sum() > 0
    with pytest.raises(ValueError, match="on the same grid together"):
        zonal.fill(holes.assign(c=holes["a"].expand_dims(depth=[1.0, 2.0])), ["a", "c"])
