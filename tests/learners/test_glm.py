"""Generalized linear models on features, against scikit-learn and brute force."""

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.linear_model import GammaRegressor, LogisticRegression, PoissonRegressor
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils.estimator_checks import parametrize_with_checks

import zonal
from zonal.likelihoods import Gamma, NegativeBinomial, Observed, Poisson, Student
from zonal.model import kept_features

RNG = np.random.default_rng(0)
X = RNG.standard_normal((400, 5))
WEIGHT = RNG.uniform(0.5, 2.0, 400)
LATENT = X @ np.array([0.5, -0.3, 0.2, 0.0, 0.1]) + 0.3
COUNTS = RNG.poisson(np.exp(LATENT)).astype(float)
AMOUNTS = RNG.gamma(2.0, np.exp(LATENT) / 2)
MORE = RNG.negative_binomial(2, 2 / (2 + np.exp(LATENT))).astype(float)
YES = (COUNTS > 1).astype(float)
ALPHA = 3.0


def on_columns(likelihood, **options):
    """A model whose features are the columns themselves."""
    return zonal.KernelGLM(likelihood, FunctionTransformer(), local=None, **options)


def test_counts_agree_with_scikit_learn():
    model = on_columns("poisson", alpha=ALPHA).fit(X, COUNTS, WEIGHT)
    known = PoissonRegressor(
        alpha=ALPHA / WEIGHT.sum(), tol=1e-12, max_iter=1000, solver="newton-cholesky"
    ).fit(X, COUNTS, WEIGHT)
    np.testing.assert_allclose(model.coef_, known.coef_, atol=1e-6)
    assert model.intercept_ == pytest.approx(known.intercept_, abs=1e-6)


def test_amounts_agree_with_scikit_learn():
    model = on_columns("gamma", alpha=ALPHA).fit(X, AMOUNTS)
    known = GammaRegressor(
        alpha=ALPHA / len(X), tol=1e-12, max_iter=1000, solver="newton-cholesky"
    ).fit(X, AMOUNTS)
    np.testing.assert_allclose(model.coef_, known.coef_, atol=1e-6)
    assert model.intercept_ == pytest.approx(known.intercept_, abs=1e-6)


def test_yes_or_no_agrees_with_scikit_learn():
    model = on_columns("bernoulli", alpha=ALPHA).fit(X, YES, WEIGHT)
    known = LogisticRegression(C=1 / ALPHA, tol=1e-12, max_iter=1000, solver="newton-cholesky").fit(
        X, YES, WEIGHT
    )
    np.testing.assert_allclose(model.coef_, known.coef_[0], atol=1e-6)
    assert model.intercept_ == pytest.approx(known.intercept_[0], abs=1e-6)


def test_shares_agree_with_repeated_yes_or_no():
    trials = RNG.integers(1, 6, 400)
    y = RNG.binomial(trials, 1 / (1 + np.exp(-LATENT)))
    model = on_columns("binomial", alpha=ALPHA).fit(X, y, trials=trials)
    rows = np.repeat(np.arange(400), trials)
    won = np.concatenate([np.arange(n) < k for n, k in zip(trials, y, strict=True)])
    known = on_columns("bernoulli", alpha=ALPHA).fit(X[rows], won.astype(float))
    np.testing.assert_allclose(model.coef_, known.coef_, atol=1e-8)
    expected = model.predict(X[:5]) * trials[:5]
    np.testing.assert_allclose(model.predict(X[:5], trials=trials[:5]), expected)


@pytest.mark.parametrize(
    ("likelihood", "y"), [(NegativeBinomial(2.0), COUNTS), (Student(4.0, 0.7), LATENT + COUNTS)]
)
def test_the_mode_minimises_the_objective(likelihood, y):
    """Half the deviance plus the penalty, by a minimiser that knows no derivatives of ours."""
    model = on_columns(likelihood, alpha=ALPHA).fit(X, y)
    observed = Observed.of(y)

    def objective(values):
        f = X @ values[1:] + values[0]
        penalty = ALPHA / 2 * values[1:] @ values[1:]
        return likelihood.half_deviance(observed, f).sum() + penalty

    found = np.array([model.intercept_, *model.coef_])
    best = minimize(objective, np.zeros(6), method="BFGS", options={"gtol": 1e-7})
    assert objective(found) <= best.fun + 1e-5
    np.testing.assert_allclose(found, best.x, atol=1e-3)


