"""What learners ask a feature map: a narrower form, the variance it leaves out, its state."""

import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import zonal
from zonal.features import LearnedMetric, SphereEncoder, Standardizer


@pytest.fixture(scope="module")
def rows():
    return np.random.default_rng(0).standard_normal((60, 3))


def gegenbauer(kind=zonal.GegenbauerFeatures):
    return kind(zonal.Gaussian(1.5), 300, max_degree=6, n_radial=1, random_state=0)


def test_a_formula_of_its_own_has_no_inherited_narrow_form(rows):
    class Doubled(zonal.GegenbauerFeatures):
        def evaluator(self, dtype):
            evaluate = super().evaluator(dtype)

            def block(part, out):
                evaluate(part, out)
                out *= 2

            return block

    class Squared(zonal.GegenbauerFeatures):
        def transform(self, X):
            return np.square(super().transform(X))

    class Renamed(zonal.GegenbauerFeatures):
        """The same formula."""

    for kind in (Doubled, Squared):
        assert gegenbauer(kind).fit(rows).narrow_form() is None
    fitted = gegenbauer(Renamed).fit(rows)
    form = fitted.narrow_form()
    Z = fitted.transform(rows)
    np.testing.assert_allclose(form.transform(rows) @ form.mixing, Z, atol=1e-13 * np.abs(Z).max())


def test_the_narrow_form_has_the_kernel_but_cannot_be_fitted(rows):
    fitted = gegenbauer().fit(rows)
    form = fitted.narrow_form()
    np.testing.assert_array_equal(form.kernel_diag(rows), fitted.kernel_diag(rows))
    assert form.narrow_form() is None
    assert form.get_feature_names_out()[0] == "harmonicform0"
    with pytest.raises(ValueError, match="expecting 3 features"):
        form.transform(rows[:, :2])
    again = pickle.loads(pickle.dumps(form))
    np.testing.assert_array_equal(again.transform(rows), form.transform(rows))


@pytest.mark.parametrize(
    "features",
    [
        zonal.NystroemFeatures(zonal.Gaussian(1.0), 20, random_state=0),
        zonal.HarmonicFeatures(zonal.Gaussian(1.0), 20),
        zonal.FourierFeatures(zonal.Gaussian(1.0), 20, random_state=0),
    ],
    ids=lambda features: type(features).__name__,
)
def test_residual_variance_by_the_matrices(features, rows):
    Z = features.fit_transform(rows)
    left = np.diag(zonal.Gaussian(1.0)(rows)) - np.diag(Z @ Z.T)
    found = features.residual_variance(rows, np.square(Z).sum(axis=1))
    np.testing.assert_allclose(found, np.maximum(left, 0), atol=1e-12)
    assert (found >= 0).all()


def test_directions_are_not_sent(rows):
    fitted = gegenbauer().fit(rows)
    state = fitted.sent_state()
    assert "directions_" not in state
    again = zonal.GegenbauerFeatures.receive_state(state)
    np.testing.assert_array_equal(again.directions_, fitted.directions_)
    np.testing.assert_array_equal(again.transform(rows), fitted.transform(rows))
    unfitted = zonal.GegenbauerFeatures.receive_state(gegenbauer().sent_state())
    assert not hasattr(unfitted, "directions_")


def test_everything_else_is_sent(rows):
    fitted = zonal.NystroemFeatures(n_components=10, random_state=0).fit(rows)
    again = zonal.NystroemFeatures.receive_state(fitted.sent_state())
    np.testing.assert_array_equal(again.transform(rows), fitted.transform(rows))


@pytest.mark.parametrize(
    "step",
    [
        gegenbauer(),
        zonal.HarmonicFeatures(zonal.Gaussian(1.5), 40),
        zonal.NystroemFeatures(zonal.Gaussian(1.5), 20, random_state=0),
        Standardizer(),
        SphereEncoder(0, 1),
        LearnedMetric(n_components=30, random_state=0),
    ],
    ids=lambda step: type(step).__name__,
)
def test_threads_may_share_a_map(step, rows):
    """Whoever says so of itself gives the same rows in many threads at once as in one."""
    assert step.thread_safe
    fitted = step.fit(rows, np.sin(rows[:, 0]))
    parts = [np.ascontiguousarray(rows[start::7]) for start in range(7)] * 8
    expected = [fitted.transform(part) for part in parts]
    with ThreadPoolExecutor(8) as pool:
        for found, wanted in zip(pool.map(fitted.transform, parts), expected, strict=True):
            np.testing.assert_array_equal(found, wanted)
