"""SphereEncoder: places as points of the sphere, other columns on a common scale."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from scipy.spatial.transform import Rotation
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.metrics.pairwise import haversine_distances
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import zonal

RNG = np.random.default_rng(0)
N = 200
LAT, LON = RNG.uniform(-90, 90, N), RNG.uniform(-180, 360, N)
TIME, DEPTH = 1950 + 70 * RNG.random(N), RNG.exponential(1000.0, N)
FRAME = pd.DataFrame({"time": TIME, "lat": LAT, "depth": DEPTH, "lon": LON})
ROWS = FRAME.to_numpy()
OTHERS = ROWS[:, [0, 2]]
EPS = np.finfo(np.float64).eps


def by_rotation(lat, lon):
    """Places by turning (1, 0, 0) up by the latitude, then east by the longitude."""
    degrees = np.column_stack([-np.asarray(lat), np.asarray(lon)])
    return Rotation.from_euler("yz", degrees, degrees=True).apply([1.0, 0.0, 0.0])


# The checks feed any numbers, which are places only if angles may run on around the globe.
@parametrize_with_checks(
    [
        zonal.SphereEncoder(0, 1, out_of_range="wrap"),
        zonal.SphereEncoder(1, 0, rest="interval", interval=(-1.0, 1.0), out_of_range="wrap"),
        zonal.SphereEncoder(0, -1, rest="passthrough", out_of_range="wrap"),
        zonal.SphereEncoder(0, 1, rest="drop", out_of_range="wrap"),
    ]
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def test_points_are_rotations():
    points = zonal.SphereEncoder(rest="drop").fit_transform(FRAME)
    np.testing.assert_allclose(points, by_rotation(LAT, LON), rtol=0, atol=8 * EPS)


def test_angles_between_points_are_distances_on_the_globe():
    points = zonal.SphereEncoder().fit_transform(FRAME)[:, :3]
    # By chords, since arccos loses half the digits for neighbours.
    chords = np.linalg.norm(points[:, None] - points[None], axis=2)
    expected = haversine_distances(np.radians(np.column_stack([LAT, LON])))
    # The sine's slope vanishes at antipodes, where half the digits are lost after all.
    np.testing.assert_allclose(2 * np.arcsin(np.minimum(chords / 2, 1)), expected, atol=1e-7)


def test_known_places():
    rows = [[90, 17], [-90, 300], [0, 0], [0, 180], [0, -180], [0, 270], [0, -90], [0, 360]]
    expected = [
        [0, 0, 1],
        [0, 0, -1],
        [1, 0, 0],
        [-1, 0, 0],
        [-1, 0, 0],
        [0, -1, 0],
        [0, -1, 0],
        [1, 0, 0],
    ]
    points = zonal.SphereEncoder(0, 1).fit_transform(rows)
    np.testing.assert_allclose(points, expected, rtol=0, atol=4 * EPS)


def test_standardized_columns():
    encoder = zonal.SphereEncoder().fit(FRAME)
    reference = StandardScaler().fit(OTHERS)
    np.testing.assert_allclose(encoder.center_, reference.mean_)
    np.testing.assert_allclose(encoder.scale_, reference.scale_)
    np.testing.assert_allclose(
        encoder.transform(FRAME)[:, 3:], reference.transform(OTHERS), atol=1e-12
    )


@pytest.mark.parametrize("interval", [(0.0, 1.0), (-1, 1), [2.5, 7.0]], ids=str)
def test_columns_in_an_interval(interval):
    encoder = zonal.SphereEncoder(rest="interval", interval=interval).fit(FRAME)
    out = encoder.transform(FRAME)[:, 3:]
    expected = MinMaxScaler(feature_range=tuple(interval)).fit_transform(OTHERS)
    # MinMaxScaler subtracts after it has scaled: it is right to some ulps of year / span.
    np.testing.assert_allclose(out, expected, rtol=0, atol=1000 * EPS)
    np.testing.assert_allclose(out.min(axis=0), interval[0], rtol=4 * EPS)
    np.testing.assert_allclose(out.max(axis=0), interval[1], rtol=4 * EPS)
    np.testing.assert_array_equal(encoder.center_, OTHERS.min(axis=0))


def test_an_interval_holds_all_rows_of_fit():
    """Also of more rows than the sample that means are learnt from."""
    rows = np.zeros((30_000, 3))
    rows[:, 2] = np.random.default_rng(0).standard_cauchy(30_000)
    out = zonal.SphereEncoder(0, 1, rest="interval").fit_transform(rows)[:, 3]
    assert (out.min(), out.max()) == (0.0, 1.0)


def test_passthrough_and_drop():
    kept = zonal.SphereEncoder(rest="passthrough").fit(FRAME)
    np.testing.assert_array_equal(kept.transform(FRAME)[:, 3:], OTHERS)
    dropped = zonal.SphereEncoder(rest="drop").fit(FRAME)
    assert dropped.transform(FRAME).shape == (N, 3)
    assert len(dropped.rest_) == len(dropped.center_) == len(dropped.scale_) == 0


@pytest.mark.parametrize("rest", ["standardize", "interval", "passthrough", "drop"])
def test_two_columns_are_enough(rest):
    places = FRAME[["lon", "lat"]]
    points = zonal.SphereEncoder(rest=rest).fit_transform(places)
    np.testing.assert_allclose(points, by_rotation(LAT, LON), rtol=0, atol=8 * EPS)


@pytest.mark.parametrize("value", [0.0, 0.1, 1.7e18])
@pytest.mark.parametrize(("rest", "expected"), [("standardize", 0.0), ("interval", 5.0)])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_constant_columns(value, rest, expected, dtype):
    rows = np.column_stack([LAT, LON, np.full(N, value)]).astype(dtype)
    encoder = zonal.SphereEncoder(0, 1, rest=rest, interval=(5.0, 6.0)).fit(rows)
    np.testing.assert_array_equal(encoder.scale_, 1.0)
    # The mean of n equal numbers may be some ulps off, and here an ulp of 1.7e18 is 256.
    atol = 10 * EPS * value if rest == "standardize" else 0.0
    np.testing.assert_allclose(encoder.transform(rows)[:, 3], expected, rtol=0, atol=atol)


@pytest.mark.parametrize("rest", ["standardize", "interval"])
def test_integer_weights_are_repeated_rows(rest):
    weights = np.random.default_rng(1).integers(0, 4, N)
    # The extremes do not count, so that an interval can tell.
    weights[OTHERS.argmin(axis=0)] = weights[OTHERS.argmax(axis=0)] = 0
    weighted = zonal.SphereEncoder(rest=rest).fit(FRAME, sample_weight=weights)
    repeated = zonal.SphereEncoder(rest=rest).fit(FRAME.loc[np.repeat(np.arange(N), weights)])
    plain = zonal.SphereEncoder(rest=rest).fit(FRAME)
    for name in ("center_", "scale_"):
        np.testing.assert_allclose(getattr(weighted, name), getattr(repeated, name), rtol=1e-12)
        assert (np.abs(getattr(weighted, name) / getattr(plain, name) - 1) > 1e-6).all()


def test_weighted_moments():
    weights = np.random.default_rng(1).random(N)
    encoder = zonal.SphereEncoder().fit(FRAME, sample_weight=weights)
    mean = np.average(OTHERS, axis=0, weights=weights)
    np.testing.assert_allclose(encoder.center_, mean)
    variance = np.average((OTHERS - mean) ** 2, axis=0, weights=weights)
    np.testing.assert_allclose(encoder.scale_, np.sqrt(variance))


@pytest.mark.parametrize("rest", ["standardize", "interval", "passthrough", "drop"])
@pytest.mark.parametrize("weights", [np.zeros(N), -np.ones(N), np.ones(N - 1)])
def test_bad_weights(rest, weights):
    with pytest.raises(ValueError, match="weight"):
        zonal.SphereEncoder(rest=rest).fit(FRAME, sample_weight=weights)


def test_float32():
    rows = ROWS.astype(np.float32)
    encoder = zonal.SphereEncoder(1, 3, rest="interval").fit(rows)
    out = encoder.transform(rows)
    assert out.dtype == np.float32
    # Rounded once, at the end: half an ulp of 1 away from the float64 of the same numbers.
    exact = encoder.transform(rows.astype(np.float64))
    assert exact.dtype == np.float64
    np.testing.assert_array_equal(out, exact.astype(np.float32))


CONTAINERS = {
    "pandas": FRAME,
    "polars": pl.DataFrame({name: FRAME[name].to_numpy() for name in FRAME}),
}


@pytest.mark.parametrize("frame", CONTAINERS.values(), ids=CONTAINERS)
def test_frames(frame):
    encoder = zonal.SphereEncoder().fit(frame)
    assert encoder.columns_.tolist() == [1, 3]
    assert encoder.rest_.tolist() == [0, 2]
    names = ["sphere_x", "sphere_y", "sphere_z", "time", "depth"]
    assert encoder.get_feature_names_out().tolist() == names
    expected = zonal.SphereEncoder(1, 3).fit_transform(ROWS)
    np.testing.assert_array_equal(encoder.transform(frame), expected)
    for kind in ("pandas", "polars"):
        out = clone(encoder).set_output(transform=kind).fit_transform(frame)
        assert list(out.columns) == names
        np.testing.assert_array_equal(out.to_numpy(), expected)


def test_names_of_arrays():
    encoder = zonal.SphereEncoder(1, 3).fit(ROWS)
    assert encoder.get_feature_names_out().tolist()[3:] == ["x0", "x2"]
    assert encoder.get_feature_names_out(list("abcd")).tolist()[3:] == ["a", "c"]


@pytest.mark.parametrize(
    ("latitude", "longitude"),
    [
        ("lat", "lon"),
        ("LAT", "LON"),
        ("Latitude", "Longitude"),
        ("lat_deg", "long_deg"),
        ("y_lat", "x_lng"),
        ("decimalLatitude", "decimalLongitude"),
        ("GPSLatitude", "GPSLongitude"),
        ("Latitude (°N)", "Longitude (°E)"),
        ("station.lat1", "station.lon1"),
    ],
)
def test_columns_found_by_name(latitude, longitude):
    # Words that only contain the letters are no match: platform, belong, flat, along.
    columns = ["platform", longitude, "belongs", "flat", latitude, "along_track", "translation"]
    rows = pd.DataFrame(np.zeros((2, 7)), columns=columns)
    assert zonal.SphereEncoder().fit(rows).columns_.tolist() == [4, 1]


def test_columns_by_name_and_number():
    frame = FRAME.rename(columns={"lat": "north", "lon": "east"})
    for latitude, longitude in [("north", "east"), (1, 3), (-3, np.int64(-1)), ("north", 3)]:
        encoder = zonal.SphereEncoder(latitude, longitude).fit(frame)
        assert encoder.columns_.tolist() == [1, 3]
    # A name that is given stands, whatever else looks like it.
    both = FRAME.assign(lat_of_ship=0.0)
    assert zonal.SphereEncoder("lat").fit(both).columns_.tolist() == [1, 3]


def refuse(message, rows=FRAME, **parameters):
    with pytest.raises(ValueError, match=message):
        zonal.SphereEncoder(**parameters).fit(rows)


def test_columns_not_found():
    columns = "The columns are 'time', 'lat', 'depth', 'lon'."
    refuse(
        r"latitude='auto' of SphereEncoder matches 'lat', 'start_lat'\. The columns are 'time', .*"
        "Pass the name or the number of one of them as latitude",
        FRAME.assign(start_lat=0.0),
    )
    refuse(
        r"longitude='auto' .* matches no column\. The columns .*'x'",
        FRAME.rename({"lon": "x"}, axis=1),
    )
    refuse(f"latitude='Lat' .* matches no column. {columns}", latitude="Lat")
    refuse(f"longitude=4 .* from -4 to 3. {columns}", longitude=4)
    refuse("latitude=-5 .* from -4 to 3", latitude=-5)
    refuse(f"latitude=3 and longitude='auto' .* same column. {columns}", latitude=3)
    for value in (1.0, True, None, ["lat"]):
        refuse("must be the name or the number of a column", latitude=value)


@pytest.mark.parametrize("rows", [ROWS, pd.DataFrame(ROWS), ROWS.tolist()], ids=["a", "b", "c"])
@pytest.mark.parametrize("latitude", ["auto", "lat"])
def test_arrays_have_no_names(rows, latitude):
    refuse(
        f"latitude='{latitude}' .* needs a frame with names: X has 4 columns and no names. Pass "
        "the column's number instead, such as latitude=0",
        rows,
        latitude=latitude,
    )


@pytest.mark.parametrize(
    ("column", "value", "message"),
    [
        ("lat", 120.5, r"120\.5 in row 7 .*column 'lat', is not a latitude: .* from -90 to 90"),
        ("lat", np.nextafter(-90, -91), r"-90\.0+1 in row 7 .* not a latitude"),
        ("lon", 361.0, r"361\.0 in row 7 .*column 'lon', is not a longitude: .* -180 to 360"),
        ("lon", -180.5, r"-180\.5 in row 7 .* not a longitude"),
    ],
)
def test_out_of_range(column, value, message):
    wrong = FRAME.copy()
    wrong.loc[[7, 9], column] = value
    refuse(message, wrong)
    refuse(r"swapped\?.* \(2 in all\), or pass out_of_range=\"wrap\"", wrong)
    with pytest.raises(ValueError, match=message):
        zonal.SphereEncoder().fit(FRAME).transform(wrong)


def test_out_of_range_without_names():
    refuse(
        r"in row \d+ \(counted from 0\), column 3, is not a latitude", ROWS, latitude=3, longitude=1
    )


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_wrap(dtype):
    """Turning on by any angle, which a rotation does of its own accord."""
    rows = np.random.default_rng(2).uniform(-2000, 2000, (500, 2))
    special = np.array(np.meshgrid(np.arange(-720, 721, 45), [-190, 0, 400])).reshape(2, -1).T
    rows = np.vstack([rows, special]).astype(dtype)
    encoder = zonal.SphereEncoder(0, 1, out_of_range="wrap").fit(rows)
    # An angle of 2,000° is 35 radians, whose rounding is 35 eps at most.
    expected = by_rotation(*rows.astype(np.float64).T).astype(dtype)
    atol = 100 * EPS + np.finfo(dtype).eps
    np.testing.assert_allclose(encoder.transform(rows), expected, rtol=0, atol=atol)
    huge = encoder.transform(np.array([[1e30, -1e30], [3e38, 3e38]], dtype))
    np.testing.assert_allclose(np.linalg.norm(huge, axis=1), 1, rtol=4 * np.finfo(dtype).eps)


def test_wrap_leaves_latitudes_in_range_alone():
    rows = np.column_stack([LAT, np.clip(LON, -180, 359)])
    plain, wrapped = (
        zonal.SphereEncoder(0, 1, out_of_range=choice).fit_transform(rows)
        for choice in ("error", "wrap")
    )
    np.testing.assert_array_equal(wrapped, plain)


@pytest.mark.parametrize("value", [np.nan, np.inf])
@pytest.mark.parametrize("column", list(FRAME))
def test_numbers_must_be_finite(value, column):
    wrong = FRAME.copy()
    wrong.loc[3, column] = value
    refuse("NaN|infinity", wrong)
    with pytest.raises(ValueError, match=r"NaN|infinity"):
        zonal.SphereEncoder().fit(FRAME).transform(wrong)


def test_bad_parameters():
    refuse("rest='scale' of SphereEncoder is not one of 'standardize'", rest="scale")
    refuse("out_of_range='clip' of SphereEncoder is not one of 'error'", out_of_range="clip")
    for interval in [(1.0, 0.0), (0.0, 0.0), (0.0, np.inf), (0.0,), 1.0, ("a", "b"), None]:
        refuse("interval=.* must be two finite numbers", interval=interval)
    refuse("1 feature", FRAME[["lat"]])
    with pytest.raises(TypeError, match=r"[Ss]parse"):
        zonal.SphereEncoder(0, 1).fit(sp.csr_array(ROWS))


def test_a_failed_fit_is_no_fit():
    encoder = zonal.SphereEncoder("north")
    with pytest.raises(ValueError, match="matches no column"):
        encoder.fit(FRAME)
    for method in (encoder.transform, encoder.get_feature_names_out):
        with pytest.raises(NotFittedError):
            method(FRAME)


def test_other_columns_than_those_of_fit():
    encoder = zonal.SphereEncoder().fit(FRAME)
    with pytest.raises(ValueError, match="feature names"):
        encoder.transform(FRAME[["lat", "time", "depth", "lon"]])


def test_pickle_and_save(tmp_path):
    encoder = zonal.SphereEncoder(rest="interval", interval=(-1.0, 1.0)).fit(FRAME)
    zonal.save(encoder, tmp_path / "encoder.zonal")
    for again in (pickle.loads(pickle.dumps(encoder)), zonal.load(tmp_path / "encoder.zonal")):
        np.testing.assert_array_equal(again.transform(FRAME), encoder.transform(FRAME))
        assert again.get_feature_names_out().tolist() == encoder.get_feature_names_out().tolist()


def target(lat, lon, time):
    """A polynomial of degree two in the point of the sphere and the time."""
    x, y, z = by_rotation(lat, lon).T
    return x * z + (time - 1985) / 20 * y


def exact_ridge():
    """Features of the polynomial kernel of degree 2 span all polynomials of that degree."""
    features = zonal.GegenbauerFeatures(zonal.Polynomial(2), 200, center=False, random_state=0)
    return zonal.KernelRidge(features, 1e-10)


@pytest.mark.parametrize("rest", ["standardize", "interval"])
def test_pipeline_on_a_frame(rest):
    """No error is left, as the target is in the span; in degrees it is no polynomial."""
    model = make_pipeline(zonal.SphereEncoder(rest=rest), exact_ridge())
    frame = FRAME[["time", "lat", "lon"]]
    y = target(LAT, LON, TIME)
    model.fit(frame[:150], y[:150])
    assert model.score(frame[150:], y[150:]) > 1 - 1e-8
    # West and east of the date line are one place.
    west, east = (frame.assign(lon=lon) for lon in (-180.0, 180.0))
    np.testing.assert_allclose(model.predict(west), model.predict(east), atol=1e-9)
    # By hand: rotation, then scikit-learn's own scaler.
    scaler = StandardScaler() if rest == "standardize" else MinMaxScaler()
    time = scaler.fit(TIME[:150, None]).transform(TIME[:, None])
    rows = np.hstack([by_rotation(LAT, LON), time])
    by_hand = clone(model[-1]).fit(rows[:150], y[:150])
    np.testing.assert_allclose(model.predict(frame), by_hand.predict(rows), atol=1e-6)


def test_encoder_inside_the_features_of_a_learner():
    """Names and weights of the rows arrive through the learner."""
    features = zonal.GegenbauerFeatures(zonal.Gaussian(1.0), 64, random_state=0)
    frame, y = FRAME[["time", "lat", "lon"]], target(LAT, LON, TIME)
    weights = np.random.default_rng(1).integers(0, 3, N)
    model = zonal.KernelRidge(make_pipeline(zonal.SphereEncoder(), features), 0.1)
    model.fit(frame, y, sample_weight=weights)
    chosen = np.repeat(np.arange(N), weights)
    repeated = clone(model).fit(frame.loc[chosen], y[chosen])
    np.testing.assert_allclose(model.predict(frame), repeated.predict(frame), rtol=1e-8, atol=1e-8)


def test_search_over_its_parameters():
    """Without the time, the target is out of reach."""
    search = GridSearchCV(
        make_pipeline(zonal.SphereEncoder(), exact_ridge()),
        {"sphereencoder__rest": ["drop", "standardize"]},
        cv=3,
    ).fit(FRAME[["time", "lat", "lon"]], target(LAT, LON, TIME))
    assert search.best_params_ == {"sphereencoder__rest": "standardize"}