def test_an_exposure_is_a_weight_of_rates():
    """Counts y of an exposure t: as rates y/t with weights t, in scikit-learn's Poisson."""
    exposure = RNG.uniform(1, 20, 400)
    y = RNG.poisson(exposure * np.exp(LATENT))
    model = on_columns("poisson", alpha=ALPHA).fit(X, y, exposure=exposure)
    known = PoissonRegressor(
        alpha=ALPHA / exposure.sum(), tol=1e-12, max_iter=1000, solver="newton-cholesky"
    ).fit(X, y / exposure, exposure)
    np.testing.assert_allclose(model.coef_, known.coef_, atol=1e-6)
    same = on_columns("poisson", alpha=ALPHA).fit(X, y, offset=np.log(exposure))
    np.testing.assert_allclose(model.coef_, same.coef_, atol=1e-12)
    np.testing.assert_allclose(
        model.predict(X, exposure=exposure), exposure * model.predict(X), rtol=1e-12
    )


def laplace_evidence(likelihood, Z, y, alpha):
    """Laplace's log evidence of coefficients and constant, from derivatives by differences."""
    observed = Observed.of(y)

    def joint(values):
        f = Z @ values[1:] + values[0]
        scale = likelihood.dispersion / alpha
        prior = -values[1:] @ values[1:] / (2 * scale) - len(values[1:]) / 2 * np.log(
            2 * np.pi * scale
        )
        return likelihood.log_density(observed, f).sum() + prior

    best = minimize(lambda v: -joint(v), np.zeros(Z.shape[1] + 1), method="BFGS")
    size, step = len(best.x), 1e-3
    hessian = np.empty((size, size))
    for i in range(size):
        for j in range(size):
            a, b = step * np.eye(size)[i], step * np.eye(size)[j]
            values = [joint(best.x + s * a + t * b) * s * t for s in (1, -1) for t in (1, -1)]
            hessian[i, j] = -sum(values) / (4 * step**2)
    return joint(best.x) + size / 2 * np.log(2 * np.pi) - np.linalg.slogdet(hessian)[1] / 2


@pytest.mark.parametrize(
    ("likelihood", "y"),
    [(Poisson(), COUNTS), (NegativeBinomial(2.0), COUNTS), (Gamma(2.0), AMOUNTS)],
)
def test_the_evidence_is_laplaces(likelihood, y):
    model = on_columns(likelihood, alpha=ALPHA).fit(X, y)
    expected = laplace_evidence(likelihood, X, y, ALPHA)
    assert model.log_evidence_ == pytest.approx(expected, abs=1e-3)


def test_alpha_and_shape_have_the_largest_evidence():
    model = on_columns("gamma").fit(X, AMOUNTS)
    shape = model.likelihood_.shape
    best = laplace_evidence(Gamma(shape), X, AMOUNTS, model.alpha_)
    for factor in (0.7, 1.4):
        assert laplace_evidence(Gamma(shape), X, AMOUNTS, model.alpha_ * factor) < best
        other = Gamma(shape * factor)
        # The prior variance φ/α stays.
        assert laplace_evidence(other, X, AMOUNTS, model.alpha_ / factor) < best


@pytest.mark.parametrize("name", ["negative_binomial", "student"])
def test_shapes_are_found_near_their_truth(name):
    """Within four standard errors, as the curvature of the log likelihood at the truth has it."""
    rng = np.random.default_rng(3)
    rows = rng.standard_normal((4000, 2))
    f = 1 + rows @ np.array([0.5, -0.2])
    if name == "student":
        truth, y = Student(5.0, 0.3), f + 0.3 * rng.standard_t(5, 4000)
    else:
        truth, y = NegativeBinomial(2.0), rng.negative_binomial(2, 2 / (2 + np.exp(f)))
    found = on_columns(name).fit(rows, y.astype(float)).likelihood_
    observed, step = Observed.of(y), 1e-2
    for parameter in vars(truth):
        values = [
            truth.moved(parameter, move).log_density(observed, f).sum() for move in (-step, 0, step)
        ]
        error = 1 / np.sqrt((2 * values[1] - values[0] - values[2]) / step**2)
        off = np.log(getattr(found, parameter) / getattr(truth, parameter))
        # Parameters that are found together know less of each other than one alone: twice.
        assert abs(off) < 2 * 4 * error


