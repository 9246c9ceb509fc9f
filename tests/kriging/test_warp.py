"""Places that are moved: slopes, a dense Gaussian process, and warps that are found again."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import zonal
from zonal.kernels.compiled import of_kernel
from zonal.kriging.locations import locate
from zonal.kriging.neighbors import earlier_neighbors
from zonal.kriging.search import find_parameters
from zonal.kriging.warp import Warp, moves_of, n_moves
from zonal.kriging.warp_search import WarpedEvidence, find_warp


def places(kind, n, seed=0):
    rng = np.random.default_rng(seed)
    rows = rng.standard_normal((n, 3))
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    if kind == "plane":
        return rng.uniform([0, 0], [2, 10], (n, 2))
    return np.column_stack([rows, rng.uniform(0, 30, n)]) if kind == "time" else rows


def warp_of(kind, rows, size=0.2, seed=1):
    surface = moves_of(rows, in_time=kind == "time")
    coef = np.random.default_rng(seed).standard_normal(n_moves(surface))
    return Warp(surface, size * coef / (6 if kind != "plane" else 20))


def evidence_of(kind, n, scales):
    X = places(kind, n)
    y = np.random.default_rng(2).standard_normal((n, 1)) + X[:, :1] * X[:, 1:2]
    found = locate(X, y, np.random.default_rng(3).uniform(0.5, 2, n))
    surface = moves_of(X, in_time=kind == "time")
    return WarpedEvidence(found, surface, of_kernel(zonal.Matern(1.5, scales))), found


SCALES = {"sphere": [0.7] * 3, "plane": [0.6, 3.0], "time": [0.7, 0.7, 0.7, 10.0]}


@pytest.mark.parametrize("kind", SCALES)
def test_the_evidence_is_that_of_a_dense_process_between_warped_places(kind):
    evidence, found = evidence_of(kind, 80, SCALES[kind])
    vector = evidence.start(0.2)
    vector[: len(evidence.roughness)] = 0.2
    warp = Warp(evidence.surface, vector[: len(evidence.roughness)] / evidence.roughness)
    every = earlier_neighbors(np.zeros((80, 1)), 79, np.arange(80, dtype=np.int32))
    value, _ = evidence.at(vector, every)
    K = zonal.Matern(1.5, SCALES[kind])(warp.transform(found.rows)) + np.diag(0.2 / found.weight)
    y = found.targets[:, 0]
    y, inverse, one = (y - y.mean()) / y.std(), np.linalg.inv(K), np.ones(80)
    left = y - one @ inverse @ y / (one @ inverse @ one)
    scale = left @ inverse @ left / 80
    expected = -0.5 * (80 * np.log(2 * np.pi * scale) + 80 + np.linalg.slogdet(K)[1])
    prior = -0.5 * np.square(vector[: len(evidence.roughness)]).sum()
    assert_allclose(value, expected + prior, rtol=1e-9)


@pytest.mark.parametrize("kind", SCALES)
def test_slopes_of_the_evidence_are_those_of_differences(kind):
    evidence, _ = evidence_of(kind, 150, SCALES[kind])
    vector = evidence.start(0.2)
    vector += 0.1 * np.random.default_rng(4).standard_normal(len(vector))
    near = earlier_neighbors(evidence.sample.points, 10, evidence.sample.judged)
    _, slope = evidence.at(vector, near)
    for k, step in enumerate(1e-5 * np.eye(len(vector))):
        ends = [evidence.at(vector + sign * step, near)[0] for sign in (1, -1)]
        assert_allclose(slope[k], (ends[0] - ends[1]) / 2e-5, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("kind", SCALES)
def test_places_stay_on_the_sphere_and_slopes_are_pulled_back(kind):
    rows = places(kind, 30)
    warp = warp_of(kind, rows)
    there = warp.transform(rows)
    if kind != "plane":
        assert_allclose(np.linalg.norm(there[:, :3], axis=1), 1, rtol=1e-12)
    if kind == "time":
        assert_allclose(there[:, 3], rows[:, 3])
    assert np.abs(there - rows).max() > 0.01
    gradient = np.random.default_rng(5).standard_normal((30, 2, rows.shape[1]))
    pulled = warp.pull(rows, gradient)
    direction = np.random.default_rng(6).standard_normal(rows.shape)
    if kind == "plane":  # cosines end at the sides of the box
        direction *= ((rows > rows.min(axis=0)) & (rows < rows.max(axis=0))).all(axis=1)[:, None]
    moved = (
        warp.transform(rows + 1e-6 * direction) - warp.transform(rows - 1e-6 * direction)
    ) / 2e-6
    expected = np.einsum("ntd,nd->nt", gradient, moved)
    assert_allclose(np.einsum("ntd,nd->nt", pulled, direction), expected, rtol=1e-5, atol=1e-6)
    assert warp.transform(rows.astype(np.float32)).dtype == np.float32


@pytest.mark.parametrize("kind", SCALES)
def test_slopes_of_a_row_do_not_depend_on_the_others(kind):
    """One row alone, and a time whose range is much larger than the sphere."""
    rows = places(kind, 20)
    if kind == "time":
        rows[:, 3] *= 1e4
    warp = warp_of(kind, rows)
    gradient = np.random.default_rng(5).standard_normal((20, 2, rows.shape[1]))
    together = warp.pull(rows, gradient)
    alone = np.vstack([warp.pull(rows[[i]], gradient[[i]]) for i in range(20)])
    assert_allclose(alone, together, rtol=1e-12)
    assert np.abs(together - gradient).max() > 0.01
    if kind != "plane":  # the sphere is as large with and without other columns
        part = Warp(moves_of(rows[:, :3]), warp.coef).pull(rows[:, :3], gradient[:, :, :3])
        assert_allclose(together[:, :, :3], part, rtol=1e-7, atol=1e-9)


def drawn(points, kernel, noise, seed):
    """A field of a kernel between points, with noise."""
    rng = np.random.default_rng(seed)
    K = kernel(points) + noise * np.eye(len(points))
    return np.linalg.cholesky(K) @ rng.standard_normal((len(points), 1))


def test_the_ratio_of_north_south_to_east_west_is_found_again():
    """All coefficients, to four of the standard deviations over twelve other fields (0.005)."""
    X = places("sphere", 1500)
    true = Warp(moves_of(X), np.array([0.0, 0.0, 0.0, 0.0, 0.08]))
    y = drawn(true.transform(X), zonal.Matern(1.5, 0.25), 0.01, 7)
    rows = locate(X, y)
    found = find_warp(rows, find_parameters(rows))
    assert found is not None
    assert_allclose(found.coef, true.coef, atol=0.02)


def test_the_axes_of_ellipses_in_the_plane_are_found_again():
    """A field three times as long in one direction, at 30 degrees to the first column."""
    X = np.random.default_rng(8).uniform(0, 1, (1000, 2))
    turn = np.deg2rad(30)
    axes = np.array([[np.cos(turn), np.sin(turn)], [-np.sin(turn), np.cos(turn)]])
    y = drawn(X @ axes.T / [0.3, 0.1], zonal.Matern(1.5, 1.0), 0.01, 9)
    model = zonal.NeighborKriging(amplitude=None, warp="auto").fit(X, y[:, 0])
    plain = zonal.NeighborKriging(amplitude=None).fit(X, y[:, 0])
    assert model.log_evidence_ > plain.log_evidence_ + 30
    middle, step = np.full((1, 2), 0.5), 0.01 * np.eye(2)
    slopes = (model.warped(middle + step) - model.warped(middle - step)) / 0.02  # [from, to]
    scales = np.broadcast_to(np.atleast_1d(model.kernel_.length_scale), 2)
    metric = (slopes / scales) @ (slopes / scales).T
    values, vectors = np.linalg.eigh(metric)
    assert 2.2 < np.sqrt(values[1] / values[0]) < 4
    assert abs(vectors[:, 0] @ axes[0]) > np.cos(np.deg2rad(10))


@pytest.mark.parametrize("kind", SCALES)
def test_a_field_that_is_the_same_everywhere_stays(kind):
    X = places(kind, 800)
    y = drawn(X, zonal.Matern(1.5, SCALES[kind]), 0.05, 11)
    rows = locate(X, y)
    assert find_warp(rows, find_parameters(rows), in_time=kind == "time") is None


def test_rows_that_are_no_places_stay():
    X = np.random.default_rng(12).uniform(size=(300, 5))
    start = find_parameters(locate(X, X[:, :1]))
    assert find_warp(locate(X, X[:, :1]), start) is None
    plane = places("plane", 300)
    assert find_warp(locate(plane, np.zeros((300, 1))), start) is None
