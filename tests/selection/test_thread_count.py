"""The automatic choice does not depend on the number of threads."""

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

import zonal

RNG = np.random.default_rng(0)
X = RNG.standard_normal((500, 3))
y = np.sin(2 * X[:, 0]) + 0.3 * X[:, 1] * X[:, 2] + 0.1 * RNG.standard_normal(500)


@pytest.mark.parametrize("classes", [False, True], ids=["numbers", "classes"])
@pytest.mark.longest
def test_one_and_two_threads_choose_the_same(classes):
    kind = zonal.KernelRidgeClassifier if classes else zonal.KernelRidge
    models = []
    for n_threads in (1, 2):
        with threadpool_limits(n_threads, user_api="blas"):
            models.append(kind(budget=48, random_state=0).fit(X, y > 0 if classes else y))
    one, two = models
    assert repr(one.features_) == repr(two.features_)
    assert repr(one.local_) == repr(two.local_)
    answers = [model.predict_proba(X) if classes else model.predict(X) for model in models]
    np.testing.assert_allclose(answers[1], answers[0], atol=1e-3)
