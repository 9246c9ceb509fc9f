"""One kernel split by degree, against dense Gaussian processes."""

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import eval_legendre

import zonal
from zonal.kernels.compiled import of_kernel
from zonal.kriging.covariance import Covariance, covariance_of
from zonal.kriging.evidence import evaluate, gradient
from zonal.kriging.joint import fit_joint
from zonal.kriging.ladder import is_short, split_parameters
from zonal.kriging.locations import locate
from zonal.kriging.low import LandmarkLow, SphereLow, low_degrees
from zonal.kriging.pairs import compiled_pairs
from zonal.kriging.process import LocalProcess
from zonal.kriging.sample import Parameters, Sample
from zonal.kriging.search import Found

RNG = np.random.default_rng(0)
N = 140
SPHERE = RNG.standard_normal((N, 3))
SPHERE /= np.linalg.norm(SPHERE, axis=1, keepdims=True)
TURNED = np.linalg.qr(RNG.standard_normal((3, 3)))[0]
PLANE = RNG.uniform(-1, 1, (N, 2))
Y = np.column_stack([np.sin(3 * PLANE[:, 0]) + SPHERE[:, 2], SPHERE[:, 0] * PLANE[:, 1]])
Y += 0.1 * RNG.standard_normal(Y.shape)
WEIGHT = RNG.uniform(0.5, 2, N)
NOISE = 0.05
# Rows, the short kernel (or none), the long one and its weight.
CASES = {
    "sphere, two terms": (SPHERE, zonal.Matern(1.5, 0.3), zonal.Matern(2.5, 1.0), 5.0),
    "sphere, one term": (SPHERE, None, zonal.Matern(1.5, [0.8] * 3), 1.0),
    "sphere, no compiled form": (SPHERE, None, zonal.Zonal(lambda t: np.exp(2 * t - 2)), 1.0),
    "plane, one term": (PLANE, None, zonal.Matern(0.5, 0.7), 1.0),
    "plane, two terms": (PLANE, zonal.Matern(0.5, [0.2, 0.3]), zonal.Matern(2.5, [1.0, 0.3]), 3.0),
    "plane, Gaussian": (PLANE, zonal.Matern(1.5, 0.2), zonal.Gaussian(1.0), 2.0),
}


def split(name, n_features=25):
    """Rows, the whole kernel and its low degrees."""
    rows, short, long, weight = CASES[name]
    whole = long if short is None else short + weight * long
    return rows, whole, low_degrees(long, weight, rows, n_features)


def model(name, n_neighbors, fit_neighbors=None):
    rows, whole, low = split(name)
    locations = locate(rows, Y, WEIGHT)
    process = LocalProcess(locations.rows, locations.weight, whole, NOISE, n_neighbors, low=low)
    return locations, process, fit_joint(locations, process, n_neighbors=fit_neighbors)


def dense(kernel, rows, queries, covariance=None):
    """Mean, variance over σ² and log evidence with μ and σ² profiled out, from n × n matrices."""
    K = (kernel(rows) if covariance is None else covariance) + np.diag(NOISE / WEIGHT)
    inverse, ones = np.linalg.inv(K), np.ones(len(rows))
    precision = ones @ inverse @ ones
    mean = ones @ inverse @ Y / precision
    scale = np.einsum("it,ij,jt->t", Y - mean, inverse, Y - mean) / len(rows)
    log_determinant = np.linalg.slogdet(K)[1]
    evidence = -0.5 * (len(rows) * (np.log(2 * np.pi * scale) + 1) + log_determinant).sum()
    across = kernel(queries, rows) @ inverse
    prediction = mean + across @ (Y - mean)
    variance = kernel.diag(queries) - (across * kernel(queries, rows)).sum(axis=1)
    variance += (1 - across.sum(axis=1)) ** 2 / precision
    return prediction, variance, evidence, scale


