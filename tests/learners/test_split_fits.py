import numpy as np
import pytest

import zonal
from zonal.kriging.joint import fit_joint, no_features
from zonal.kriging.locations import locate
from zonal.kriging.process import LocalProcess
from zonal.model.split_fits import FIT_NEIGHBORS, SplitFits, part_of

RNG = np.random.default_rng(0)


@pytest.mark.parametrize("columns", [0, 20])
@pytest.mark.parametrize("wall", [0.9, 0.1])  # the test part is small, or nearly everything
def test_sums_that_are_shared_give_the_fit_to_the_training_rows(columns, wall):
    X = RNG.uniform(size=(500, 2))
    y = (np.sin(6 * X[:, 0]) + X[:, 1] + 0.1 * RNG.standard_normal(500))[:, None]
    places = locate(X, y)
    process = LocalProcess(places.rows, places.weight, zonal.Matern(0.5, 0.2), 0.05, 16)
    map_ = zonal.FourierFeatures(zonal.Gaussian(0.5), 20, random_state=0).fit(X)
    features = map_.transform if columns else no_features
    whole = fit_joint(places, process, features, 0.7)
    train = np.flatnonzero(places.rows[:, 0] < wall)
    found, _ = SplitFits.of(whole, features, 0.7).without(train, places.rows)
    small = part_of(process, train)
    known = locate(X, y)
    known = type(known)(
        known.rows[train],
        known.targets[train],
        known.weight[train],
        known.repeated.part(train),
        np.arange(len(train)),
    )
    expected = fit_joint(known, small, features, 0.7, n_neighbors=FIT_NEIGHBORS)
    # Without features the mean comes from the same rows too: there are few.
    np.testing.assert_allclose(found.found.coef, expected.found.coef, atol=1e-8)
    np.testing.assert_allclose(found.found.mean, expected.found.mean, atol=1e-8)
    np.testing.assert_allclose(found.found.scale, expected.found.scale, rtol=1e-8)
    for part, other in zip(
        found.predict(places.rows, features, return_std=True),
        expected.predict(places.rows, features, return_std=True),
        strict=True,
    ):
        np.testing.assert_allclose(part, other, rtol=1e-7, atol=1e-8)
