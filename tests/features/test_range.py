"""Rows of any scale: features are finite, or an error names the norm before the fit ends."""

import numpy as np
import pytest
import scipy.sparse as sp

import zonal
from zonal.kernels import cross
from zonal.kernels.expansion import series

X = np.random.default_rng(0).standard_normal((24, 3))
EXPONENTIAL, POWER, CUBE = zonal.Exponential(1.0), zonal.Polynomial(8), zonal.Polynomial(3)
TAYLOR = [
    zonal.PolySketchFeatures,
    zonal.MaclaurinFeatures,
    zonal.TensorSketchFeatures,
    zonal.AdaptiveSketchFeatures,
]
ANY = [
    *TAYLOR,
    zonal.NystroemFeatures,
    zonal.SphericalFeatures,
    zonal.GegenbauerFeatures,
    zonal.HarmonicFeatures,
]


@pytest.mark.filterwarnings("error::RuntimeWarning")
@pytest.mark.parametrize("kind", ANY, ids=lambda kind: kind.__name__)
@pytest.mark.parametrize(
    ("kernel", "scale", "dtype"),
    [
        (EXPONENTIAL, 1e4, np.float64),
        (EXPONENTIAL, 1e12, np.float32),
        (POWER, 1e6, np.float32),
        (POWER, 1e30, np.float64),
    ],
    ids=lambda value: str(value),
)
def test_an_overflow_is_an_error_that_names_the_norm(kind, kernel, scale, dtype):
    features = kind(kernel, 20, random_state=0)
    with pytest.raises(ValueError, match=r"k\(x, x\) of .* overflows .* norm.*scale the rows down"):
        features.fit((scale * X).astype(dtype))


@pytest.mark.parametrize("kind", ANY, ids=lambda kind: kind.__name__)
def test_new_rows_that_overflow(kind):
    features = kind(POWER, 20, random_state=0).fit(X.astype(np.float32))
    rows = X.astype(np.float32)
    rows[7] *= 1e12
    if kind is zonal.SphericalFeatures:  # which projects rows to the sphere
        assert np.isfinite(features.transform(rows)).all()
        return
    with pytest.raises(ValueError, match=r"overflows float32 at rows of norm \d\.\d+e\+1[12]"):
        features.transform(rows)


@pytest.mark.parametrize("kind", ANY, ids=lambda kind: kind.__name__)
@pytest.mark.parametrize(("scale", "dtype"), [(8e5, np.float32), (1e12, np.float64)])
def test_predictions_are_finite_where_the_kernel_is(kind, scale, dtype):
    """Features of 1e18 have squares of 1e36, whose sums are beyond float32."""
    rows = (scale * X).astype(dtype)
    model = zonal.KernelRidge(kind(CUBE, 20, random_state=0), 0.1, local=None).fit(rows, X[:, 0])
    assert np.isfinite(model.predict(rows)).all()


def test_functions_with_values_that_are_not_finite():
    def kernel(rows, others):
        return np.exp(rows @ others.T)

    with (
        np.errstate(over="ignore"),
        pytest.raises(ValueError, match=r"not finite for rows of norms up to 2\.\d\de\+03"),
    ):
        zonal.NystroemFeatures(kernel, 20).fit(1e3 * X)


@pytest.mark.filterwarnings("ignore::zonal.TruncationWarning")
@pytest.mark.parametrize("dim", [2, 3, 7])
@pytest.mark.parametrize("scale", [1e6, 1e12])
def test_a_gaussian_does_not_overflow(dim, scale, monkeypatch):
    """The kernel is bounded, however heavy the tails of the rows."""
    monkeypatch.setattr(series, "MAX_DEGREE", 64)  # no more would help
    rows = scale * np.random.default_rng(0).standard_t(1.1, (40, dim))
    for features in (zonal.GegenbauerFeatures, zonal.HarmonicFeatures):
        Z = features(zonal.Gaussian(1.0), 30, random_state=0).fit_transform(rows)
        assert np.square(Z).sum(axis=1).max() <= 1