def test_rows_in_blocks_and_on_dask_give_the_same(tmp_path):
    dask = pytest.importorskip("dask.array")
    features = zonal.NystroemFeatures(zonal.Gaussian(2.0), 40, random_state=0).fit(X)
    frozen = FunctionTransformer(features.transform)
    model = zonal.KernelGLM("negative_binomial", frozen, local=None).fit(X, MORE, WEIGHT)
    blocks = Blocks()
    streamed = zonal.KernelGLM("negative_binomial", frozen, local=None).fit(blocks)
    cluster = zonal.KernelGLM("negative_binomial", frozen, local=None).fit(
        dask.from_array(X, chunks=(90, 5)),
        dask.from_array(MORE, chunks=90),
        dask.from_array(WEIGHT, chunks=90),
    )
    assert blocks.walks > 3
    for other in (streamed, cluster):
        np.testing.assert_allclose(other.predict(X), model.predict(X), rtol=1e-7)
        assert other.likelihood_.shape == pytest.approx(model.likelihood_.shape, rel=1e-6)


class Blocks:
    """A stream that counts how often it is walked over."""

    def __init__(self):
        self.walks = 0

    def __iter__(self):
        self.walks += 1
        for first in range(0, 400, 130):
            rows = slice(first, first + 130)
            yield X[rows], MORE[rows], WEIGHT[rows]


def test_an_iterator_is_held_in_memory():
    model = on_columns("poisson", alpha=ALPHA).fit(iter(Blocks()))
    known = on_columns("poisson", alpha=ALPHA).fit(X, MORE, WEIGHT)
    np.testing.assert_allclose(model.coef_, known.coef_, atol=1e-12)


def test_more_features_than_rows_change_nothing(monkeypatch):
    """Systems of the size of the rows give the same as those of the features."""
    rows, y = X[:60], COUNTS[:60]
    features = zonal.GegenbauerFeatures(zonal.Gaussian(2.0), 90, random_state=0)
    few = zonal.KernelGLM("poisson", features, local=None).fit(rows, y)
    monkeypatch.setattr(kept_features, "KEPT_FEATURES", 0)
    many = zonal.KernelGLM("poisson", features, local=None).fit(rows, y)
    assert few.alpha_ == pytest.approx(many.alpha_, rel=1e-5)
    np.testing.assert_allclose(few.coef_, many.coef_, atol=1e-6)
    np.testing.assert_allclose(few.predict(X), many.predict(X), rtol=1e-5)


@pytest.mark.parametrize("likelihood", ["poisson", "negative_binomial", "gamma", "student"])
def test_intervals_hold_what_they_say(likelihood):
    """Of 2,000 new observations, within four standard errors; of counts no less."""
    rng = np.random.default_rng(4)
    rows = rng.uniform(-3, 3, (3000, 1))
    f = 1 + np.sin(rows[:, 0])
    y = {
        "poisson": lambda: rng.poisson(np.exp(f)),
        "negative_binomial": lambda: rng.negative_binomial(3, 3 / (3 + np.exp(f))),
        "gamma": lambda: rng.gamma(2, np.exp(f) / 2),
        "student": lambda: f + 0.2 * rng.standard_t(4, 3000),
    }[likelihood]().astype(float)
    features = zonal.NystroemFeatures(zonal.Gaussian(1.0), 50, random_state=0)
    model = zonal.KernelGLM(likelihood, features, local=None).fit(rows[:1000], y[:1000])
    lower, upper = model.predict_interval(rows[1000:], 0.8)
    held = np.mean((lower <= y[1000:]) & (y[1000:] <= upper))
    error = 4 * np.sqrt(0.8 * 0.2 / 2000)
    assert held > 0.8 - error
    if not model.likelihood_.discrete:
        assert held < 0.8 + error
    mean = np.exp(f) if model.likelihood_.log_link else f
    assert np.abs(model.predict(rows) - mean).mean() < 0.1 * mean.mean()
    assert 0 < model.score(rows[1000:], y[1000:]) < 1


