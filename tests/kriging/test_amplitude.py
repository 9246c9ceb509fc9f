"""A standard deviation that varies with place, against a dense Gaussian process."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose

import zonal
from zonal.kriging.amplitude import Amplitude, Box, Sphere, surface_of
from zonal.kriging.amplitude_search import _Evidence, with_amplitude
from zonal.kriging.joint import fit_joint
from zonal.kriging.locations import Repeated, locate
from zonal.kriging.low import LandmarkLow, SphereLow
from zonal.kriging.process import LocalProcess
from zonal.kriging.search import Found
from zonal.kriging.sequential import Sequence
from zonal.kriging.whitening import Whitening

KERNEL = zonal.Matern(1.5, 0.7)


def sphere(n, seed=0):
    rows = np.random.default_rng(seed).standard_normal((n, 3))
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def amplitude(rows, seed=1, degree=2):
    surface = surface_of(rows)
    surface = replace(surface, degree=degree)
    coef = 0.4 * np.random.default_rng(seed).standard_normal(len(surface.roughness))
    return Amplitude(surface, coef, 0.1)


def low_of(kind, rows):
    if kind == "none":
        return None
    if kind == "sphere":
        return SphereLow.of(KERNEL, 1.0, 3, 1.0, 9)
    return LandmarkLow.of(KERNEL, 1.0, rows[:20].copy(), 6)


def places(kind, n, seed=0):
    if kind == "landmarks":
        return np.random.default_rng(seed).uniform(0, 2, (n, 2))
    return sphere(n, seed)


def covariance(rows, others, amp, low):
    """Features that are the same everywhere, and s(x) s(y) times what they leave of the kernel."""
    carried = 0.0 if low is None else low.features(rows) @ low.features(others).T
    return carried + amp.at(rows)[:, None] * (KERNEL(rows, others) - carried) * amp.at(others)


def dense(rows, y, weight, noise, amp, low, queries):
    """Mean, variance over σ², σ² and log evidence by generalized least squares."""
    K = covariance(rows, rows, amp, low) + np.diag(noise / weight * amp.at(rows) ** 2)
    cross = covariance(queries, rows, amp, low)
    inverse, one = np.linalg.inv(K), np.ones(len(rows))
    mu = one @ inverse @ y / (one @ inverse @ one)
    left = y - mu
    scale = left @ inverse @ left / len(y)
    mean = mu + cross @ inverse @ left
    rest = 1 - cross @ inverse @ one
    variance = np.diag(covariance(queries, queries, amp, low)).copy()
    variance -= np.einsum("ij,jk,ik->i", cross, inverse, cross)
    variance += rest**2 / (one @ inverse @ one)
    n = len(y)
    log = -0.5 * (n * np.log(2 * np.pi * scale) + n + np.linalg.slogdet(K)[1])
    return mean, variance, scale, log


@pytest.mark.parametrize("kind", ["none", "sphere", "landmarks"])
def test_it_is_the_dense_process_with_all_rows_as_neighbours(kind):
    rng = np.random.default_rng(3)
    X, queries = places(kind, 60), places(kind, 15, 5)
    amp = amplitude(X)
    found = locate(X, rng.standard_normal((60, 1)), rng.uniform(0.5, 2, 60))
    low = low_of(kind, X)
    process = LocalProcess(found.rows, found.weight, KERNEL, 0.1, 60, low=low, amplitude=amp)
    joint = fit_joint(found, process)
    mean, std = joint.predict(queries, return_std=True)
    expected = dense(found.rows, found.targets[:, 0], found.weight, 0.1, amp, low, queries)
    assert_allclose(mean[:, 0], expected[0], atol=1e-8)
    assert_allclose(joint.found.scale, expected[2], rtol=1e-8)
    assert_allclose(std[:, 0] ** 2 / expected[2], expected[1], atol=1e-8)
    assert_allclose(joint.found.log_evidence, expected[3], rtol=1e-8)


@pytest.mark.parametrize("kind", ["none", "sphere", "landmarks"])
def test_draws_have_the_dense_covariance(kind):
    X, queries = places(kind, 40), places(kind, 8, 5)
    amp = amplitude(X)
    found = locate(X, np.random.default_rng(3).standard_normal((40, 1)))
    low = low_of(kind, X)
    process = LocalProcess(found.rows, found.weight, KERNEL, 0.1, 48, low=low, amplitude=amp)
    joint = fit_joint(found, process)
    common, own = Sequence.of(joint, queries).roots(process.features, np.eye(8))
    K = covariance(found.rows, found.rows, amp, low) + 0.1 * np.diag(amp.at(found.rows) ** 2)
    cross = covariance(queries, found.rows, amp, low)
    inverse, one = np.linalg.inv(K), np.ones(40)
    rest = 1 - cross @ inverse @ one
    expected = covariance(queries, queries, amp, low) - cross @ inverse @ cross.T
    expected += np.outer(rest, rest) / (one @ inverse @ one)
    assert_allclose(common @ common.T + own.T @ own, expected, atol=1e-8)


@pytest.mark.parametrize("kind", ["none", "sphere", "landmarks"])
def test_gradients_are_those_of_differences(kind):
    X, queries = places(kind, 60), places(kind, 5, 5)
    amp = amplitude(X)
    found = locate(X, np.random.default_rng(3).standard_normal((60, 2)))
    process = LocalProcess(
        found.rows, found.weight, KERNEL, 0.1, 60, low=low_of(kind, X), amplitude=amp
    )
    joint = fit_joint(found, process)
    slopes = process.gradient(queries, joint.residual)
    slopes = slopes + process.carried_gradient(queries, joint.found.coef)
    for direction in np.random.default_rng(7).standard_normal((3, X.shape[1])):
        step = 1e-5 * np.tile(direction, (len(queries), 1))
        if kind != "landmarks":  # along the sphere
            step -= (step * queries).sum(axis=1, keepdims=True) * queries
        moved = joint.predict(queries + step)[0] - joint.predict(queries - step)[0]
        along = np.einsum("qtd,qd->qt", slopes, step)
        assert_allclose(2 * along, moved, atol=1e-9)


def test_repeated_rows_have_the_noise_of_their_place():
    rng = np.random.default_rng(2)
    X = np.repeat(rng.uniform(0, 2, (20, 2)), 3, axis=0)
    y = rng.standard_normal(60)
    amp = amplitude(X)
    found = locate(X, y[:, None])
    process = LocalProcess(found.rows, found.weight, KERNEL, 0.3, 20, amplitude=amp)
    K = amp.at(X)[:, None] * (KERNEL(X) + 0.3 * np.eye(60)) * amp.at(X)
    inverse, one = np.linalg.inv(K), np.ones(60)
    left = y - one @ inverse @ y / (one @ inverse @ one)
    scale = left @ inverse @ left / 60
    log = -0.5 * (60 * np.log(2 * np.pi * scale) + 60 + np.linalg.slogdet(K)[1])
    assert_allclose(fit_joint(found, process).found.log_evidence, log, rtol=1e-8)


@pytest.mark.parametrize("kind", ["none", "sphere"])
def test_the_evidence_of_the_search_is_that_of_the_fit(kind):
    """Differences over c, of what mean and features leave, and their gradient."""
    rng = np.random.default_rng(2)
    X = np.repeat(places(kind, 50), 2, axis=0)
    found = locate(X, rng.standard_normal((100, 2)))
    process = LocalProcess(found.rows, found.weight, KERNEL, 0.3, 8, low=low_of(kind, X))
    surface = Sphere(0, 3, 2)
    evidence = _Evidence.of(found, process, 1.0, surface.at(found.rows))
    coef = 0.3 * rng.standard_normal(8)
    value, slope = evidence.at(coef)
    level = float(-evidence.center @ coef)
    own = Amplitude(surface, coef, level).at(found.rows)
    # What is left by generalized least squares, in the dense form of the sparse covariance.
    given = evidence.whitening
    root = np.eye(50)
    for i, (near, weights) in enumerate(zip(given.neighbors, given.weights, strict=True)):
        root[i, near[near >= 0]] -= weights[near >= 0]
    root /= np.sqrt(given.variance)[:, None]
    inverse = root.T @ root / own[:, None] / own
    squares = np.einsum("it,ij,jt->t", evidence.targets, inverse, evidence.targets)
    squares += (found.repeated.within / (0.3 * own[:, None] ** 2)).sum(axis=0)
    assert_allclose(value, -0.5 * 100 * np.log(squares / 100).sum(), rtol=1e-10)
    columns = np.column_stack([np.ones(50), process.features(found.rows)])
    shrink = np.diag(np.append(0.0, np.ones(columns.shape[1] - 1)))
    normal = columns.T @ root.T @ root @ columns + shrink
    beta = np.linalg.solve(normal, columns.T @ root.T @ root @ found.targets)
    assert_allclose(evidence.targets, found.targets - columns @ beta, atol=1e-9)
    stays = Amplitude(surface, coef, evidence.level(coef)).at(found.rows)[:, None]
    both = [
        np.square(root @ (evidence.targets / s)).sum(axis=0)
        + (found.repeated.within / (0.3 * s**2)).sum(axis=0)
        for s in (stays, np.ones_like(stays))
    ]
    assert_allclose(np.log(both[0]).mean(), np.log(both[1]).mean(), rtol=1e-10)
    steps = 1e-5 * np.eye(8)
    differences = [evidence.at(coef + h)[0] - evidence.at(coef - h)[0] for h in steps]
    assert_allclose(slope, np.array(differences) / 2e-5, rtol=1e-6, atol=1e-6)


def simulated(n, rough, seed=0):
    """A field of a known s on the plane."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(0, 1, (n, 2))
    kernel = zonal.Matern(1.5, 0.1)
    root = np.linalg.cholesky(kernel(X) + 1e-2 * np.eye(n))
    s = np.exp(rough * np.cos(np.pi * X[:, 0]))
    return X, s, s * (root @ rng.standard_normal(n))


