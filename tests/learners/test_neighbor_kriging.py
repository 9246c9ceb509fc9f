import numba
import numpy as np
import pytest
from scipy.stats import multivariate_normal
from sklearn.base import clone
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process import kernels as sklearn_kernels
from sklearn.utils.estimator_checks import parametrize_with_checks

import zonal
from zonal.kriging.covariance import terms_of

RNG = np.random.default_rng(0)
X, QUERIES = RNG.standard_normal((150, 2)), RNG.standard_normal((40, 2))
y = np.sin(2 * X[:, 0]) + X[:, 1] + 0.1 * RNG.standard_normal(150)
Y = np.column_stack([y, 1000 + X[:, 1] ** 2])
KERNEL = zonal.Matern(1.5, [0.5, 0.8])


@parametrize_with_checks([zonal.NeighborKriging(), zonal.NeighborKriging("gaussian", 4)])
def test_scikit_learn(estimator, check):
    check(estimator)


@pytest.mark.parametrize("noise", [0.0, 0.05])
@pytest.mark.parametrize("m", [149, 150, 1000])
def test_all_neighbours_are_the_gaussian_process(noise, m):
    model = zonal.NeighborKriging(KERNEL, m, noise=noise).fit(X, y)
    inverse = np.linalg.inv(KERNEL(X) + noise * np.eye(150))
    ones = np.ones(150)
    mean = (ones @ inverse @ y) / (ones @ inverse @ ones)
    np.testing.assert_allclose(model.mean_, mean, atol=1e-7)
    scale = (y - mean) @ inverse @ (y - mean) / 150
    np.testing.assert_allclose(model.scale_, scale, rtol=1e-7)
    expected = multivariate_normal(mean * ones, scale * (KERNEL(X) + noise * np.eye(150)))
    np.testing.assert_allclose(model.log_evidence_, expected.logpdf(y), rtol=1e-7)
    if m < 150:
        return
    # scikit-learn's has no mean, which also adds to the variance.
    kernel = scale * sklearn_kernels.Matern([0.5, 0.8], nu=1.5)
    peer = GaussianProcessRegressor(kernel, alpha=scale * noise + 1e-14, optimizer=None)
    expected_mean, expected_std = peer.fit(X, y - mean).predict(QUERIES, return_std=True)
    rest = 1 - KERNEL(QUERIES, X) @ inverse @ ones
    expected_std = np.sqrt(expected_std**2 + scale * rest**2 / (ones @ inverse @ ones))
    found, std = model.predict(QUERIES, return_std=True)
    np.testing.assert_allclose(found, expected_mean + mean, atol=1e-7)
    np.testing.assert_allclose(std, expected_std, atol=1e-7)


def test_any_kernel():
    kernel = zonal.Matern(0.8, 0.5) + 0.1 * zonal.Polynomial(degree=1)
    model = zonal.NeighborKriging(kernel, 150, noise=0.05).fit(X, y)
    system = kernel(X) + 0.05 * np.eye(150)
    expected = model.mean_ + kernel(QUERIES, X) @ np.linalg.solve(system, y - model.mean_)
    np.testing.assert_allclose(model.predict(QUERIES), expected, atol=1e-7)
    assert zonal.NeighborKriging(kernel, 8).fit(X, y).noise_ > 0


def test_names_and_median():
    model = zonal.NeighborKriging("laplacian", 8).fit(X, y)
    assert model.kernel_.length_scale == zonal.Laplacian("median").resolve(X).length_scale
    assert isinstance(model.kernel_, zonal.Laplacian)


def test_several_targets_share_the_weights():
    both = zonal.NeighborKriging(KERNEL, 20, noise=0.1).fit(X, Y)
    mean, std = both.predict(QUERIES, return_std=True)
    evidence = 0.0
    for t in range(2):
        one = zonal.NeighborKriging(KERNEL, 20, noise=0.1).fit(X, Y[:, t])
        single_mean, single_std = one.predict(QUERIES, return_std=True)
        np.testing.assert_allclose(mean[:, t], single_mean, rtol=1e-10)
        np.testing.assert_allclose(std[:, t], single_std, rtol=1e-8)
        evidence += one.log_evidence_
    np.testing.assert_allclose(both.log_evidence_, evidence, rtol=1e-8)
    assert both.scale_.shape == both.mean_.shape == (2,)