def test_outliers_hardly_matter_to_student():
    rng = np.random.default_rng(5)
    rows = rng.uniform(-3, 3, (500, 1))
    truth = np.sin(rows[:, 0])
    y = truth + 0.1 * rng.standard_normal(500)
    y[::20] += 30
    features = zonal.NystroemFeatures(zonal.Gaussian(1.0), 50, random_state=0)
    robust = zonal.KernelGLM("student", features, local=None).fit(rows, y)
    ridge = zonal.KernelRidge(features, local=None).fit(rows, y)
    off, off_ridge = (np.abs(m.predict(rows) - truth).mean() for m in (robust, ridge))
    assert off < 0.05
    assert off_ridge > 10 * off


def test_integer_weights_are_repeated_rows():
    """To rounding; but a shape is found by differences of sums, which leave seven digits."""
    counts = RNG.integers(0, 3, 400)
    rows = np.repeat(np.arange(400), counts)
    one = on_columns("poisson").fit(X, MORE, counts)
    two = on_columns("poisson").fit(X[rows], MORE[rows])
    assert one.alpha_ == pytest.approx(two.alpha_, rel=1e-11)
    np.testing.assert_allclose(one.coef_, two.coef_, rtol=1e-10)
    one = on_columns("negative_binomial").fit(X, MORE, counts)
    two = on_columns("negative_binomial").fit(X[rows], MORE[rows])
    np.testing.assert_allclose(one.coef_, two.coef_, rtol=1e-6)
    assert one.likelihood_.shape == pytest.approx(two.likelihood_.shape, rel=1e-5)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"exposure": np.r_[0.0, np.ones(399)]}, r"exposure\[0\] = 0 must be positive"),
        ({"trials": np.ones(400)}, "trials is for likelihood='binomial'"),
        ({"offset": np.ones(3)}, "offset has the shape"),
    ],
)
def test_wrong_arguments_are_named(options, message):
    with pytest.raises(ValueError, match=message):
        on_columns("poisson").fit(X, COUNTS, **options)


def test_responses_outside_the_support_are_named():
    y = COUNTS.copy()
    y[7] = -2
    with pytest.raises(ValueError, match=r"y\[7\] = -2 is outside the support"):
        on_columns("poisson").fit(X, y)
    with pytest.raises(ValueError, match="needs trials"):
        on_columns("binomial").fit(X, YES)
    with pytest.raises(ValueError, match=r"y\[0\] = .* is more than trials\[0\]"):
        on_columns("binomial").fit(X, np.full(400, 3), trials=np.full(400, 2))
    with pytest.raises(ValueError, match="must be 'evidence'"):
        on_columns("poisson", alpha="cv").fit(X, COUNTS)


@pytest.mark.parametrize(
    ("likelihood", "y", "message"),
    [
        ("poisson", 0.0, "All 400 responses are 0"),
        ("negative_binomial", 0.0, "All 400 responses are 0"),
        ("bernoulli", 0.0, "ended without success"),
        ("bernoulli", 1.0, "ended with success"),
    ],
)
def test_responses_that_tell_of_one_end_only_are_an_error(likelihood, y, message):
    """The latent value is infinite: half of rows without any success had been predicted to have."""
    with pytest.raises(ValueError, match=message):
        zonal.KernelGLM(likelihood, budget=32).fit(X, np.full(400, y))


@pytest.mark.parametrize("answer", ["score", "log_density"])
def test_a_response_for_each_row_is_asked_for(answer):
    model = on_columns("poisson").fit(X, COUNTS)
    with pytest.raises(ValueError, match=r"inconsistent numbers of samples: \[400, 1\]"):
        getattr(model, answer)(X, COUNTS[:1])


