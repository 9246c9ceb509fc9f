"""Evidence over kernels of space and time, against brute force."""

import numpy as np
import pytest
from scipy.stats import multivariate_normal

import zonal
from zonal.kriging.compiled_differences import cross_values, fast_differences
from zonal.kriging.covariance import terms_of
from zonal.kriging.effort import SPACE_TIME
from zonal.kriging.kernel_evidence import Judged, Model
from zonal.kriging.locations import locate
from zonal.kriging.search import Found
from zonal.kriging.space_time import _metrics, _one_side, find_space_time
from zonal.kriging.space_time_split import lasting, more_evident, split_space_time
from zonal.kriging.space_time_terms import Space, change, season, stay, travelling
from zonal.kriging.unexplained import log_evidence

START = zonal.Matern(1.5, [1.0, 1.2, 2.0])


def fewer_rows(monkeypatch, *effort) -> None:
    """Compare terms by fewer rows; velocities climb as they do."""
    monkeypatch.setattr("zonal.kriging.space_time.SPACE_TIME", (*effort, *SPACE_TIME[2:]))


def sample(n_rows=300, seed=0):
    rng = np.random.default_rng(seed)
    X = np.column_stack([rng.uniform(0, 3, (n_rows, 2)), rng.uniform(0, 5, n_rows)])
    y = np.sin(2 * X[:, :1]) * np.cos(X[:, 1:2] + X[:, 2:]) + 0.1 * rng.standard_normal((n_rows, 1))
    return locate(X, y)


@pytest.fixture(scope="module")
def judged() -> Judged:
    locations = sample()
    return Judged(locations, 60, 10, _metrics(locations.rows, START, None))


def models() -> list[Model]:
    space = Space.of(np.array([[0.0, 0.0], [3.0, 3.0]]), np.array([1.0, 1.2]))
    line, circle = (change(space, 2.0, 1.5, 5.0, period) for period in (None, 6.0))
    both = Model((line, stay(space, 0.5), season(space.along(1), 2.0)), np.log(0.02))
    moving = Model((travelling(line, space), stay(space, 0.5)), np.log(0.02))
    moving = moving.at(moving.vector() + np.isin(np.arange(10), [6, 7]) * [0.7])
    return [both, Model((circle, stay(space, 4.0)), np.log(0.1)), moving]


@pytest.mark.parametrize("model", models(), ids=["line", "circle", "travelling"])
def test_gradient_is_a_finite_difference(judged, model) -> None:
    vector = model.vector()
    vector[2] += 0.01  # away from the ends of what is allowed
    if len(model.terms) == 2:
        vector[3] = 0.3
    _, slope = judged.evidence(model.at(vector))
    for place in range(len(vector)):
        step = np.zeros(len(vector))
        step[place] = 1e-5
        sides = [judged.evidence(model.at(vector + s * step))[0] for s in (1, -1)]
        assert slope[place] == pytest.approx((sides[0] - sides[1]) / 2e-5, rel=1e-4, abs=1e-4)


def test_evidence_is_the_sum_of_conditional_densities(judged) -> None:
    model = models()[0]
    value, _ = judged.evidence(model)
    kernel, noise, y = model.kernel, np.exp(model.log_noise), judged.columns[:, 1]
    means, variances = [], []
    for number, near in zip(judged.numbers, judged.neighbors, strict=True):
        rows = judged.rows[np.append(near, number)]
        matrix = kernel(rows) + noise * np.eye(len(rows))
        b = np.linalg.solve(matrix[:-1, :-1], matrix[:-1, -1])
        variances.append(matrix[-1, -1] - b @ matrix[:-1, -1])
        means.append((y[number] - b @ y[near], 1 - b.sum()))
    variance, (left, ones) = np.array(variances), np.transpose(means)
    mu = (left * ones / variance).sum() / (ones**2 / variance).sum()
    scale = ((left - mu * ones) ** 2 / variance).mean()
    expected = multivariate_normal.logpdf(left, mu * ones, np.diag(scale * variance))
    assert value == pytest.approx(expected, rel=1e-9)