@pytest.mark.parametrize("kernel", ["auto", KERNEL])
def test_weights_are_repeated_rows(kernel):
    weight = RNG.integers(0, 4, 150)
    times = np.repeat(np.arange(150), weight)
    noisy = y[times] + 0.0
    weighted = zonal.NeighborKriging(kernel, 16).fit(X, y, sample_weight=weight)
    repeated = zonal.NeighborKriging(kernel, 16).fit(X[times], noisy)
    # Sums differ by rounding, and a climb ends where the evidence grows by less than a millionth.
    np.testing.assert_allclose(weighted.log_evidence_, repeated.log_evidence_, rtol=1e-6)
    np.testing.assert_allclose(weighted.noise_, repeated.noise_, rtol=1e-4)
    np.testing.assert_allclose(weighted.predict(QUERIES), repeated.predict(QUERIES), atol=1e-6)


def test_repeated_places_tell_the_noise():
    places = RNG.standard_normal((200, 2))
    rows = np.concatenate([places] * 5)
    values = np.sin(3 * rows[:, 0]) + 0.3 * RNG.standard_normal(1000)
    model = zonal.NeighborKriging().fit(rows, values)
    # From 800 degrees of freedom within places, and more between: 5 % is the standard error.
    assert abs(model.noise_ * model.scale_ / 0.09 - 1) < 4 * 0.05
    truth = np.sin(3 * QUERIES[:, 0])
    assert np.mean((model.predict(QUERIES) - truth) ** 2) < 0.09


@pytest.mark.usefixtures("two_threads")
def test_order_and_threads_do_not_matter():
    before = numba.get_num_threads()
    model = zonal.NeighborKriging(n_neighbors=10).fit(X, Y)
    shuffle = RNG.permutation(150)
    numba.set_num_threads(1)
    other = zonal.NeighborKriging(n_neighbors=10).fit(X[shuffle], Y[shuffle])
    np.testing.assert_allclose(other.predict(QUERIES), model.predict(QUERIES), rtol=1e-10)
    np.testing.assert_allclose(other.log_evidence_, model.log_evidence_, rtol=1e-10)
    numba.set_num_threads(before)
    seeded = zonal.NeighborKriging(KERNEL, 10, noise=0.1, random_state=1).fit(X, y)
    plain = zonal.NeighborKriging(KERNEL, 10, noise=0.1).fit(X, y)
    assert seeded.log_evidence_ != plain.log_evidence_
    mean, std = plain.predict(QUERIES, return_std=True)
    assert np.abs((seeded.predict(QUERIES) - mean) / std).max() < 0.1


def test_without_noise_it_interpolates():
    model = zonal.NeighborKriging(zonal.Gaussian(1.0), 20, noise=0).fit(X, y)
    mean, std = model.predict(X, return_std=True)
    np.testing.assert_allclose(mean, y, atol=1e-4)
    assert (std < 1e-4 * np.sqrt(model.scale_)).all()
    twice = zonal.NeighborKriging(KERNEL, 20, noise=0)
    twice.fit(np.concatenate([X, X]), np.concatenate([y, y + 1]))
    np.testing.assert_allclose(twice.predict(X), y + 0.5, atol=1e-6)