@pytest.mark.parametrize("name", CASES)
def test_all_neighbours_are_the_dense_process(name):
    rows, whole, _ = split(name)
    queries = rows[:30] @ TURNED if rows.shape[1] == 3 else rows[:30] + 0.05
    prediction, variance, evidence, scale = dense(whole, rows, queries)
    _, _, fitted = model(name, N)
    mean, std = fitted.predict(queries, return_std=True)
    np.testing.assert_allclose(mean, prediction, atol=1e-8)
    np.testing.assert_allclose(fitted.found.scale, scale, rtol=1e-8)
    np.testing.assert_allclose(std**2, variance[:, None] * scale, atol=1e-8)
    np.testing.assert_allclose(fitted.found.log_evidence, evidence, rtol=1e-8)


@pytest.mark.parametrize("name", CASES)
def test_few_neighbours_are_exact_for_the_covariance_of_the_order(name):
    """Z Zᵀ and Vecchia's covariance of the rest, which brute force finds row by row."""
    rows, whole, low = split(name)
    locations, process, fitted = model(name, 7)
    order = [int(np.flatnonzero((rows == row).all(axis=1))[0]) for row in locations.rows]
    rest = whole(locations.rows) - low.matrix(locations.rows, locations.rows)
    rest += np.diag(NOISE / locations.weight)
    near = process.earlier()
    B, v = np.zeros((N, N)), np.diag(rest).copy()
    for i in range(N):
        j = near[i][near[i] >= 0]
        B[i, j] = np.linalg.solve(rest[np.ix_(j, j)], rest[j, i])
        v[i] -= rest[i, j] @ B[i, j]
    factor = np.linalg.inv(np.eye(N) - B)
    covariance = np.zeros((N, N))
    Z = low.features(locations.rows)
    covariance[np.ix_(order, order)] = factor @ np.diag(v) @ factor.T + Z @ Z.T
    covariance -= np.diag(NOISE / WEIGHT)
    _, _, evidence, scale = dense(whole, rows, rows[:2], covariance)
    np.testing.assert_allclose(fitted.found.log_evidence, evidence, rtol=1e-8)
    np.testing.assert_allclose(fitted.found.scale, scale, rtol=1e-8)


@pytest.mark.parametrize("nu", [0.5, 1.5, 2.5])
def test_harmonics_have_mercers_variances(nu):
    kernel = zonal.Matern(nu, 0.7)
    low = low_degrees(kernel, 3.0, SPHERE, 50)
    assert isinstance(low, SphereLow)
    assert low.n_columns == 49

    def kappa(t):
        return float(kernel([[1.0, 0.0]], [[t, np.sqrt(max(1 - t * t, 0.0))]])[0, 0])

    expected = [
        3
        * (2 * degree + 1)
        / 2
        * quad(lambda t, d=degree: kappa(t) * eval_legendre(d, t), -1, 1)[0]
        for degree in range(7)
    ]
    np.testing.assert_allclose(low.coefficients, expected, rtol=2e-6)
    Z, cosines = low.features(SPHERE), SPHERE @ SPHERE.T
    products = sum(c * eval_legendre(d, cosines) for d, c in enumerate(low.coefficients))
    np.testing.assert_allclose(Z @ Z.T, products, atol=1e-12)
    np.testing.assert_allclose(low.matrix(SPHERE, SPHERE), products, atol=1e-12)


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("n_features", [1, 25, 100])
def test_what_features_leave_is_positive_definite(name, n_features):
    rows, whole, low = split(name, n_features)
    assert low.n_columns <= n_features
    rest = whole(rows) - low.matrix(rows, rows)
    values = np.linalg.eigvalsh(rest)
    assert values[0] > -1e-9 * whole(rows).max()
    assert np.trace(rest) < np.trace(whole(rows))


def test_part_of_a_sphere_has_landmarks():
    """Harmonics of the whole sphere would be spent on where there are no rows."""
    cap = SPHERE * [0.2, 0.2, 1.0]
    cap = cap / np.linalg.norm(cap, axis=1, keepdims=True) * np.sign(cap[:, 2:])
    assert isinstance(low_degrees(zonal.Matern(1.5, 0.5), 1.0, cap, 20), LandmarkLow)
    assert isinstance(low_degrees(zonal.Matern(1.5, 0.5), 1.0, SPHERE, 20), SphereLow)
    scales = zonal.Matern(1.5, [0.5, 0.5, 0.6])
    assert isinstance(low_degrees(scales, 1.0, SPHERE, 20), LandmarkLow)