def test_what_comes_back_is_found(monkeypatch) -> None:
    fewer_rows(monkeypatch, (150, 12, 25), (300, 12, 10))
    rng = np.random.default_rng(1)
    places, months = rng.uniform(0, 10, (12, 2)), np.arange(36.0)
    X = np.column_stack([np.repeat(places, 36, axis=0), np.tile(months, 12)])
    season = zonal.SpaceTime(zonal.Matern(1.5, 8.0), zonal.Periodic(12.0, 1.0))
    stays = zonal.SpaceTime(zonal.Matern(1.5, 1.0), None)
    weather = zonal.SpaceTime(zonal.Matern(0.5, 3.0), zonal.Cauchy(1.0, 1.0))
    truth = 3.0 * season + stays + 0.2 * weather
    matrix = truth(X) + 0.01 * np.eye(len(X))
    y = np.linalg.cholesky(matrix) @ rng.standard_normal((len(X), 1))
    held = X[:, 2] >= 27
    start = Found(zonal.Matern(0.5, [3.0, 3.0, 3.0]), 0.02, 1.0, np.nan)
    climb, last = Judged.climb, {}

    def noted(self, model, *effort):
        best, value = climb(self, model, *effort)
        if len(effort) == 1:  # not those of a velocity alone
            last.setdefault(len(self), {})[best.terms[0].kernel.space.nu] = value
        return best, value

    monkeypatch.setattr(Judged, "climb", noted)
    found = find_space_time(locate(X[~held], y[~held]), start, (12.0,))
    assert "Periodic" in repr(found.kernel)
    # All smoothnesses climb on more rows, and the highest is taken.
    assert len(last) == 2
    more = last[max(last)]
    assert sorted(more) == [0.5, 1.5, 2.5]
    assert found.log_evidence >= max(more.values())
    known, asked = X[~held], X[held]

    def error(kernel, noise) -> float:
        gram = kernel(known) + noise * np.eye(len(known))
        mean = kernel(asked, known) @ np.linalg.solve(gram, y[~held])
        return float(np.sqrt(np.mean((mean - y[held]) ** 2)))

    best = error(truth, 0.01)
    assert error(found.kernel, found.noise) < 1.1 * best
    assert error(start.kernel, start.noise) > 1.1 * best


def test_nothing_is_found_where_there_is_nothing() -> None:
    start = Found(START, 0.1, 1.0, np.nan)
    one_time = sample()
    one_time.rows[:, 2] = 0.0
    assert find_space_time(one_time, start, ()) is start
    constant = sample()
    constant.targets[:] = 0.0
    assert find_space_time(constant, start, ()) is start


@pytest.mark.parametrize("time", ["month", 0.0, (12.0, -1.0), np.inf, [[1.0]]])
def test_bad_periods_are_named(time) -> None:
    with pytest.raises(ValueError, match="periods of the last column"):
        zonal.NeighborKriging(time=time).fit(np.eye(4), np.arange(4.0))


def test_the_split_never_lowers_the_evidence() -> None:
    rng = np.random.default_rng(2)
    X = np.column_stack([rng.uniform(0, 3, (240, 2)), rng.integers(1, 13, 240)])
    kernel = zonal.SpaceTime(zonal.Matern(1.5, 1.5), zonal.Periodic(12.0, 1.0)) + zonal.SpaceTime(
        zonal.Matern(0.5, 0.3), None
    )
    matrix = kernel(X) + 0.01 * np.eye(240)
    locations = locate(X, np.linalg.cholesky(matrix) @ rng.standard_normal((240, 1)))
    found = Found(kernel, 0.01, 1.0, np.nan)
    split = split_space_time(locations, found, 40, 8)
    before, after = (
        log_evidence(locations, one, 8, np.arange(240, dtype=np.int32)) for one in (found, split)
    )
    assert split.low is not None
    assert after > before
    assert split.kernel is kernel


def test_months_by_default(monkeypatch) -> None:
    fewer_rows(monkeypatch, (100, 10, 25), (150, 10, 10))
    rng = np.random.default_rng(3)
    places = rng.uniform(0, 3, (15, 2))
    X = np.column_stack([np.repeat(places, 12, axis=0), np.tile(np.arange(1.0, 13.0), 15)])
    y = X[:, 0] * np.cos(2 * np.pi * X[:, 2] / 12) + np.sin(3 * X[:, 1])
    model = zonal.NeighborKriging(time=12, n_features=20).fit(X, y)
    assert "Periodic" in repr(model.kernel_)
    december, year_before = X[:5].copy(), X[:5].copy()
    december[:, 2], year_before[:, 2] = 12.5, 0.5
    np.testing.assert_allclose(model.predict(december), model.predict(year_before), atol=1e-8)


@pytest.mark.parametrize("interaction", [0.0, 0.6])
def test_what_lasts_is_the_kernel_at_the_longest_lag(interaction) -> None:
    term = zonal.SpaceTime(zonal.Matern(1.5, [0.5, 0.7]), zonal.Cauchy(2.0, 0.8), interaction)
    kernel, weight = lasting(term, 9.0)
    places = np.random.default_rng(4).uniform(0, 1, (6, 2))
    now, later = (np.column_stack([places, np.full(6, time)]) for time in (0.0, 9.0))
    np.testing.assert_allclose(weight * kernel(now), term(now, later), rtol=1e-12)
    np.testing.assert_allclose(kernel(now, later), kernel(now), rtol=1e-12)