@pytest.mark.parametrize("kernel", ["auto", KERNEL, zonal.Polynomial()])
def test_small_and_degenerate_data(kernel):
    one = zonal.NeighborKriging(kernel).fit(X[:1], y[:1])
    np.testing.assert_allclose(one.predict(QUERIES), y[0], atol=1e-9)
    assert one.n_neighbors_ == 1
    for rows, targets in (
        (X[:2], y[:2]),
        (X, np.full(150, 7.0)),
        (np.ones((20, 2)), y[:20]),
        (np.column_stack([X[:, 0], np.ones(150)]), y),
    ):
        model = zonal.NeighborKriging(kernel).fit(rows, targets)
        mean, std = model.predict(rows[:10], return_std=True)
        assert np.isfinite(mean).all()
        assert np.isfinite(std).all()
    np.testing.assert_allclose(
        zonal.NeighborKriging(kernel).fit(X, np.full(150, 7.0)).predict(QUERIES), 7.0, atol=1e-9
    )


def test_a_constant_column_changes_nothing():
    wide = zonal.NeighborKriging().fit(np.column_stack([X, np.full(150, 5.0)]), y)
    plain = zonal.NeighborKriging().fit(X, y)
    found = wide.predict(np.column_stack([QUERIES, np.full(40, 5.0)]))
    # The starts differ, and both stop where the evidence is flat; the noise is 0.1.
    assert np.abs(found - plain.predict(QUERIES)).max() < 0.1


def test_one_column_and_many():
    rows = RNG.uniform(0, 10, (400, 1))
    values = np.sin(3 * rows[:, 0])
    assert (
        zonal.NeighborKriging().fit(rows[:300], values[:300]).score(rows[300:], values[300:])
        > 0.999
    )
    wide = np.column_stack([rows, RNG.standard_normal((400, 19))])
    values = np.sin(rows[:, 0] / 2)
    model = zonal.NeighborKriging().fit(wide[:300], values[:300])
    assert model.score(wide[300:], values[300:]) > 0.9
    assert np.argmin(model.kernel_.length_scale / wide.std(axis=0)) == 0


def test_float32_stays():
    model = zonal.NeighborKriging(KERNEL, 150, noise=0.1)
    model.fit(X.astype(np.float32), y.astype(np.float32))
    mean, std = model.predict(QUERIES.astype(np.float32), return_std=True)
    assert mean.dtype == std.dtype == np.float32
    exact = zonal.NeighborKriging(KERNEL, 150, noise=0.1).fit(X, y).predict(QUERIES)
    np.testing.assert_allclose(mean, exact, atol=1e-5)


def test_places_beyond_the_range_of_squares():
    """So far away no row tells anything: the mean, with the standard deviation of the process."""
    model = zonal.NeighborKriging(n_neighbors=10).fit(X, y)
    far = np.zeros((3, X.shape[1]))
    far[:, 0] = 1e300, -1e300, 1e160
    mean, std = model.predict(far, return_std=True)
    np.testing.assert_allclose(mean, model.mean_, rtol=1e-4)  # compiled exponentials end somewhere
    assert (std >= np.sqrt(model.scale_)).all()
    assert np.isfinite(model.predict_interval(far)).all()


def test_a_time_limit_ends_the_search(capsys):
    quick = zonal.NeighborKriging(time_limit=1e-9, verbose=True).fit(X, y)
    n_quick = len(capsys.readouterr().out.splitlines())
    zonal.NeighborKriging(verbose=True).fit(X, y)
    assert 0 < n_quick < len(capsys.readouterr().out.splitlines())  # a line for each climb
    assert np.isfinite(quick.predict(QUERIES)).all()
    for value in (0, -1.0, "soon", True):
        with pytest.raises(ValueError, match=r"time_limit=.*seconds above zero"):
            zonal.NeighborKriging(time_limit=value).fit(X, y)


def test_many_rows_are_judged_by_some(monkeypatch):
    whole = zonal.NeighborKriging(KERNEL, 10, noise=0.1).fit(X, y)
    monkeypatch.setattr("zonal.model.local_solution.JUDGED_ROWS", 75)
    half = zonal.NeighborKriging(KERNEL, 10, noise=0.1).fit(X, y)
    # Terms of a Gaussian log density have a variance near 1/2 about their mean.
    assert abs(whole.log_evidence_ - half.log_evidence_) < 4 * 150 * np.sqrt(0.5 / 75)
    assert abs(np.log(whole.scale_ / half.scale_)) < 4 * np.sqrt(2 / 75)