@pytest.mark.parametrize("local", [None, zonal.NeighborKriging(zonal.Matern(1.5, 2.0), 10)])
def test_refitting_to_the_same_rows_changes_nothing(local):
    features = zonal.NystroemFeatures(zonal.Gaussian(2.0), 10, random_state=0)
    model = zonal.KernelGLM("poisson", features, local=local).fit(X[:200], COUNTS[:200])
    again = model.refitted(X[:200], COUNTS[:200])
    np.testing.assert_allclose(again.predict(X), model.predict(X), rtol=1e-4)
    fewer = model.refitted(X[:100], COUNTS[:100])
    assert fewer.alpha_ == model.alpha_
    assert np.abs(fewer.predict(X) - model.predict(X)).max() > 0.01


def test_a_local_part_follows_what_no_features_can():
    """Counts of a rate that is rough: nearer to the truth than a constant and than few features."""
    rng = np.random.default_rng(6)
    rows = rng.uniform(0, 10, (800, 1))
    rate = np.exp(1.5 + np.sin(6 * rows[:, 0]))
    y = rng.poisson(rate)
    few = zonal.NystroemFeatures(zonal.Gaussian(3.0), 8, random_state=0)
    smooth = zonal.KernelGLM("poisson", few, local=None).fit(rows, y)
    rough = zonal.KernelGLM("poisson", None, local=zonal.NeighborKriging()).fit(rows, y)
    off = [np.abs(model.predict(rows) / rate - 1).mean() for model in (rough, smooth)]
    assert rough.local_ is not None
    assert off[0] < 0.15
    assert off[1] > 2 * off[0]
    lower, upper = rough.predict_interval(rows, 0.8)
    new = rng.poisson(rate)
    assert np.mean((lower <= new) & (new <= upper)) > 0.8 - 4 * np.sqrt(0.8 * 0.2 / 800)


def test_counts_that_depend_on_few_columns_get_an_anova_kernel():
    """Of eight columns two pairs count: rows that are alike in them are not near each other."""
    rng = np.random.default_rng(7)
    rows = rng.standard_normal((900, 8))
    rate = np.exp(1 + np.sin(2 * rows[:, 0]) * rows[:, 1] + np.abs(rows[:, 2]) / 2)
    y = rng.poisson(rate)
    model = zonal.KernelGLM("poisson", budget=256, random_state=0).fit(rows[:600], y[:600])
    kernel = model.features_[-1].kernel_
    counted = kernel.weight / kernel.length_scale
    assert counted[3:].max() < counted[:3].min()
    assert model.local_ is None
    table = model.selection_
    assert table.loc[table["chosen"], "kernel"].tolist() == ["anova"]
    assert table.loc[table["chosen"], "weight"].tolist() == [1.0]
    distances = zonal.NystroemFeatures(zonal.Matern(1.5, "median"), 256, random_state=0)
    plain = zonal.KernelGLM("poisson", distances, local=None).fit(rows[:600], y[:600])
    assert model.log_evidence_ > plain.log_evidence_
    assert model.score(rows[600:], y[600:]) > plain.score(rows[600:], y[600:]) + 0.1


def test_fine_counts_keep_the_local_part():
    """In places that hardly repeat, landmarks cannot follow what neighbours tell."""
    rng = np.random.default_rng(8)
    rows = rng.uniform(0, 1, (1500, 4)) * [1.0, 1.0, 1e-3, 1e-3]
    y = rng.poisson(np.exp(1.5 + 1.5 * np.sin(40 * rows[:, 0] + 30 * rows[:, 1])))
    model = zonal.KernelGLM("poisson", budget=64, random_state=0).fit(rows, y)
    assert model.local_ is not None


# Fifteen rows with as many features are interpolated, and their evidence has no maximum: alpha is
# given.
@parametrize_with_checks(
    [
        zonal.KernelGLM("poisson", alpha=0.1, budget=48, random_state=0),
        zonal.KernelGLM("gamma", alpha=0.1, budget=48, random_state=0),
        zonal.KernelGLM("student", alpha=0.1, budget=48, random_state=0),
    ]
)
def test_scikit_learn(estimator, check):
    check(estimator)