def test_it_is_found_where_it_is_and_not_where_it_is_not():
    X, s, y = simulated(1000, 1.0)
    parameters = Found(zonal.Matern(1.5, 0.1), 1e-2, 1.0, 0.0)
    found = with_amplitude(locate(X, y[:, None]), parameters, 24)
    ratio = np.log(found.amplitude.at(X) / s)
    assert ratio.std() < 0.15  # s itself: .71; 1,000 rows know a few coefficients to 1/√2000 each
    X, _, y = simulated(1000, 0.0)
    assert with_amplitude(locate(X, y[:, None]), parameters, 24) is parameters


def test_columns_that_are_no_place_have_none():
    rows = np.random.default_rng(0).uniform(0, 1, (50, 4))
    assert surface_of(rows) is None
    assert surface_of(rows[:, :1]) is None
    assert surface_of(rows[:, :3]) is None
    assert isinstance(surface_of(rows[:, :2]), Box)
    in_time = surface_of(rows[:, :3], in_time=True)
    later = rows[:, :3] + [0, 0, 5.0]
    assert_allclose(in_time.at(rows[:, :3]), in_time.at(later))
    assert surface_of(np.column_stack([sphere(50), rows[:, 0]]), True) == Sphere(0, 3, 10)


def test_a_box_ends_where_rows_end():
    box = Box(np.zeros(2), np.ones(2), 3)
    beyond = np.array([[1.5, 0.3], [0.2, -7.0]])
    assert_allclose(box.at(beyond), box.at(np.clip(beyond, 0, 1)))
    assert len(box.roughness) == 9
    slopes = box.gradient(beyond, np.ones(9))
    assert slopes[0, 0] == 0
    assert slopes[1, 1] == 0