@pytest.mark.parametrize("name", [name for name in CASES if "compiled" not in name])
def test_slope_of_predictions(name):
    rows, _, low = split(name)
    _, process, fitted = model(name, 12)
    queries = rows[:5] + 0.02
    if isinstance(low, SphereLow):  # along the sphere: harmonics do not see the norm
        queries /= np.linalg.norm(queries, axis=1, keepdims=True)
    own = process.gradient(queries, fitted.residual)
    own = own + low.contract_gradient(queries, fitted.found.coef)
    near, step = process.near(queries), 1e-5
    for column in range(rows.shape[1]):
        shift = np.zeros(rows.shape[1])
        shift[column] = step
        if isinstance(low, SphereLow):
            tangent = shift - queries * (queries @ shift)[:, None]
            ahead, behind = (queries + sign * tangent for sign in (1, -1))
            ahead, behind = (q / np.linalg.norm(q, axis=1, keepdims=True) for q in (ahead, behind))
            slope = np.einsum("qtd,qd->qt", own, tangent / step)
        else:
            ahead, behind = queries + shift, queries - shift
            slope = own[:, :, column]
        difference = (
            fitted.predict(ahead, neighbors=near)[0] - fitted.predict(behind, neighbors=near)[0]
        )
        np.testing.assert_allclose(slope, difference / (2 * step), atol=2e-5, rtol=1e-5)


@pytest.mark.parametrize("share", [0.0, 1.0])
@pytest.mark.parametrize("name", ["sphere, two terms", "plane, two terms"])
def test_gradient_of_the_evidence(name, share):
    """With respect to length scales of the short kernel, noise and the weight of the long one."""
    rows, short, long, _ = CASES[name]
    correlation = of_kernel(short)
    scales = np.broadcast_to(np.asarray(correlation.length_scale, float), rows.shape[1:])
    groups = np.zeros(len(scales), int) if rows is SPHERE else np.arange(len(scales))
    low = low_degrees(long, 1.0, rows, 16)
    Z = low.features(rows)
    locations = locate(rows, Y, WEIGHT)
    sample = Sample.of(locations, np.zeros(len(scales)), scales, groups)
    places = np.array([np.flatnonzero((rows == row).all(axis=1))[0] for row in locations.rows])
    sample = Sample(
        **{
            name: getattr(sample, name)
            for name in ("points", "groups", "targets", "weight", "repeated", "judged")
        },
        features=Z[places],
    )
    start = Parameters(np.zeros(groups.max() + 1), np.log(NOISE), np.log(2.0))
    neighbors = sample.neighbors(start, 9)
    covariance = covariance_of(long)
    if isinstance(low, SphereLow):
        covariance = Covariance(covariance.terms, covariance.length_scale, low.series, 0.5)
    z = Z[places] if isinstance(low, LandmarkLow) else np.empty((0, 0))
    points = np.ascontiguousarray(rows[places] / covariance.length_scale)
    extra = compiled_pairs(covariance, points, sample.judged, neighbors, z)._replace(share=share)

    def value(vector):
        found = evaluate(sample, correlation, Parameters.of_vector(vector), neighbors, extra)
        return found.found.log_evidence

    at = evaluate(sample, correlation, start, neighbors, extra)
    slope = gradient(sample, correlation, start, at, extra)
    step = 1e-5 * np.eye(len(slope))
    differences = [(value(start.vector() + h) - value(start.vector() - h)) / 2e-5 for h in step]
    np.testing.assert_allclose(slope, differences, rtol=1e-5, atol=1e-5)


def test_far_away_is_the_prior():
    _, process, fitted = model("plane, two terms", 10)
    far = np.array([[500.0, 0.0], [0.0, -500.0]])
    mean, std = fitted.predict(far, return_std=True)
    np.testing.assert_allclose(mean, np.tile(fitted.found.mean, (2, 1)), atol=1e-12)
    prior = process.kernel.diag(far)[0] + fitted.found.variance(np.zeros((1, 25)), np.ones(1))[0]
    np.testing.assert_allclose(std**2, np.tile(prior * fitted.found.scale, (2, 1)), rtol=1e-10)


