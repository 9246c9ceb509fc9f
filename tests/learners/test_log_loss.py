"""Classes by their log loss, against scikit-learn and refits."""

import numpy as np
import pytest
from scipy.special import expit
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import FunctionTransformer

import zonal
from tests.finite_differences import assert_gradient
from zonal.likelihoods.averages import probit_scaled
from zonal.model.class_sums import curvature

RNG = np.random.default_rng(0)
X = RNG.standard_normal((300, 4))
SCORES = X @ RNG.standard_normal((4, 3)) + RNG.gumbel(size=(300, 3))
THREE = np.array(["a", "b", "c"])[SCORES.argmax(axis=1)]
TWO = np.where(THREE == "a", "yes", "no")
WEIGHT = RNG.uniform(0.5, 2.0, 300)


def on_columns(**options):
    """A classifier whose features are the columns themselves."""
    return zonal.KernelRidgeClassifier(
        FunctionTransformer(), local=None, **({"loss": "log"} | options)
    )


@pytest.mark.parametrize("y", [TWO, THREE], ids=["two", "three"])
def test_a_given_alpha_is_that_of_scikit_learn(y):
    model = on_columns(alpha=2.0).fit(X, y, WEIGHT)
    known = LogisticRegression(C=0.5, tol=1e-12, max_iter=10_000).fit(X, y, WEIGHT)
    assert model.loss_ == "log"
    mode = model._solution.mode
    np.testing.assert_allclose(mode.coef.T, known.coef_, atol=1e-6)
    level = mode.intercept - mode.intercept.mean() if len(mode.intercept) > 1 else mode.intercept
    np.testing.assert_allclose(level, known.intercept_, atol=1e-6)


def test_the_weight_of_a_class_is_a_weight_of_its_rows():
    one = on_columns(alpha=2.0, class_weight={"a": 3.0}).fit(X, THREE)
    two = on_columns(alpha=2.0).fit(X, THREE, np.where(THREE == "a", 3.0, 1.0))
    np.testing.assert_allclose(one.predict_proba(X), two.predict_proba(X), atol=1e-9)


def test_integer_weights_are_repeated_rows():
    counts = np.random.default_rng(4).integers(1, 4, 300)
    rows = np.repeat(np.arange(300), counts)
    one, two = on_columns().fit(X, TWO, counts), on_columns().fit(X[rows], TWO[rows])
    assert one.alpha_ == pytest.approx(two.alpha_, rel=1e-9)
    np.testing.assert_allclose(one.predict_proba(X), two.predict_proba(X), atol=1e-9)


@pytest.mark.parametrize("y", [TWO, THREE], ids=["two", "three"])
def test_rows_left_out_are_those_of_refits(y):
    """The log loss of rows that are left out, without a second fit: to a hundredth of it."""
    rows, labels = X[:60], y[:60]
    model = on_columns(alpha=1.0).fit(rows, labels)
    classes, losses = model.classes_, []
    for row in range(60):
        kept = np.arange(60) != row
        other = on_columns(alpha=1.0).fit(rows[kept], labels[kept])
        solution = other._solution
        logits = solution.averaged(rows[[row]])[0]
        # At the temperature of the whole fit, which one row hardly changes.
        scaled = logits / model.calibration_.temperature
        own = np.searchsorted(classes, labels[row])
        losses.append(np.logaddexp.reduce(scaled) - scaled[own])
    assert model.calibration_.loss == pytest.approx(np.mean(losses), rel=0.03)


def test_evidence_shrinks_labels_that_are_noise():
    labels = np.random.default_rng(1).integers(0, 3, 300)
    noise = on_columns().fit(X, labels)
    signal = on_columns().fit(X, THREE)
    assert noise.alpha_ > 30 * signal.alpha_
    chances = noise.predict_proba(X)
    assert np.abs(chances - 1 / 3).max() < 0.15


def test_alpha_stays_near_the_optimum_where_classes_can_be_told_apart():
    """Laplace's evidence, of scikit-learn's modes, falls from the α found to larger ones.

    About the mode hardly a row has curvature, so that the quadratic model made there says nothing
    of the evidence at much larger α: by it, an α of 14,000 was best here, and half of the rows had
    the wrong label.
    """
    rows = np.random.default_rng(0).uniform(-3, 3, (1350, 3))
    labels = np.sin(rows[:, 0]) * rows[:, 1] > 0
    features = zonal.GegenbauerFeatures(zonal.Gaussian("median"), 256, random_state=0)
    model = zonal.KernelRidgeClassifier(features, local=None, loss="log").fit(rows, labels)
    assert model.score(rows, labels) > 0.95
    Z = model.features_.transform(rows)

    def evidence(alpha):
        known = LogisticRegression(C=1 / alpha, solver="newton-cholesky").fit(Z, labels)
        p = known.predict_proba(Z)[:, 1]
        h = p * (1 - p)
        middle = Z - h @ Z / h.sum()
        fit = np.log(np.where(labels, p, 1 - p)).sum() - alpha / 2 * np.square(known.coef_).sum()
        log_det = np.linalg.slogdet(np.eye(Z.shape[1]) + (middle.T * h) @ middle / alpha)[1]
        return fit - (log_det + np.log(h.sum())) / 2

    found = evidence(model.alpha_)
    for factor in (10, 1e3, 1e6):
        assert evidence(factor * model.alpha_) < found - 10