@pytest.mark.parametrize("kernel", ["auto", KERNEL])
def test_save_and_load(tmp_path, kernel):
    model = zonal.NeighborKriging(kernel, 8).fit(X, Y)
    expected = model.predict(QUERIES, return_std=True)
    zonal.save(model, tmp_path / "model.zonal")
    found = zonal.load(tmp_path / "model.zonal").predict(QUERIES, return_std=True)
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"noise": -1.0}, "noise=-1.0"),
        ({"noise": "cv"}, "noise='cv'"),
        ({"n_neighbors": 0}, "n_neighbors=0"),
        ({"kernel": "unknown"}, "kernel='unknown'"),
        ({"kernel": zonal.Matern(1.5, [1.0, 1.0, 1.0])}, "has 3 entries"),
    ],
)
def test_errors(parameters, message):
    with pytest.raises(ValueError, match=message):
        zonal.NeighborKriging(**parameters).fit(X, y)


def test_weights_of_zero():
    with pytest.raises(ValueError, match="zero"):
        zonal.NeighborKriging().fit(X, y, sample_weight=np.zeros(150))


def test_sphere_with_time():
    rng = np.random.default_rng(0)
    place = zonal.datasets.to_sphere(
        np.degrees(np.arcsin(rng.uniform(-1, 1, 3000))), rng.uniform(-180, 180, 3000)
    )
    month = rng.integers(1, 13, 3000)
    values = np.sin(8 * place[:, 0]) * place[:, 2] + 0.1 * month
    rows = np.column_stack([place, month])
    model = zonal.NeighborKriging().fit(rows[:2500], values[:2500])
    assert model.score(rows[2500:], values[2500:]) > 0.99
    for _, term in terms_of(model.kernel_):
        np.testing.assert_allclose(term.length_scale[:3], term.length_scale[0])


def test_copies_do_not_pass_for_exact_observations():
    values = np.sin(2 * X[:, 0]) + 0.5 * RNG.standard_normal(150)
    plain = zonal.NeighborKriging(KERNEL, 20).fit(X, values)
    copied = zonal.NeighborKriging(KERNEL, 20)
    copied.fit(np.concatenate([X, X[:30]]), np.concatenate([values, values[:30]]))
    assert 0.5 < copied.noise_ / plain.noise_ < 2


@pytest.mark.parametrize("unit", [2.0**-300, 2.0**300])  # which round nothing
def test_units_of_targets_do_not_matter(unit):
    plain = zonal.NeighborKriging(n_neighbors=10).fit(X, y)
    other = zonal.NeighborKriging(n_neighbors=10).fit(X, unit * y)
    np.testing.assert_allclose(other.predict(QUERIES) / unit, plain.predict(QUERIES), rtol=1e-6)
    np.testing.assert_allclose(other.scale_ / unit**2, plain.scale_, rtol=1e-6)


def sphere_with_a_hole(seed):
    """A smooth field on cells of 4°, the hole, and where its middle is."""
    rng = np.random.default_rng(seed)
    lat, lon = np.meshgrid(np.arange(-88, 90, 4.0), np.arange(2, 360, 4.0), indexing="ij")
    rows = zonal.datasets.to_sphere(lat.ravel(), lon.ravel())
    Z = zonal.HarmonicFeatures(zonal.Matern(2.5, 0.9), 900).fit_transform(rows)
    truth = Z @ rng.standard_normal(Z.shape[1])
    center = zonal.datasets.to_sphere(np.array([0.0]), np.array([180.0]))[0]
    return rows, truth, np.degrees(np.arccos(np.clip(rows @ center, -1, 1))), lat.shape