def log_evidence(kernel, noise, rows, values):
    """Of a dense process, with μ and σ² profiled out."""
    K, ones = kernel(rows) + noise * np.eye(len(rows)), np.ones(len(rows))
    inverse = np.linalg.inv(K)
    left = values - ones @ inverse @ values / (ones @ inverse @ ones)
    scale = left @ inverse @ left / len(rows)
    return -0.5 * (len(rows) * (np.log(2 * np.pi * scale) + 1) + np.linalg.slogdet(K)[1])


@pytest.mark.parametrize("seed", range(50))
def test_the_evidence_never_falls(seed):
    """With all rows as neighbours it is the dense one, whatever the field and the start."""
    rng = np.random.default_rng(seed)
    n = 70
    rows = rng.standard_normal((n, 3)) if seed % 2 else rng.uniform(0, 1, (n, 2))
    if seed % 2:
        rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    truth = zonal.Matern([0.5, 1.5, 2.5][seed % 3], rng.choice([0.1, 0.3, 1.0]))
    truth = truth + float(rng.choice([0.01, 1.0])) * zonal.Matern(1.5, 2.0)
    values = np.linalg.cholesky(truth(rows) + 0.01 * np.eye(n)) @ rng.standard_normal(n)
    scales = np.full(rows.shape[1], rng.choice([0.1, 0.3, 1.0]))
    start = Found(zonal.Matern([0.5, 1.5, 2.5][(seed + 1) % 3], scales), 0.02, 1.0, np.nan)
    locations = locate(rows, values[:, None])
    found = split_parameters(locations, start, 16, n_neighbors=n)
    before, after = (log_evidence(one.kernel, one.noise, rows, values) for one in (start, found))
    assert after >= before - 1e-6
    assert split_parameters(locations, start, 0) is start


def test_long_kernels_are_split_and_short_ones_get_a_longer_one():
    grid = np.stack(np.meshgrid(np.arange(40.0), np.arange(40.0)), -1).reshape(-1, 2)
    rng = np.random.default_rng(0)
    for kernel, is_long in (
        (zonal.Matern(1.5, [20.0, 20.0]), True),
        (zonal.Matern(0.5, [1.5, 1.5]), False),
    ):
        long = 3.0 * zonal.Matern(2.5, 25.0)
        truth = kernel if is_long else kernel + long
        factor = np.linalg.cholesky(truth(grid) + 1e-3 * np.eye(len(grid)))
        values = factor @ rng.standard_normal((len(grid), 1))
        found = split_parameters(locate(grid, values), Found(kernel, 1e-3, 1.0, np.nan), 64)
        assert found.low is not None
        assert isinstance(found.kernel, zonal.Matern) == is_long
        if not is_long:  # what the nearest rows know stays
            assert found.kernel.k1.length_scale.tolist() == [1.5, 1.5]
            assert found.noise == pytest.approx(1e-3)
            assert found.kernel.k2.kernel.length_scale.min() > 3 * 1.5


def test_two_kernels_part_wherever_the_neighbourhood_lies():
    """A kernel that mixes places and times is short, and yet all its parameters have to move.

    The evidence comes nearer to that of the true kernel than to that of the mixture.
    """
    axes = np.arange(14.0), np.arange(14.0), np.arange(12.0)
    grid = np.stack(np.meshgrid(*axes), -1).reshape(-1, 3)
    truth = zonal.Matern(1.5, [2.0, 2.0, 6.0]) + zonal.Matern(1.5, [8.0, 8.0, 1.0])
    factor = np.linalg.cholesky(truth(grid) + 1e-3 * np.eye(len(grid)))
    values = factor @ np.random.default_rng(0).standard_normal(len(grid))
    locations = locate(grid, values[:, None])
    start = Found(zonal.Matern(2.5, [2.2, 2.2, 1.7]), 1e-6, 1.0, np.nan)
    assert is_short(locations, 32, start)
    found = split_parameters(locations, start, 64)
    mixed, parted, true = (
        log_evidence(kernel, noise, grid, values)
        for kernel, noise in (
            (start.kernel, start.noise),
            (found.kernel, found.noise),
            (truth, 1e-3),
        )
    )
    assert parted > (mixed + true) / 2