def independent(law, n=20_000):
    """The evidence of independent rows of one deviation, drawn from a law."""
    rows = sphere(n)
    white = Whitening(
        np.arange(n, dtype=np.int32), np.full((n, 1), -1, np.int32), np.zeros((n, 1)), np.ones(n)
    )
    functions = Sphere(0, 3, 2).at(rows)
    targets = law(np.random.default_rng(13), n)[:, None]
    center = functions.mean(axis=0)
    return _Evidence(white, targets, functions - center, center, Repeated.nothing(n, 1))


def test_heavy_tails_tell_less():
    """(κ - 1)/2 with κ the kurtosis: 3 of a normal law, 6 of Laplace's."""
    nothing = np.zeros(8)
    normal = independent(lambda rng, n: rng.standard_normal(n))
    heavy = independent(lambda rng, n: rng.laplace(size=n))
    assert_allclose(normal.dispersion_at(nothing), 1.0, atol=0.1)
    assert_allclose(heavy.dispersion_at(nothing), 2.5, atol=0.3)
    coef = 0.1 * np.random.default_rng(14).standard_normal(8)
    fewer = replace(heavy, dispersion=2.0)
    for less, more in zip(fewer.at(coef), heavy.at(coef), strict=True):
        assert_allclose(less, more / 2)
    assert_allclose(fewer.information(), heavy.information() / 2)