def test_what_lasts_and_what_does_not_are_both_covariances() -> None:
    """Pólya: a convex kernel of time less its value at the longest lag."""
    term = zonal.SpaceTime(zonal.Matern(1.5, 0.5), zonal.Cauchy(2.0, 1.0, 0.4))
    rng = np.random.default_rng(5)
    X = np.column_stack([rng.uniform(0, 1, (80, 1)), rng.uniform(0, 9, 80)])
    kernel, weight = lasting(term, 9.0)
    rest = term(X) - weight * kernel(X)
    assert np.linalg.eigvalsh(rest).min() > -1e-10
    assert 0.3 < weight < 0.7


def test_zones_are_found_on_a_sphere(monkeypatch) -> None:
    fewer_rows(monkeypatch, (200, 12, 25), (300, 12, 10))
    rng = np.random.default_rng(6)
    place = rng.standard_normal((40, 3))
    place /= np.linalg.norm(place, axis=1)[:, None]
    X = np.column_stack([np.repeat(place, 12, axis=0), np.tile(np.arange(12.0), 40)])
    y = np.sin(4 * X[:, 2:3]) * (1 + np.cos(2 * np.pi * X[:, 3:] / 12))
    y += 0.05 * rng.standard_normal(y.shape)
    start = Found(zonal.Matern(1.5, [0.5, 0.5, 0.5, 3.0]), 0.02, 1.0, np.nan)
    held = np.isin(np.arange(len(X)) // 12, np.arange(8))
    found = find_space_time(locate(X[~held], y[~held]), start, (12.0,))
    assert "Periodic" in repr(found.kernel)

    def error(kernel, noise) -> float:
        gram = kernel(X[~held]) + noise * np.eye(int((~held).sum()))
        mean = kernel(X[held], X[~held]) @ np.linalg.solve(gram, y[~held])
        return float(np.sqrt(np.mean((mean - y[held]) ** 2)))

    # Along a parallel nothing changes: only a term in zones knows it at other longitudes.
    assert error(found.kernel, found.noise) < 0.5 * error(start.kernel, start.noise)


@pytest.mark.parametrize("n_times", [12, 5000], ids=["few", "many"])
def test_values_at_lags_that_were_met_and_others(n_times) -> None:
    """More lags than there is room for, and 23 that come back, against NumPy."""
    rng = np.random.default_rng(0)
    rows, others = (
        np.column_stack([rng.uniform(0, 3, (n, 2)), rng.integers(0, n_times, n) / 11.0])
        for n in (70, 1100)
    )
    kernel = (
        zonal.SpaceTime(zonal.Matern(2.5, [0.5, 0.7]), zonal.Cauchy(2.0, 0.9), 0.4)
        + 0.3 * zonal.SpaceTime(zonal.Matern(1.5, [2.0, 1.0]), zonal.Periodic(12 / 11, 0.8))
        + 0.2 * zonal.SpaceTime(zonal.Matern(0.5, [1.0, 1.0]), None)
        + 0.3 * zonal.SpaceTime(zonal.Matern(0.5, 0.7), zonal.Matern(1.5), velocity=(0.1, -0.2))
    )
    delta = rows[:, None, :] - others
    expected = kernel.of_differences(delta)
    np.testing.assert_allclose(cross_values(kernel, rows, others), expected, rtol=0, atol=1e-13)
    np.testing.assert_allclose(fast_differences(kernel, delta), expected, rtol=0, atol=1e-13)


def test_landmarks_of_a_kernel_with_a_scale_for_each_column() -> None:
    rng = np.random.default_rng(0)
    rows, others = rng.uniform(size=(40, 3)), rng.uniform(size=(30, 3))
    kernel = zonal.Matern(1.5, [0.2, 0.5, 1.0])
    expected = kernel.of_differences(rows[:, None, :] - others)
    np.testing.assert_allclose(cross_values(kernel, rows, others), expected, rtol=0, atol=1e-13)


@pytest.mark.parametrize("one", [True, False])
def test_one_kernel_of_space_and_time_against_terms_by_the_evidence_of_all_rows(one) -> None:
    """The field is drawn from one of two models: the exact evidence prefers that one too."""
    rng = np.random.default_rng(4)
    X = np.column_stack([rng.uniform(0, 3, (400, 2)), rng.uniform(0, 50, 400)])
    single = Found(zonal.Matern(0.5, [2.0, 2.0, 30.0]), 0.01, 1.0, np.nan)
    stays = zonal.SpaceTime(zonal.Matern(1.5, 1.0), None)
    terms = Found(
        zonal.SpaceTime(zonal.Matern(0.5, 1.0), zonal.Cauchy(2.0)) + stays, 0.01, 1.0, 0.0
    )
    drawn = single if one else terms
    matrices = [found.kernel(X) + 0.01 * np.eye(400) for found in (single, terms)]
    y = np.linalg.cholesky(matrices[not one]) @ rng.standard_normal((400, 1))
    exact = [-0.5 * 400 * np.log(y.T @ np.linalg.solve(K, y)).item()
             - 0.5 * np.linalg.slogdet(K)[1] for K in matrices]  # fmt: skip
    assert (exact[0] > exact[1]) == one
    assert more_evident(locate(X, y), single, terms, 32) is drawn


def test_a_season_that_was_found_stays() -> None:
    """One kernel is the truth, and more evident, but forecasts need what comes back."""
    rng = np.random.default_rng(4)
    X = np.column_stack([rng.uniform(0, 3, (400, 2)), rng.uniform(0, 50, 400)])
    single = Found(zonal.Matern(0.5, [2.0, 2.0, 30.0]), 0.01, 1.0, np.nan)
    comes_back, circle = (
        zonal.SpaceTime(zonal.Matern(1.5, 1.0), zonal.Periodic(period)) for period in (12.0, 52.0)
    )
    weather = zonal.SpaceTime(zonal.Matern(0.5, 1.0), zonal.Cauchy(2.0))
    gram = single.kernel(X) + 0.01 * np.eye(400)
    locations = locate(X, np.linalg.cholesky(gram) @ rng.standard_normal((400, 1)))
    several = ((weather, False), (weather + circle, False), (weather + comes_back, True))
    for terms, stays in several:
        found = Found(terms, 0.01, 1.0, 0.0)
        assert log_evidence(locations, single, 32) > log_evidence(locations, found, 32)
        assert (more_evident(locations, single, found, 32) is found) == stays


def moving_field(velocity, seed=0):
    """Thirty stations, thirty times: locations, and the standard errors of an unknown velocity."""
    rng = np.random.default_rng(seed)
    stations, times = rng.uniform(0, 6, (30, 2)), np.arange(30.0)
    X = np.column_stack([np.repeat(stations, 30, axis=0), np.tile(times, 30)])

    def matrix(v):
        kernel = zonal.SpaceTime(zonal.Matern(1.5, 1.0), zonal.Cauchy(8.0, 1.0), velocity=v)
        return kernel(X) + 0.01 * np.eye(len(X))

    K, step = matrix(velocity), 1e-5
    y = np.linalg.cholesky(K) @ rng.standard_normal((len(X), 1))
    slopes = [
        np.linalg.solve(K, matrix(velocity + e) - matrix(velocity - e)) / (2 * step)
        for e in step * np.eye(2)
    ]
    information = [[0.5 * np.sum(a * b.T) for b in slopes] for a in slopes]
    return locate(X, y), np.sqrt(np.diag(np.linalg.inv(information)))


def test_the_velocity_of_a_field_is_found(monkeypatch) -> None:
    """Within five standard errors of Fisher's information, of which Vecchia's rows have a part."""
    fewer_rows(monkeypatch, (200, 10, 25), (400, 12, 10))
    start = Found(zonal.Matern(1.5, [1.0, 1.0, 5.0]), 0.02, 1.0, np.nan)
    velocity = np.array([0.8, -0.3])
    locations, error = moving_field(velocity)
    found = find_space_time(locations, start, ())
    travels = [one for _, one in terms_of(found.kernel) if one.velocity is not None]
    assert len(travels) == 1
    assert (np.abs(travels[0].velocity - velocity) < 5 * error).all()


def test_a_field_at_rest_has_no_velocity(monkeypatch) -> None:
    fewer_rows(monkeypatch, (200, 10, 25), (400, 12, 10))
    start = Found(zonal.Matern(1.5, [1.0, 1.0, 5.0]), 0.02, 1.0, np.nan)
    found = find_space_time(moving_field(np.zeros(2))[0], start, ())
    assert all(one.velocity is None for _, one in terms_of(found.kernel))


def test_on_two_sides_of_the_globe_nothing_has_one_velocity() -> None:
    rng = np.random.default_rng(0)
    latitude, longitude = rng.uniform(-60, 60, 200), rng.uniform(-90, 90, 200)
    assert _one_side(zonal.datasets.to_sphere(latitude / 2, longitude / 2))
    assert not _one_side(zonal.datasets.to_sphere(latitude, 2 * longitude))
    assert _one_side(rng.uniform(-1, 1, (200, 2)))


def test_what_lasts_travels_too() -> None:
    term = zonal.SpaceTime(zonal.Matern(1.5, 0.5), zonal.Cauchy(2.0, 0.8), 0.4, velocity=(0.2, 0.1))
    kernel, _ = lasting(term, 9.0)
    now = np.column_stack([np.random.default_rng(4).uniform(0, 1, (6, 2)), np.zeros(6)])
    later = now + 9.0 * np.array([0.2, 0.1, 1.0])
    np.testing.assert_allclose(kernel(now, later), kernel(now), rtol=1e-12)