def test_a_long_kernel_is_as_long_as_rows_far_apart_say():
    """Near rows know its steepness; from 8 times its length, the likelihood of all rows leads back.

    The search stops within two units of the best dense likelihood along the line of kernels that
    are equally steep: what a confidence interval of 95 % of one parameter allows (1.92).
    """
    grid = np.stack(np.meshgrid(np.arange(30.0), np.arange(30.0)), -1).reshape(-1, 2)
    rng = np.random.default_rng(1)
    truth = zonal.Matern(0.5, 8.0)
    values = np.linalg.cholesky(truth(grid) + 0.01 * np.eye(900)) @ rng.standard_normal(900)

    def value(factor):
        kernel = zonal.Matern(0.5, [8.0 * factor, 8.0 * factor])
        return log_evidence(kernel, 0.01 / factor, grid, values)

    best = max(value(factor) for factor in np.geomspace(0.25, 4, 9))
    assert best - value(8.0) > 2  # it can be told
    start = Found(zonal.Matern(0.5, [64.0, 64.0]), 0.01 / 8, 1.0, np.nan)
    found = split_parameters(locate(grid, values[:, None]), start, 64)
    assert log_evidence(found.kernel, found.noise, grid, values) > best - 1.92


@pytest.mark.parametrize("name", CASES)
def test_a_given_kernel_is_split_as_it_is(name):
    """Whatever it is: its kernel and noise stay, and the low degrees are of its longest term."""
    rows, whole, low = split(name)
    model = zonal.NeighborKriging(whole, N, noise=NOISE, n_features=25).fit(
        rows, Y, sample_weight=WEIGHT
    )
    process = model._solution_.part.joint.process
    assert process.low is not None
    np.testing.assert_allclose(process.low.matrix(rows, rows), low.matrix(rows, rows), atol=1e-9)
    queries = rows[:30] @ TURNED if rows.shape[1] == 3 else rows[:30] + 0.05
    mean = model.predict(queries)
    noise = NOISE * np.mean(WEIGHT)  # weights of a learner have the mean one
    inverse = np.linalg.inv(whole(rows) + noise * np.diag(1 / WEIGHT))
    precision = inverse.sum()
    center = inverse.sum(axis=0) @ Y / precision
    across = whole(queries, rows) @ inverse
    np.testing.assert_allclose(mean, center + across @ (Y - center), atol=1e-7)


def test_a_long_kernel_has_no_more_than_ten_times_the_variance_of_the_targets():
    """Beyond it the field runs away where there are no rows; the weight of k_long is cut there."""
    import math

    from zonal.kriging.judge import MOST_VARIANCE, Judge, Short, Step, evaluate
    from zonal.kriging.locations import locate
    from zonal.kriging.low import low_degrees
    from zonal.kriging.sample import Parameters
    from zonal.polynomials import uniform_sphere

    rng = np.random.default_rng(0)
    X = uniform_sphere(400, 3, rng)
    places = locate(X, (X[:, :1] + 0.3 * rng.standard_normal((400, 1))))
    short, long = Short.of(zonal.Matern(1.5, [0.1] * 3), X), zonal.Matern(2.5, [1.3] * 3)
    judge = Judge(places, np.arange(400, dtype=np.int32), 400, short, 16)
    low = low_degrees(long, 1.0, X, 64)
    for ratio, is_cut in ((1e6, True), (0.1, False)):
        step = Step(long, low, 1.0, Parameters(np.zeros(1), math.log(0.1), math.log(ratio)))
        sample, extra = judge._with(step)
        at = evaluate(sample, short.correlation, step.parameters, judge.neighbors, extra)
        variance = ratio * float(at.found.scale.mean())
        bounded = math.exp(judge.bounded(step).parameters.log_ratio)
        assert (variance > MOST_VARIANCE) == is_cut
        assert bounded == pytest.approx(ratio * min(1.0, MOST_VARIANCE / variance))