OFFSET = sp.csr_array(np.random.default_rng(0).standard_normal((2, 20)) + 1e3)


@pytest.mark.parametrize("rows", [OFFSET[:1], OFFSET, 1e6 * X], ids=["one", "two", "large"])
@pytest.mark.parametrize("kernel", [zonal.Laplacian(), zonal.Matern(1.5)], ids=repr)
def test_there_is_always_a_column(kernel, rows):
    """Where no eigenfunction is above rounding it is zero, and a warning says so."""
    features = zonal.HarmonicFeatures(kernel, 9)
    others = zonal.HarmonicFeatures(zonal.Gaussian(1e9), 9)
    pair = zonal.ProductFeatures([([0], others), (slice(1, None), features)], 9)
    y = np.zeros(rows.shape[0])
    for one in (features, pair):
        with pytest.warns(zonal.TruncationWarning, match="features are zero: .* Widen it"):
            Z = one.fit_transform(rows if one is features or rows is OFFSET else 1e6 * rows)
        assert Z.shape[1] >= 1
        assert np.isfinite(Z).all()
    with pytest.warns(zonal.TruncationWarning):
        process = zonal.GaussianProcess(features, 0.1, local=None).fit(rows, y)
    mean, std = process.predict(rows, return_std=True)
    np.testing.assert_allclose(mean, 0, atol=1e-12)  # the prior: these rows tell nothing of others
    np.testing.assert_allclose(std, 1)


@pytest.mark.parametrize("kernel", [zonal.Gaussian(), zonal.Laplacian(), CUBE, zonal.NTK()])
def test_nystroem_features_of_one_row(kernel):
    features = zonal.NystroemFeatures(kernel, 1)
    for scale in (1e-12, 1.0, 1e6):
        Z = features.fit_transform(scale * X[:1])
        np.testing.assert_allclose(Z @ Z.T, kernel(scale * X[:1]), rtol=1e-7)


def test_the_search_for_a_degree_makes_no_table(monkeypatch):
    """Bias and variance are weighed at one radius, whatever the degree."""
    monkeypatch.setattr(series, "MAX_DEGREE", 128)
    counts = []

    def counted(orders, z):
        counts.append(len(orders) * z.size)
        return bessel(orders, z)

    bessel = cross.log_scaled_bessel
    monkeypatch.setattr(cross, "log_scaled_bessel", counted)
    features = zonal.GegenbauerFeatures(zonal.Gaussian(0.001), 20, random_state=0)
    features.fit(X)
    assert sum(counts) < 64**2 * 2 * 129 + 513 * 64 * (features.max_degree_ + 1) + 10**5


def test_the_search_ends_where_rounding_hides_the_degrees(monkeypatch):
    """The square root of the number of harmonics multiplies the rounding of quadrature."""
    degrees = []

    def counted(max_degree, dim):
        degrees.append(max_degree)
        return quadrature(max_degree, dim)

    quadrature = cross._quadrature
    monkeypatch.setattr(cross, "_quadrature", counted)
    zonal.HarmonicFeatures(zonal.RationalQuadratic(), 21).fit(OFFSET)
    assert max(degrees) <= 64


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize(
    "kernel",
    [
        zonal.Gaussian(1.0) + zonal.Matern(1.5, 2.0),
        zonal.Gaussian(1.0) + zonal.Gaussian(3.0),
        zonal.Matern(1.5),
    ],
    ids=repr,
)
def test_harmonic_features_stay_below_the_kernel(kernel, seed):
    """A few rows far away must not spoil the table of the radial functions: Z Zᵀ ≼ K."""
    rows = np.random.default_rng(seed).standard_t(1.1, (300, 3))
    features = zonal.HarmonicFeatures(kernel, 65).fit(rows)
    Z = features.transform(rows)
    assert (np.square(Z).sum(axis=1) <= (1 + 1e-6) * features.kernel_diag(rows)).all()
    rest = kernel(rows) - Z @ Z.T
    assert np.linalg.eigvalsh(rest)[0] > -1e-3 * np.linalg.eigvalsh(kernel(rows))[-1]
