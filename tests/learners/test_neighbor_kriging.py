from sklearn.utils.estimator_checks import parametrize_with_checks

import zonal


@parametrize_with_checks([zonal.NeighborKriging(), zonal.NeighborKriging("gaussian", 4)])
def test_scikit_learn(estimator, check):
    check(estimator)
