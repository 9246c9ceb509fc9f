import numpy as np
import pytest

import zonal
from zonal.kriging.joint_search import joint_parameters
from zonal.kriging.locations import locate
from zonal.kriging.search import (
    Found,
    find_candidates,
    find_first,
    find_others,
    find_parameters,
)
from zonal.kriging.units import column_groups

RNG = np.random.default_rng(0)


def test_columns_on_spheres_and_circles_share_a_scale():
    place = zonal.datasets.to_sphere(RNG.uniform(-90, 90, 200), RNG.uniform(-180, 180, 200))
    hour = RNG.uniform(0, 2 * np.pi, 200)
    other = RNG.standard_normal((200, 2))
    rows = np.column_stack([other[:, 0], place, np.cos(hour), np.sin(hour), other[:, 1]])
    assert column_groups(rows).tolist() == [0, 1, 1, 1, 2, 2, 3]
    assert column_groups(rows.astype(np.float32)).tolist() == [0, 1, 1, 1, 2, 2, 3]
    assert column_groups(np.ones((5, 3))).tolist() == [0, 1, 2]


def draw(kernel, noise, rows, rng):
    covariance = kernel(rows) + noise * np.eye(len(rows))
    return 3 * np.linalg.cholesky(covariance) @ rng.standard_normal((len(rows), 1)) + 100


@pytest.mark.parametrize("nu", [0.5, 1.5, 2.5])
def test_finds_what_the_data_were_drawn_from(nu):
    rng = np.random.default_rng(0)
    rows = rng.random((1500, 3)) * [1, 10, 1]
    y = draw(zonal.Matern(nu, [0.3, 3.0, 1000.0]), 0.02, rows, rng)
    found = find_parameters(locate(rows, y))
    assert found.kernel.nu == nu
    scales = found.kernel.length_scale
    # Two parameters of 1,500 rows; the range of a rough process is known to some 30 %.
    assert abs(np.log(scales[0] / 0.3)) < 0.7
    assert abs(np.log(scales[1] / 3.0)) < 0.7
    assert abs(np.log(scales[0] / scales[1] * 10)) < 0.3
    assert scales[2] > 5
    assert abs(np.log(found.noise / 0.02)) < 0.8


def test_noise_alone_with_any_kernel():
    rng = np.random.default_rng(0)
    rows = rng.random((800, 2))
    y = draw(zonal.Matern(0.8, 0.2), 0.1, rows, rng)
    for kernel in (zonal.Matern(0.8, 0.2), zonal.Matern(1.5, 0.15)):
        found = find_parameters(locate(rows, y), kernel)
        assert found.kernel is kernel
        assert abs(np.log(found.noise / 0.1)) < 0.5


def test_joint_parameters():
    rng = np.random.default_rng(0)
    rows, turned = rng.random((1500, 2)), 3 * rng.standard_normal((2, 8))
    y = draw(zonal.Matern(0.5, 0.1), 0.05, rows, rng)
    y = y + 6 * np.cos(rows @ turned) @ rng.standard_normal((8, 1))
    locations = locate(rows, y)
    start = Found(zonal.Matern(0.5, [0.3, 0.3]), 0.2, 1.0, np.nan)
    found = joint_parameters(locations, lambda rows: np.cos(rows @ turned), 8, start)
    assert abs(np.log(found.kernel.length_scale / 0.1)).max() < 0.5
    # τ is known from eight coefficients: the log of their mean square has a variance near 2/8.
    assert abs(np.log(found.ratio / 4)) < 4 * np.sqrt(2 / 8)


def test_candidates_are_one_for_each_smoothness():
    rng = np.random.default_rng(0)
    rows = rng.random((800, 2))
    locations = locate(rows, draw(zonal.Matern(0.5, 0.3), 0.01, rows, rng))
    found = find_candidates(locations)
    assert sorted(one.kernel.nu for one in found) == [0.5, 1.5, 2.5]
    assert found[0].kernel.nu == 0.5
    values = [one.log_evidence for one in found]
    assert values == sorted(values, reverse=True)
    (only,) = find_candidates(locations, noise=0.01, smoothness=(2.5,))
    assert only.kernel.nu == 2.5
    assert np.isclose(only.noise, 0.01)


def test_a_search_goes_on_from_its_first_climb():
    """Kernels of all ν climb from parameters that are known, here far from the truth."""
    rng = np.random.default_rng(4)
    rows = rng.random((800, 2))
    locations = locate(rows, draw(zonal.Matern(0.5, 0.3), 0.01, rows, rng))
    assert find_first(locations).kernel.nu == 1.5
    assert find_first(locations, noise=0.01).noise == pytest.approx(0.01)
    start = Found(zonal.Matern(1.5, [0.05, 2.0]), 0.5, 1.0, np.nan)
    found = find_others(locations, start)
    assert [one.kernel.nu for one in found] == [0.5, 1.5, 2.5]
    rough = max(found, key=lambda one: one.log_evidence)
    assert rough.kernel.nu == 0.5
    # The likelihood of a field knows σ²/ℓ far better than ℓ: within a factor of three.
    assert np.abs(np.log(rough.kernel.length_scale / 0.3)).max() < np.log(3)
