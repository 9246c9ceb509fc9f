"""Log densities, slopes, deviances and averages against SciPy and scikit-learn."""

import numpy as np
import pytest
from scipy import integrate, stats
from sklearn.metrics import mean_gamma_deviance, mean_poisson_deviance

from zonal.likelihoods import (
    LIKELIHOODS,
    Bernoulli,
    Binomial,
    Gamma,
    Multinomial,
    NegativeBinomial,
    Observed,
    Poisson,
    Student,
    as_likelihood,
)
from zonal.likelihoods.averages import nodes, probit_scaled

RNG = np.random.default_rng(0)
F = RNG.normal(0.3, 0.8, 40)
TRIALS = RNG.integers(1, 9, 40).astype(float)
CASES = {
    "poisson": (Poisson(), RNG.poisson(np.exp(F)), lambda mu: stats.poisson(mu)),
    "negative_binomial": (
        NegativeBinomial(2.5),
        RNG.poisson(np.exp(F)),
        lambda mu: stats.nbinom(2.5, 2.5 / (2.5 + mu)),
    ),
    "gamma": (Gamma(3.0), RNG.gamma(3.0, np.exp(F) / 3), lambda mu: stats.gamma(3, scale=mu / 3)),
    "bernoulli": (Bernoulli(), RNG.integers(0, 2, 40), lambda mu: stats.bernoulli(mu)),
    "binomial": (
        Binomial(),
        RNG.binomial(TRIALS.astype(int), 0.4),
        lambda mu: stats.binom(TRIALS, mu),
    ),
    "student": (Student(4.0, 0.5), F + RNG.standard_t(4, 40), lambda mu: stats.t(4, mu, 0.5)),
}


def case(name):
    """The likelihood, what is observed, and SciPy's distribution at F."""
    likelihood, y, distribution = CASES[name]
    trials = TRIALS if name == "binomial" else None
    return likelihood, Observed.of(y, trials), distribution(likelihood.mean(F))


def test_every_likelihood_is_tested():
    assert set(CASES) == set(LIKELIHOODS)


@pytest.mark.parametrize("name", CASES)
def test_log_densities_are_those_of_scipy(name):
    likelihood, observed, known = case(name)
    log = known.logpmf if hasattr(known, "pmf") and likelihood.discrete else known.logpdf
    np.testing.assert_allclose(likelihood.log_density(observed, F), log(observed.y), rtol=1e-10)


