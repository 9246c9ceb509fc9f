"""Classes by log loss, from rows in memory."""

import numpy as np
import pytest

import zonal
from zonal.features.nystroem import NystroemFeatures
from zonal.features.space import FeatureSpace
from zonal.model.class_fit import fit_classes
from zonal.model.class_sums import ClassExpansion
from zonal.model.log_loss import LogLoss
from zonal.rows import Block


@pytest.mark.parametrize("noise", [0.0, 0.3])
def test_the_quick_alpha_is_near_that_of_all_features_and_rows(noise):
    """Twice as much or as little changes no probability that a test could see."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((1300, 4))
    f = 3 * np.sin(2 * X[:, 0]) * X[:, 1] + 2 * X[:, 2]
    y = (f > 1).astype(int) + (f > -1)
    y = np.where(rng.random(len(y)) < noise, rng.integers(0, 3, len(y)), y)
    features = NystroemFeatures(zonal.Gaussian(30.0), 100, sampling="uniform", random_state=0)
    space = FeatureSpace(features.fit(X), len(features.get_feature_names_out()))
    quick = LogLoss(np.arange(3), None, True).on_rows(space, Block(X, y, None))
    start = ClassExpansion(
        features, space.mean(X), np.arange(3), np.zeros((space.n_columns + 1, 3)), False
    )
    whole = fit_classes(lambda where: where.sums(Block(X, y, None)), start, None)
    assert abs(np.log(quick.alpha / whole.alpha)) < np.log(2)
    few = X[:200]
    found, known = (
        zonal.likelihoods.Multinomial().mean(values)
        for values in (
            quick.mean(few),
            features.transform(few) @ whole.coef + whole.intercept,
        )
    )
    assert np.abs(found - known).mean() < 0.01