def largest_step(values, hole, shape):
    cells, inside = values.reshape(shape), hole.reshape(shape)
    return max(
        np.abs(np.diff(cells, axis=axis))[
            np.diff(inside.astype(int), axis=axis)
            == 0 & np.take(inside, range(shape[axis] - 1), axis)
        ].max()
        for axis in (0, 1)
    )


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_a_hole_in_a_smooth_field_has_no_seam(seed):
    rows, truth, angle, shape = sphere_with_a_hole(seed)
    hole = angle < 30
    noise = 0.01 * np.random.default_rng(1).standard_normal(len(truth))
    values, deviations = {}, {}
    for n_features in (0, 256):
        kernel = zonal.Matern(2.5, 0.9)
        model = zonal.NeighborKriging(kernel, 16, noise=1e-4, n_features=n_features)
        model.fit(rows[~hole], (truth + noise)[~hole])
        values[n_features], deviations[n_features] = model.predict(rows, return_std=True)
    true = largest_step(truth, hole, shape)
    assert largest_step(values[256], hole, shape) < 1.1 * true
    # Errors may be large in the middle, but they are smooth.
    assert largest_step(values[256] - truth, hole, shape) < 0.4 * true
    assert largest_step(values[0] - truth, hole, shape) > 1.2 * true
    std = deviations[256]
    assert std[angle < 8].min() > std[(angle > 16) & hole].max()  # largest in the middle


def test_extrapolation_returns_to_the_prior():
    """In space and in time: the mean, and the variance of process and mean."""
    rng = np.random.default_rng(0)
    rows = rng.uniform(0, 1, (600, 3))
    values = np.sin(6 * rows[:, 0]) + np.cos(9 * rows[:, 2]) + 0.1 * rng.standard_normal(600)
    model = zonal.NeighborKriging(zonal.Matern(1.5, [0.5, 0.8, 0.3]), noise=0.01).fit(rows, values)
    assert len(model._solution_.coef) > 0
    far = np.array([[1e4, 0.5, 0.5], [0.5, 0.5, 1e4]])
    mean, std = model.predict(far, return_std=True)
    np.testing.assert_allclose(mean, model.mean_, atol=1e-6)
    assert (std**2 >= (1 - 1e-9) * model.scale_ * model.kernel_.diag(far)).all()
    assert (std >= model.predict(rows, return_std=True)[1].max()).all()


def test_number_of_features_is_checked():
    with pytest.raises(ValueError, match="n_features=-1"):
        zonal.NeighborKriging(n_features=-1).fit(X, y)


def test_kernel_ridge_without_features_is_the_same_model():
    rows = RNG.uniform(0, 10, (500, 2))
    values = np.sin(rows[:, 0]) * np.cos(rows[:, 1]) + 0.05 * RNG.standard_normal(500)
    local = zonal.NeighborKriging(zonal.Matern(1.5, 3.0), noise=0.01)
    alone = clone(local).fit(rows, values)
    ridge = zonal.KernelRidge(None, local=local).fit(rows, values)
    np.testing.assert_allclose(ridge.predict(rows), alone.predict(rows), atol=1e-9)
    np.testing.assert_allclose(ridge.local_.predict(rows), alone.predict(rows), atol=1e-9)
    given = zonal.KernelRidge(None, local=local.set_params(n_features=0)).fit(rows, values)
    assert len(given.local_._solution_.coef) == 0
    assert len(ridge.local_._solution_.coef) > 0


def test_any_kernel_stands_beside_features():
    rows = RNG.standard_normal((300, 3))
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    values = np.sin(3 * rows[:, 0]) + 0.3 * rows[:, 1]
    kernel = zonal.Zonal(lambda t: np.exp(20 * (t - 1)))
    features = zonal.HarmonicFeatures(zonal.Matern(1.5, 1.0), 64)
    local = zonal.NeighborKriging(kernel, noise=0.01)
    model = zonal.KernelRidge(features, local=local).fit(rows[:250], values[:250])
    assert model.score(rows[250:], values[250:]) > 0.999