@pytest.mark.parametrize("gone", ["a", "b", "c"])
@pytest.mark.parametrize("alpha", [0.1, "cv"])
def test_rows_without_weight_are_as_if_they_were_not_there(gone, alpha):
    """Also those of a class that no other row has: the last one too."""
    left = gone != THREE
    model = on_columns(alpha=alpha).fit(X, THREE, left.astype(float))
    fewer = on_columns(alpha=alpha).fit(X[left], THREE[left])
    assert model.classes_.tolist() == fewer.classes_.tolist()
    np.testing.assert_allclose(model.predict_proba(X), fewer.predict_proba(X), atol=1e-6)


def test_weights_that_leave_one_class_shrink_all_coefficients():
    """Rows of the others weigh nothing: there is no curvature, and nothing to learn."""
    model = zonal.KernelRidgeClassifier(
        zonal.NystroemFeatures(zonal.Gaussian(2.0), 20, random_state=0),
        local=None,
        loss="log",
        class_weight={"a": 1000.0, "b": 1e-4, "c": 1e-4},
    ).fit(X[:60], THREE[:60])
    assert (model.predict(X) == "a").all()
    assert np.abs(model.coef_).max() < 1e-3


@pytest.mark.parametrize("y", [TWO, THREE], ids=["two", "three"])
def test_gradients_are_those_of_averaged_logits(y):
    features = zonal.FourierFeatures(zonal.Gaussian(2.0), 30, random_state=0)
    model = zonal.KernelRidgeClassifier(features, alpha=0.3, loss="log").fit(X, y)
    assert_gradient(model.gradient(X[:5]), model.decision_function, X[:5])


def test_an_iterator_is_kept_and_walked_over_again():
    parts = [slice(0, 100), slice(100, 300)]
    once = on_columns().fit((X[part], THREE[part]) for part in parts)
    assert once.loss_ == "log"
    whole = on_columns().fit(X, THREE)
    np.testing.assert_allclose(once.predict_proba(X), whole.predict_proba(X), atol=1e-6)


def test_averages_are_less_sure_than_the_mode():
    model = on_columns(alpha=0.1).fit(X[:40], TWO[:40])
    mode = model._solution.mode
    f = X @ mode.coef[:, 0] + mode.intercept
    averaged = probit_scaled(f, mode.spread.leverage(X))
    np.testing.assert_allclose(model.decision_function(X), averaged, rtol=1e-9)
    assert (np.abs(averaged) < np.abs(f)).all()
    own = model.calibration_
    chances = own.mixed / 2 + (1 - own.mixed) * expit(averaged / own.temperature)
    np.testing.assert_allclose(model.predict_proba(X)[:, 1], chances, rtol=1e-9)


def test_refitting_keeps_features_and_alpha():
    model = zonal.KernelRidgeClassifier(
        zonal.NystroemFeatures(zonal.Gaussian(2.0), 40, random_state=0), local=None, loss="log"
    ).fit(X, THREE)
    again = model.refitted(X, THREE)
    assert again.alpha_ == model.alpha_
    np.testing.assert_allclose(again.predict_proba(X), model.predict_proba(X), atol=1e-3)


def test_the_shared_curvature_is_the_mean_of_the_eigenvalues():
    chances = np.random.default_rng(2).dirichlet(np.ones(4), 5)
    expected = [np.linalg.eigvalsh(np.diag(p) - np.outer(p, p))[1:].mean() for p in chances]
    np.testing.assert_allclose(curvature(chances), expected, rtol=1e-10)
    certain = np.array([[1.0, 1e-20, 1e-20]])
    np.testing.assert_allclose(curvature(certain), 2e-20, rtol=1e-10)


def test_the_squared_loss_is_still_there():
    model = on_columns(loss="squared").fit(X, THREE)
    assert model.loss_ == "squared"
    with pytest.raises(ValueError, match="loss='hinge' must be 'log' or 'squared'"):
        on_columns(loss="hinge").fit(X, THREE)
