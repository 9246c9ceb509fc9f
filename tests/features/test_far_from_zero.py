"""Rows far from zero, whose norms agree beside what they are but not beside their distances."""

import numpy as np
import pytest
from scipy.sparse import csr_array

import zonal
from zonal._validation import norms_agree, row_norms, spans_sphere, spread_of
from zonal.features.columns.structure import prepare

ORIGINS = {"Julian days": (2459000.5, 1.0), "Unix seconds": (1.7e9, 86400.0)}


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.mark.parametrize("dim", [1, 2, 3])
@pytest.mark.parametrize("origin", ORIGINS)
@pytest.mark.parametrize("name", ["HarmonicFeatures", "GegenbauerFeatures"])
def test_features_follow_the_kernel_where_the_origin_is(name, origin, dim, rng):
    """The kernel sees differences: about an origin it is met as well as about zero."""
    start, unit = ORIGINS[origin]
    steps = rng.uniform(0, 2, (300, dim))
    X = start + unit * steps
    features = getattr(zonal, name)(zonal.Gaussian(unit), n_components=300, random_state=0)
    Z = features.fit_transform(X)
    exact = np.exp(-((steps[:, None] - steps) ** 2).sum(axis=2) / 2)
    error = np.linalg.norm(Z @ Z.T - exact) / np.linalg.norm(exact)
    Z = features.set_params(kernel=zonal.Gaussian(1.0)).fit_transform(steps - 1)
    about_zero = np.linalg.norm(Z @ Z.T - exact) / np.linalg.norm(exact)
    # Rounding of the largest rows, 1.7e9, is 2e-7 of seconds, of which a day has 86,400.
    assert error < 1.01 * about_zero + 1e-6
    assert about_zero < 0.05


@pytest.mark.parametrize("name", ["HarmonicFeatures", "GegenbauerFeatures"])
def test_rows_on_a_line_that_do_not_move_in_one_column(name, rng):
    """Rows (c, t) with a large c are on no circle, though norms differ by less than 1e-6."""
    t = rng.uniform(-1, 1, 300)
    X = np.column_stack([np.full(300, 2459000.5), t])
    features = getattr(zonal, name)(zonal.Gaussian(1.0), n_components=200, random_state=0)
    model = zonal.KernelRidge(features).fit(X, np.sin(3 * t))
    assert model.score(X, np.sin(3 * t)) > 0.999


@pytest.mark.parametrize("radius", [1.0, 6.371e6])
def test_a_town_on_the_earth_is_centred_and_a_hemisphere_is_not(radius, rng):
    """A town of ten kilometres: harmonics of the whole sphere would not vary in it."""
    plane = rng.uniform(-0.001, 0.001, (300, 2))
    town = np.column_stack([plane, np.ones(300)])
    town *= radius / np.linalg.norm(town, axis=1)[:, None]
    half = rng.standard_normal((300, 3))
    half[:, 2] = abs(half[:, 2])
    half *= radius / np.linalg.norm(half, axis=1)[:, None]
    kernel = zonal.Matern(1.5, 0.0005 * radius)
    features = zonal.HarmonicFeatures(kernel, n_components=300).fit(town)
    np.testing.assert_allclose(features.center_, town.mean(axis=0))
    assert (
        zonal.KernelRidge(features)
        .fit(town, plane[:, 0] * plane[:, 1])
        .score(town, plane[:, 0] * plane[:, 1])
        > 0.99
    )
    assert not zonal.HarmonicFeatures(kernel, n_components=50).fit(half).center_.any()
    assert spans_sphere(half)
    assert not spans_sphere(town)
    assert norms_agree(row_norms(town), spread_of(town))  # on the sphere, but a small part of it


def test_the_automatic_choice_scales_numbers_far_from_zero(rng):
    """They were taken for a sphere, whose rows are left as they are."""
    X = 1.7e9 + rng.uniform(0, 100, (200, 2))
    step, rows, sphere = prepare(X, np.ones(200))
    assert sphere is None
    assert step is not None
    np.testing.assert_allclose(rows.std(axis=0), 1, rtol=1e-6)


def test_spread_is_that_of_the_definition(rng):
    X = rng.standard_normal((50, 4)) * [1, 10, 0, 0.1]
    expected = np.sqrt(((X - X.mean(axis=0)) ** 2).sum(axis=1).mean())
    assert spread_of(X) == pytest.approx(expected, rel=1e-12)
    assert spread_of(csr_array(X)) == pytest.approx(expected, rel=1e-12)
    assert spread_of(1e200 * X) == pytest.approx(1e200 * expected, rel=1e-12)
    assert spread_of(np.zeros((3, 2))) == 0