@pytest.mark.parametrize("name", CASES)
def test_slopes_are_those_of_half_the_deviance(name):
    likelihood, observed, _ = case(name)
    step = 1e-5
    low, high = (likelihood.half_deviance(observed, F + sign * step) for sign in (-1, 1))
    slope, curvature = likelihood.derivatives(observed, F)
    np.testing.assert_allclose(slope, (low - high) / (2 * step), rtol=1e-6, atol=1e-8)
    assert (curvature >= 0).all()
    if likelihood.quadratic:
        before, after = (likelihood.derivatives(observed, F + s * step)[0] for s in (-1, 1))
        np.testing.assert_allclose(curvature, (before - after) / (2 * step), rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("name", CASES)
def test_a_deviance_is_what_the_saturated_model_gains(name):
    likelihood, observed, _ = case(name)
    best = likelihood.link(observed.y / observed.trials)
    gained = likelihood.log_density(observed, best) - likelihood.log_density(observed, F)
    # Responses at the end of their range have a latent value at the end of numbers: to 1e-5.
    expected = likelihood.half_deviance(observed, F) / likelihood.dispersion
    np.testing.assert_allclose(gained, expected, rtol=1e-5, atol=1e-4)


def test_deviances_are_those_of_scikit_learn():
    _, observed, _ = case("poisson")
    found = 2 * Poisson().half_deviance(observed, F).mean()
    assert found == pytest.approx(mean_poisson_deviance(observed.y, np.exp(F)), rel=1e-12)
    _, observed, _ = case("gamma")
    found = 2 * Gamma().half_deviance(observed, F).mean()
    assert found == pytest.approx(mean_gamma_deviance(observed.y, np.exp(F)), rel=1e-12)


def test_the_curvature_of_students_t_bounds_the_log_density():
    """The normal distribution of the EM algorithm touches at f and lies below elsewhere."""
    likelihood, observed, _ = case("student")
    slope, curvature = likelihood.derivatives(observed, F)
    for step in (-2.0, -0.3, 0.3, 2.0):
        bound = likelihood.log_density(observed, F) + slope * step - curvature * step**2 / 2
        assert (likelihood.log_density(observed, F + step) >= bound - 1e-12).all()


@pytest.mark.parametrize("name", CASES)
def test_averages_are_integrals(name):
    likelihood, observed, _ = case(name)
    mean, deviation = np.array([0.4]), 0.7
    density = stats.norm(mean[0], deviation).pdf
    expected, _ = integrate.quad(
        lambda f: float(likelihood.mean(np.array([f]))[0]) * density(f), -6, 7
    )
    # The probit average of a logistic function is good to .02 (MacKay 1992).
    logistic = name in ("bernoulli", "binomial")
    found = likelihood.average(mean, np.array([deviation**2]))[0]
    assert found == pytest.approx(expected, abs=0.02 if logistic else 1e-6)
    one = Observed(observed.y[:1], observed.trials[:1])
    expected, _ = integrate.quad(
        lambda f: float(np.exp(likelihood.log_density(one, np.array([f]))[0])) * density(f), -6, 7
    )
    found = likelihood.log_predictive(one, mean, np.array([deviation**2]))[0]
    # Student's density has poles close to the real line, and converges slowly.
    assert found == pytest.approx(np.log(expected), abs=1e-3 if name == "student" else 1e-4)


@pytest.mark.parametrize("name", CASES)
def test_variances_are_those_of_scipy(name):
    likelihood, observed, known = case(name)
    np.testing.assert_allclose(observed.trials * likelihood.variance(F), known.var(), rtol=1e-10)
    certain = likelihood.deviation(F, np.zeros(40), observed.trials)
    np.testing.assert_allclose(certain, known.std(), rtol=1e-10)


def test_a_mixture_spreads_by_its_means_too():
    """A Poisson variable of a lognormal rate: variance m + m² (e^v - 1)."""
    mean, v = np.exp(0.5 + 0.3**2 / 2), 0.3**2
    found = Poisson().deviation(np.array([0.5]), np.array([v]), np.ones(1))[0]
    assert found**2 == pytest.approx(mean + mean**2 * np.expm1(v), rel=1e-8)


@pytest.mark.parametrize("name", CASES)
def test_quantiles_are_those_of_many_draws(name):
    """Within three standard errors of a share of 2,000 draws from the mixture."""
    likelihood = CASES[name][0]
    rng = np.random.default_rng(1)
    n, levels = 2000, np.array([0.1, 0.5, 0.9])
    f, chances = rng.normal(0.5, 0.6, n), rng.random(n)
    seven = np.array([7.0])
    draws = np.concatenate(
        [likelihood.percentile(u, f[[row]], seven) for row, u in enumerate(chances)]
    )
    found = likelihood.quantiles(np.array([0.5]), np.array([0.36]), levels, seven)[0]
    error = 3 * np.sqrt(levels * (1 - levels) / len(draws))
    at_most = (draws[:, None] <= found).mean(axis=0)
    below = (draws[:, None] < found).mean(axis=0)
    assert (at_most >= levels - error).all()
    assert (below <= levels + error).all()
    if likelihood.discrete:
        np.testing.assert_array_equal(found, np.round(found))


def test_quantiles_of_a_certain_latent_value_are_scipys():
    levels = np.array([0.05, 0.5, 0.95])
    found = Poisson().quantiles(np.log([3.0, 40.0]), np.zeros(2), levels, np.ones(2))
    np.testing.assert_array_equal(found, stats.poisson.ppf(levels, [[3.0], [40.0]]))
    found = Gamma(2.0).quantiles(np.log([3.0]), np.zeros(1), levels, np.ones(1))
    np.testing.assert_allclose(found, stats.gamma.ppf(levels, 2.0, scale=1.5)[None], rtol=1e-9)


@pytest.mark.parametrize(
    ("name", "bad"),
    [("poisson", -1.0), ("negative_binomial", 1.5), ("gamma", 0.0), ("bernoulli", 0.5)],
)
def test_a_response_outside_the_support_is_named_with_its_row(name, bad):
    y = np.array([1.0, 1.0, bad, 1.0])
    with pytest.raises(ValueError, match=rf"y\[102\] = {bad:g} is outside .*{name}"):
        as_likelihood(name).check(y, 100)
    as_likelihood(name).check(np.delete(y, 2))


def test_the_shape_of_amounts_is_that_of_largest_likelihood():
    y = np.random.default_rng(2).gamma(2.0, 3.0, 4000)
    loss = Gamma().half_deviance(Observed.of(y), np.full(4000, np.log(y.mean()))).mean()
    shape, _, _ = stats.gamma.fit(y, floc=0)
    assert Gamma().with_loss(loss).shape == pytest.approx(shape, rel=1e-4)


def test_softmax_of_two_classes_is_the_logistic_function():
    f = np.column_stack([np.zeros(40), F])
    labels = np.asarray(case("bernoulli")[1].y, int)
    slope, curvature = Multinomial().derivatives(labels, f)
    known = Bernoulli().derivatives(Observed.of(labels), F)
    np.testing.assert_allclose(slope[:, 1], known[0], atol=1e-15)
    np.testing.assert_allclose(curvature[:, 1], known[1], atol=1e-15)
    np.testing.assert_allclose(
        Multinomial().log_density(labels, f), Bernoulli().log_density(Observed.of(labels), F)
    )


def test_nodes_integrate_polynomials_and_probits_keep_the_order():
    t, weight = nodes()
    assert weight @ t**6 == pytest.approx(15, rel=1e-12)
    scaled = probit_scaled(np.array([-1.0, 0.0, 2.0]), np.array([3.0, 3.0, 3.0]))
    np.testing.assert_allclose(scaled, np.array([-1.0, 0.0, 2.0]) / np.sqrt(1 + 3 * np.pi / 8))


def test_an_unknown_name_is_answered_with_the_nearest():
    with pytest.raises(ValueError, match="Did you mean 'poisson'"):
        as_likelihood("poison")
