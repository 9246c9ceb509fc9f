import functools
import io
import json
import os
import pickle
import shlex
import sys
import zipfile

import numpy as np
import pandas as pd
import pytest
import skops.io
from scipy.special import i0
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.compose import ColumnTransformer
from sklearn.exceptions import NotFittedError
from sklearn.kernel_approximation import RBFSampler
from sklearn.linear_model import Ridge
from sklearn.model_selection import GroupKFold, KFold, RepeatedKFold, ShuffleSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler

import zonal

RNG = np.random.default_rng(0)
X = RNG.standard_normal((120, 3))
SPHERE = X / np.linalg.norm(X, axis=1, keepdims=True)
y = np.sin(X[:, 0]) + X[:, 1] * X[:, 2]
Y = np.column_stack([y, np.cos(X[:, 1])])
LABELS = np.array(["low", "middle", "high"])[np.digitize(y, [-0.5, 0.5])]


@pytest.fixture
def path(tmp_path):
    folder = tmp_path / "models"  # of its own, so that tests can list what is in it
    folder.mkdir()
    return folder / "model.zonal"


def again(model, path, **kwargs):
    zonal.save(model, path)
    return zonal.load(path, **kwargs)


def assert_same(actual, expected):
    """Equal to the last bit, types included."""
    assert type(actual) is type(expected)
    if isinstance(expected, tuple | list):
        assert len(actual) == len(expected)
        for one, other in zip(actual, expected, strict=True):
            assert_same(one, other)
    elif isinstance(expected, dict):
        assert list(actual) == list(expected)
        assert_same(list(actual.values()), list(expected.values()))
    elif isinstance(expected, np.ndarray):
        assert (actual.dtype, actual.shape) == (expected.dtype, expected.shape)
        assert actual.tolist() == expected.tolist()
    else:
        assert actual == expected


def features(kernel=None, **kwargs):
    kernel = zonal.Gaussian(2.0) if kernel is None else kernel
    return zonal.GegenbauerFeatures(
        kernel, **{"n_components": 40, "max_degree": 6, "random_state": 0, **kwargs}
    )


def pipeline():
    return make_pipeline(StandardScaler(), RBFSampler(n_components=30, random_state=0))


def ridge_output(model, rows):
    return model.predict(rows), model.coef_, model.intercept_, model.alpha_, model.cv_results_


def classifier_output(model, rows):
    return (
        model.predict(rows),
        model.predict_proba(rows),
        model.decision_function(rows),
        model.classes_,
    )


def kmeans_output(model, rows):
    return model.predict(rows), model.transform(rows), model.labels_, model.inertia_


def pca_output(model, rows):
    return model.transform(rows), model.eigenvalues_, model.explained_variance_ratio_


def cca_output(model, rows):
    return model.transform(rows, rows**2), model.correlations_


def process_output(model, rows):
    return (
        model.predict(rows, return_std=True),
        model.sample_y(rows, 2),
        model.noise_,
        model.log_evidence_,
    )


# Model, targets, what it gives for rows.
LEARNERS = {
    "ridge": (lambda: zonal.KernelRidge(features(), 0.1), y, ridge_output),
    "ridge of two targets": (lambda: zonal.KernelRidge(features(), 0.1), Y, ridge_output),
    "ridge, cv": (lambda: zonal.KernelRidge(features(), cv=3), y, ridge_output),
    "ridge, cv, two targets": (lambda: zonal.KernelRidge(features()), Y, ridge_output),
    "ridge, automatic": (lambda: zonal.KernelRidge(budget=30, random_state=0), y, ridge_output),
    "ridge, sampler": (
        lambda: zonal.KernelRidge(RBFSampler(n_components=30, random_state=0), 0.1),
        y,
        ridge_output,
    ),
    "ridge, harmonic": (
        lambda: zonal.KernelRidge(zonal.HarmonicFeatures(zonal.Matern(), 30), 0.1),
        y,
        ridge_output,
    ),
    "ridge, pipeline": (lambda: zonal.KernelRidge(pipeline()), y, ridge_output),
    "ridge, own pipeline": (
        lambda: zonal.KernelRidge(make_pipeline(FunctionTransformer(np.tanh), features())),
        y,
        ridge_output,
    ),
    "ridge, encoder": (
        lambda: zonal.KernelRidge(make_pipeline(zonal.SphereEncoder(0, 1), features())),
        y,
        ridge_output,
    ),
    "ridge, learned metric": (
        lambda: zonal.KernelRidge(
            make_pipeline(zonal.LearnedMetric(n_components=40, random_state=0), features())
        ),
        y,
        ridge_output,
    ),
    "classifier": (lambda: zonal.KernelRidgeClassifier(features()), LABELS, classifier_output),
    "classifier, objects": (
        lambda: zonal.KernelRidgeClassifier(features(), 0.1),
        LABELS.astype(object),
        classifier_output,
    ),
    "classifier, numbers": (
        lambda: zonal.KernelRidgeClassifier(pipeline(), 0.1),
        (y > 0).astype(np.int32),
        classifier_output,
    ),
    "k-means": (lambda: zonal.KernelKMeans(features(), 3, random_state=0), None, kmeans_output),
    "pca": (lambda: zonal.KernelPCA(features(), 3), None, pca_output),
    "cca": (lambda: zonal.KernelCCA(features(), 2), X**2, cca_output),
    "cca, two transformers": (
        lambda: zonal.KernelCCA((features(), pipeline()), 2),
        X**2,
        cca_output,
    ),
    "process": (lambda: zonal.GaussianProcess(features()), y, process_output),
    "process, harmonic": (
        lambda: zonal.GaussianProcess(
            zonal.HarmonicFeatures(zonal.Gaussian(2.0), 30, reduce="pca", reduced_dim=2)
        ),
        y,
        process_output,
    ),
    "process of two targets": (lambda: zonal.GaussianProcess(features(), 0.1), Y, process_output),
}
learners = pytest.mark.parametrize(("make", "target", "output"), LEARNERS.values(), ids=LEARNERS)


@learners
@pytest.mark.parametrize("dtype", [np.float32, np.float64], ids=["float32", "float64"])
def test_learners_come_back_to_the_bit(make, target, output, dtype, path):
    rows = X.astype(dtype)
    model = make().fit(rows, target)
    expected = output(model, rows)
    loaded = again(model, path)
    assert type(loaded) is type(model)
    assert_same(output(loaded, rows), expected)
    assert_same(output(model, rows), expected)  # to save changes nothing


@learners
@pytest.mark.parametrize("dtype", [np.float32, np.float64], ids=["float32", "float64"])
def test_partial_fit_continues(make, target, output, dtype, path):
    rows = X.astype(dtype)
    target = np.zeros(len(X)) if target is None else target
    extra = {"classes": np.unique(target)} if hasattr(make(), "predict_proba") else {}
    model, untouched = (make().partial_fit(rows[:70], target[:70], **extra) for _ in range(2))
    loaded = again(model, path)
    for one in (loaded, model, untouched):
        one.partial_fit(rows[70:100], target[70:100])
    loaded = again(loaded, path)
    for one in (loaded, model, untouched):
        one.partial_fit(rows[100:], target[100:])
    assert_same(output(loaded, rows), output(untouched, rows))
    assert_same(output(model, rows), output(untouched, rows))


@learners
def test_unfitted_learners(make, target, output, path):
    loaded = again(make(), path)
    assert repr(loaded) == repr(make())
    with pytest.raises(NotFittedError):
        output(loaded, X)
    assert_same(output(loaded.fit(X, target), X), output(make().fit(X, target), X))


KERNELS = {
    "gaussian": zonal.Gaussian(2.0),
    "gaussian by name": "gaussian",
    "median": zonal.Gaussian("median"),
    "exponential": zonal.Exponential(2.0),
    "polynomial": zonal.Polynomial(3, gamma=0.5),
    "dot product": zonal.DotProduct(np.cosh),
    "dot product with its series": zonal.DotProduct(np.square, taylor=[0.0, 0.0, 1.0]),
    "arc-cosine 0": zonal.ArcCosine(0),
    "arc-cosine 1": zonal.ArcCosine(1),
    "arc-cosine 2": zonal.ArcCosine(2),
    "ntk": zonal.NTK(2),
    "zonal": zonal.Zonal(np.exp),
    "zonal of scipy": zonal.Zonal(i0),
    "sum": zonal.Gaussian(2.0) + zonal.NTK(1),
    "product": zonal.Gaussian(2.0) * zonal.Polynomial(2),
    "multiple": 2 * zonal.Exponential(2.0),
    "nested": 0.5 * (zonal.Gaussian(2.0) + zonal.Exponential(3.0) * zonal.Polynomial(1)),
    "expansion": zonal.Gaussian(2.0).expand(dim=3, max_degree=5, n_radial=3),
    "expansion on the sphere": zonal.NTK(1).expand(dim=3, max_degree=5, radii=[1.0, 1.0]),
    # A fixed term in a sum keeps a bound method of the expansion.
    "sum with an expansion": zonal.Gaussian(2.0).expand(dim=3, max_degree=5, n_radial=2)
    + zonal.Gaussian(1.0),
}


@pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64], ids=["float32", "float64"])
@pytest.mark.parametrize("on_sphere", [True, False], ids=["sphere", "space"])
def test_features_come_back_to_the_bit(kernel, dtype, on_sphere, path):
    # A kernel that is on the sphere only has the same rows twice.
    rows = (SPHERE if on_sphere or isinstance(kernel, zonal.Zonal) else X).astype(dtype)
    model = features(kernel).fit(rows)
    loaded = again(model, path)
    for one in (rows, SPHERE[:5], SPHERE[:5].astype(np.float32)):
        assert_same(loaded.transform(one), model.transform(one))
        assert_same(loaded.kernel_diag(one), model.kernel_diag(one))
    assert_same(loaded.expansion_(rows), model.expansion_(rows))
    assert_same(loaded.get_feature_names_out(), model.get_feature_names_out())
    unfitted = again(features(kernel), path)
    assert_same(unfitted.fit(rows).transform(rows), model.transform(rows))


@pytest.mark.parametrize("name", [name for name in KERNELS if name != "gaussian by name"])
def test_kernels_alone(name, path):
    kernel = KERNELS[name]
    loaded = again(kernel, path)
    assert repr(loaded) == repr(kernel)
    if name != "median":  # which has no values yet
        assert_same(loaded(SPHERE), kernel(SPHERE))
        assert_same(loaded.diag(SPHERE), kernel.diag(SPHERE))
        assert_same(loaded.expand(3)(SPHERE), kernel.expand(3)(SPHERE))


@pytest.mark.parametrize("scheme", ["iid", "orthogonal", "sobol", "fibonacci"])
@pytest.mark.parametrize("width", [40, 41], ids=["even", "uneven"])
def test_directions(scheme, width, path):
    model = features(n_components=width, n_radial=2, directions=scheme).fit(X)
    if scheme == "fibonacci":
        assert len(model._groups) == (2 if width == 41 else 1)
    loaded = again(model, path)
    assert_same(loaded.transform(X), model.transform(X))
    assert_same(loaded.directions_, model.directions_)


@pytest.mark.parametrize("center", [True, False, [1.0, 2.0, 3.0], np.ones(3)], ids=str)
def test_centers(center, path):
    model = features(center=center).fit(X)
    assert_same(again(model, path).transform(X), model.transform(X))


def test_one_column(path):
    column = X[:, :1]
    model = features(n_components=7, n_radial=3).fit(column)
    assert_same(again(model, path).transform(column), model.transform(column))


def test_frames(path):
    frame = pd.DataFrame(X, columns=["a", "b", "c"]).assign(kind=LABELS)
    columns = ColumnTransformer([("f", features(), ["a", "b"]), ("k", OneHotEncoder(), ["kind"])])
    model = zonal.KernelRidge(columns, 0.1).fit(frame, y)
    loaded = again(model, path)
    assert_same(ridge_output(loaded, frame), ridge_output(model, frame))
    assert_same(loaded.feature_names_in_, model.feature_names_in_)
    with pytest.raises(ValueError, match="feature names"):
        loaded.predict(frame.rename(columns={"a": "z"}))


@pytest.mark.parametrize(
    "cv", [KFold(3), ShuffleSplit(2, random_state=0), RepeatedKFold(n_splits=2, n_repeats=2)]
)
def test_splitters(cv, path):
    model = zonal.KernelRidge(features(), cv=cv).fit(X, y)
    loaded = again(model, path)
    assert repr(loaded.cv) == repr(cv)
    assert_same(ridge_output(loaded, X), ridge_output(model, X))


def test_splits_given_as_rows(path):
    splits = list(GroupKFold(3).split(X, groups=np.arange(120) // 10))
    model = zonal.KernelRidge(features(), cv=splits, alphas=np.geomspace(0.1, 1, 3)).fit(X, y)
    loaded = again(model, path)
    assert_same(loaded.cv, splits)
    assert_same(ridge_output(loaded.fit(X, y), X), ridge_output(model, X))


def test_the_state_of_a_random_state_is_kept(path):
    random_state = np.random.RandomState(0)
    random_state.standard_normal(17)
    loaded = again(features(random_state=random_state), path)
    expected = features(random_state=random_state).fit_transform(X)
    assert_same(loaded.fit_transform(X), expected)


def test_paths_may_be_strings(path):
    zonal.save(zonal.Gaussian(3.0), str(path))
    assert zonal.load(str(path)).bandwidth == 3.0
    zonal.save(zonal.Gaussian(4.0), path)  # over the old file
    assert zonal.load(path).bandwidth == 4.0


def kappa_with_a_secret(t):
    secret = "xyzzy-plugh"
    return np.exp(t) if secret else t


def bell(radii):
    h = np.zeros((len(radii), 3, 2))
    h[:, :, 0] = np.exp(-np.square(radii))[:, None]
    h[:, 1, 1] = radii
    return h


class Power:
    """A callable object, which `clone` copies; it has a function of its own inside."""

    def __init__(self, base):
        self.base = np.array(base)
        self.inner = lambda t: t

    def __call__(self, t):
        return np.power(self.base, self.inner(t))

    def method(self, t):
        return self(t)


def power(base, t):
    return np.power(base, t)


poisson = lambda t: 0.75 / (1.25 - t) ** 1.5  # noqa: E731 - what users write
cube = functools.partial(power, 3.0)
of_numbers = np.frompyfunc(lambda t: 2.0**t, 1, 1)


FUNCTIONS = {
    "lambda in DotProduct": (zonal.DotProduct(lambda t: np.exp(t)), ["kappa"]),
    "function in DotProduct": (zonal.DotProduct(kappa_with_a_secret), ["kappa_with_a_secret"]),
    "lambda in Zonal": (zonal.Zonal(poisson), ["kappa"]),
    "function in a generalized zonal kernel": (
        zonal.GeneralizedZonalKernel(3, bell, max_degree=2, n_radial=2),
        ["bell"],
    ),
    "in a sum with an expansion": (
        zonal.GeneralizedZonalKernel(3, bell, max_degree=2, n_radial=2) + zonal.Gaussian(2.0),
        ["bell"],
    ),
    "partial": (zonal.DotProduct(cube), ["kappa"]),
    "partial of a lambda": (
        zonal.DotProduct(functools.partial(lambda t, a: a * np.exp(t), a=np.float64(2.0))),
        ["kappa"],
    ),
    "object": (zonal.DotProduct(Power(2.0)), ["kappa"]),
    "method": (zonal.DotProduct(Power(2.0).method), ["method"]),
    "two lambdas": (
        zonal.DotProduct(lambda t: np.exp(t)) + zonal.DotProduct(lambda t: np.cosh(t)),
        ["kappa", "kappa2"],
    ),
    "one lambda twice": (zonal.Zonal(poisson) + 2 * zonal.Zonal(poisson), ["kappa"]),
    "two partials": (
        zonal.DotProduct(cube) + zonal.DotProduct(functools.partial(power, 2.0)),
        ["kappa", "kappa2"],
    ),
}


def functions_of(kernel):
    """The functions in a kernel, in the order of its attributes."""
    if hasattr(kernel, "k1"):
        return functions_of(kernel.k1) + functions_of(kernel.k2)
    if hasattr(kernel, "kernel"):
        return functions_of(kernel.kernel)
    function = getattr(kernel, "kappa", getattr(kernel, "radial", None))
    return [] if function is None else [function]


@pytest.mark.parametrize(("kernel", "names"), FUNCTIONS.values(), ids=FUNCTIONS)
@pytest.mark.parametrize("kind", ["kernel", "features", "learner"])
def test_functions_are_asked_for_again(kernel, names, kind, path):
    if kind == "kernel":
        model, output = kernel, lambda model: model(SPHERE)
    elif kind == "features":
        model, output = features(kernel).fit(SPHERE), lambda model: model.transform(SPHERE)
    else:
        model = zonal.KernelRidge(features(kernel), 0.1).fit(SPHERE, y)

        def output(model):  # fitted anew, so that the unfitted parts need the functions too
            return model.predict(SPHERE), model.fit(SPHERE, y).predict(SPHERE)

    expected = output(model)
    with pytest.warns(UserWarning, match=f"not saved: {', '.join(names)}\\. ") as caught:
        zonal.save(model, path)
    assert [warning.filename for warning in caught] == [__file__]
    assert_same(output(model), expected)  # the model still has its functions
    functions = dict(zip(names, functions_of(kernel), strict=False))
    for wrong in (None, {}, {"f": np.exp}, {**functions, "f": np.exp}):
        with pytest.raises(ValueError, match="needs the functions") as error:
            zonal.load(path, wrong)
        assert str(path) in str(error.value)
        assert str(sorted(names)) in str(error.value)
    loaded = zonal.load(path, functions)
    assert_same(output(loaded), expected)
    if kind == "kernel":
        for given, found in zip(functions.values(), functions_of(loaded), strict=False):
            assert given is found


def test_the_names_that_the_warning_gives_are_those_that_load_takes(path):
    call = r"zonal\.load\(path, functions=\{'kappa': \.\.\., 'kappa2': \.\.\.\}\)"
    with pytest.warns(UserWarning, match=call):
        zonal.save(FUNCTIONS["two lambdas"][0], path)


def test_other_functions_may_be_given(path):
    with pytest.warns(UserWarning, match="kappa"):
        zonal.save(zonal.Zonal(poisson), path)
    assert_same(zonal.load(path, {"kappa": np.exp})(SPHERE), zonal.Zonal(np.exp)(SPHERE))


def test_ufuncs_made_of_python_functions_are_not_saved(path):
    with pytest.warns(UserWarning, match="not saved: kappa"):
        zonal.save(zonal.Zonal(of_numbers), path)
    assert zonal.load(path, {"kappa": of_numbers}).kappa is of_numbers


def test_functions_of_transformers(path):
    model = zonal.KernelRidge(
        make_pipeline(FunctionTransformer(lambda rows: rows * 2), features()), 0.1
    ).fit(X, y)
    with pytest.warns(UserWarning, match="not saved: func"):
        zonal.save(model, path)
    loaded = zonal.load(path, {"func": lambda rows: rows * 2})
    assert_same(loaded.predict(X), model.predict(X))


def test_no_code_is_in_the_file(path):
    assert "xyzzy-plugh" in kappa_with_a_secret.__code__.co_consts
    with pytest.warns(UserWarning, match="kappa_with_a_secret"):
        zonal.save(features(zonal.DotProduct(kappa_with_a_secret)).fit(X), path)
    for content in parts(path).values():
        for trace in (b"xyzzy", b"plugh", kappa_with_a_secret.__code__.co_code):
            assert trace not in content


def test_nothing_is_warned_of_without_functions(path, recwarn):
    zonal.save(zonal.KernelRidge(features(zonal.Zonal(np.exp)), 0.1).fit(SPHERE, y), path)
    assert not recwarn.list


def parts(path):
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def write_parts(path, contents):
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in contents.items():
            archive.writestr(name, content)


def refuse(path, match=None, **kwargs):
    with pytest.raises(ValueError, match=match) as error:
        zonal.load(path, **kwargs)
    assert str(path) in str(error.value)


class Marker:
    """Creates a file when it is unpickled."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return open, (str(self.path), "w")


BAD = {
    "empty": b"",
    "text": b"not a model\n" * 100,
    "random": np.random.default_rng(0).bytes(5000),
    "only the magic number of a zip": b"PK\x03\x04",
    "only the magic number of an empty zip": b"PK\x05\x06",
    "an empty zip": b"PK\x05\x06" + bytes(18),
    "json": json.dumps({"format": 1, "functions": []}).encode(),
}


@pytest.mark.parametrize("content", BAD.values(), ids=BAD)
def test_other_files(content, path):
    path.write_bytes(content)
    refuse(path, "not a model saved by zonal.save")


def test_paths_without_a_file(path):
    with pytest.raises(FileNotFoundError, match=path.name):
        zonal.load(path)
    with pytest.raises(IsADirectoryError, match=path.parent.name):
        zonal.load(path.parent)


def test_pickles_are_not_run(path, tmp_path):
    marker = tmp_path / "marker"
    content = pickle.dumps(Marker(marker))
    path.write_bytes(content)
    refuse(path, "not a model")
    write_parts(path, {"model.pkl": content})
    refuse(path, "not a model")
    # Where arrays belong: skops must not let NumPy unpickle.
    array = io.BytesIO()
    np.save(array, np.array([Marker(marker)], dtype=object), allow_pickle=True)
    zonal.save(features().fit(X), path)
    contents = parts(path)
    assert any(name.endswith(".npy") for name in contents)
    for payload in (array.getvalue(), content):
        write_parts(path, {k: payload if k.endswith(".npy") else v for k, v in contents.items()})
        refuse(path, "can not be loaded")
    assert not marker.exists()
    pickle.loads(content).close()
    assert marker.exists()  # it would have been seen


def test_other_zips(path):
    write_parts(path, {"readme.txt": b"hello", "data.csv": b"1,2,3"})
    refuse(path, "not a model")
    write_parts(path, {"zonal.json": b'{"format": 1, "version": "0.1.0", "functions": []}'})
    refuse(path, "can not be loaded")
    skops.io.dump(Ridge().fit(X, y), path)
    refuse(path, "not a model")


def test_truncated_files(path):
    zonal.save(features().fit(X), path)
    content = path.read_bytes()
    for length in [*range(0, len(content), 509), len(content) - 30, len(content) - 1]:
        path.write_bytes(content[:length])
        refuse(path)


def test_a_flipped_byte(path):
    model = features().fit(X)
    zonal.save(model, path)
    content = bytearray(path.read_bytes())
    position = content.index(model.directions_[7].tobytes())
    content[position + 3] ^= 1
    path.write_bytes(content)
    refuse(path, r"damaged: its part .*\.npy does not match its checksum")


def test_every_flipped_byte_is_found_or_does_not_matter(path):
    """Those that do not matter are times and permissions of parts in the archive."""
    zonal.save(zonal.Gaussian(1.2345), path)
    content = path.read_bytes()
    refused = 0
    for position in range(len(content)):
        damaged = bytearray(content)
        damaged[position] ^= 0xFF
        path.write_bytes(damaged)
        try:
            assert repr(zonal.load(path)) == "Gaussian(bandwidth=1.2345)"
        except ValueError as error:
            assert str(path) in str(error)  # noqa: PT017 - either is right
            refused += 1
    assert refused > 0.8 * len(content)


def test_newer_formats(path):
    zonal.save(zonal.Gaussian(), path)
    header = json.dumps({"format": 2, "version": "9.8.7", "functions": [], "more": 1})
    write_parts(path, {**parts(path), "zonal.json": header})
    refuse(path, r"saved by a newer zonal \(9\.8\.7, format 2\).*Upgrade")


@pytest.mark.parametrize(
    "header",
    [
        b"",
        b"not json",
        b"\xff\xfe",
        b"null",
        b"1",
        b"[]",
        b'"text"',
        b"{}",
        b'{"format": 1}',
        b'{"functions": []}',
        b'{"format": null, "functions": []}',
        b'{"format": "one", "functions": []}',
        b'{"format": [1], "functions": []}',
        b'{"format": 1e999, "functions": []}',
        b'{"format": NaN, "functions": []}',
        b'{"format": 1, "functions": 5}',
        b'{"format": 1, "functions": null}',
        b"[" * 100_000,
    ],
    ids=lambda header: header.decode("latin-1")[:40],
)
def test_damaged_headers(header, path):
    zonal.save(zonal.Gaussian(), path)
    write_parts(path, {**parts(path), "zonal.json": header})
    refuse(path, "not a model")


def test_functions_that_the_header_does_not_name(path):
    with pytest.warns(UserWarning, match="kappa"):
        zonal.save(zonal.Zonal(poisson), path)
    contents = parts(path)
    header = json.loads(contents["zonal.json"])
    for names in ([], ["other"]):
        changed = json.dumps({**header, "functions": names})
        write_parts(path, {**contents, "zonal.json": changed})
        refuse(path, "damaged", functions=dict.fromkeys(names, poisson))


@pytest.mark.parametrize(
    "schema",
    [b"", b"not json", b"[]", b"{}", b'{"__loader__": "Unknown", "protocol": 2}', b"[" * 100_000],
    ids=lambda schema: schema.decode()[:30],
)
def test_damaged_schemas(schema, path):
    zonal.save(zonal.Gaussian(), path)
    write_parts(path, {**parts(path), "schema.json": schema})
    refuse(path, "can not be loaded")


def test_lost_arrays(path):
    zonal.save(features().fit(X), path)
    write_parts(path, {k: v for k, v in parts(path).items() if not k.endswith(".npy")})
    refuse(path, "can not be loaded")


def test_things_that_are_not_models(path):
    with zipfile.ZipFile(io.BytesIO(skops.io.dumps({"a": [1, 2]}))) as archive:
        schema = archive.read("schema.json")
    zonal.save(zonal.Gaussian(), path)
    write_parts(path, {**parts(path), "schema.json": schema})
    refuse(path, "holds a dict, not a model")


def plant(path, node):
    """A valid file of a kernel, with another node in place of its function."""
    zonal.save(zonal.Zonal(np.exp), path)
    contents = parts(path)
    schema = json.loads(contents["schema.json"])
    assert schema["content"]["content"]["kappa"]["__class__"] == "exp"
    schema["content"]["content"]["kappa"] = node
    write_parts(path, {**contents, "schema.json": json.dumps(schema)})


def text(value):
    return {
        "__class__": "str",
        "__module__": "builtins",
        "__loader__": "JsonNode",
        "content": json.dumps(value),
        "is_json": True,
    }


def call(module, name, *arguments):
    """A node that calls a function when it is loaded."""
    content = {
        "__class__": "tuple",
        "__module__": "builtins",
        "__loader__": "TupleNode",
        "content": [text(argument) for argument in arguments],
    }
    return {
        "__class__": name,
        "__module__": module,
        "__loader__": "ConstructorFromReduceNode",
        "content": content,
    }


@pytest.mark.parametrize(
    ("module", "name"),
    [("os", "system"), ("builtins", "eval"), ("subprocess", "Popen"), ("zonal", "load")],
)
@pytest.mark.parametrize("loader", ["FunctionNode", "TypeNode", "ObjectNode"])
def test_functions_that_are_not_trusted(module, name, loader, path):
    plant(path, {"__class__": name, "__module__": module, "__loader__": loader})
    refuse(path, f"does not trust: {module}.{name}.*nothing was")


@pytest.mark.parametrize("kind", ["os.system", "builtins.eval", "builtins.open"])
def test_calls_are_not_run(kind, path, tmp_path):
    marker = tmp_path / "marker"
    argument = {
        "os.system": f"touch {shlex.quote(str(marker))}",
        "builtins.eval": f"open({str(marker)!r}, 'w').close()",
        "builtins.open": str(marker),
    }[kind]
    module, name = kind.split(".")
    plant(path, call(module, name, argument, *(["w"] if name == "open" else [])))
    refuse(path, f"does not trust: {kind}")
    assert not marker.exists()
    skops.io.load(path, trusted=[kind, "zonal.kernels.zonal.Zonal"])
    assert marker.exists()  # it would have been seen


def test_modules_are_not_imported(path, tmp_path, monkeypatch):
    (tmp_path / "unwanted_module.py").write_text("def function(t): return t\n")
    monkeypatch.syspath_prepend(tmp_path)
    node = {"__class__": "function", "__module__": "unwanted_module", "__loader__": "FunctionNode"}
    plant(path, node)
    refuse(path, "does not trust: unwanted_module.function")
    assert "unwanted_module" not in sys.modules


class Foreign(TransformerMixin, BaseEstimator):
    def fit(self, X, y=None):
        return self

    def transform(self, X):
        return X


def test_foreign_classes(path):
    zonal.save(zonal.KernelRidge(Foreign(), 0.1).fit(X, y), path)
    refuse(path, r"does not trust: \S*\.Foreign\. Only those of zonal, scikit-learn and NumPy")


@pytest.mark.parametrize("step", ["fsync", "replace"])
@pytest.mark.parametrize("error", [OSError("disk full"), KeyboardInterrupt()], ids=repr)
@pytest.mark.parametrize("old", [True, False], ids=["over a file", "new"])
def test_a_crash_leaves_the_old_file(step, error, old, path, monkeypatch):
    if old:
        zonal.save(zonal.Gaussian(1.0), path)
    before = path.read_bytes() if old else None

    def crash(*args):
        # The new file is being written elsewhere at this moment.
        assert len(os.listdir(path.parent)) == 1 + old
        raise error

    monkeypatch.setattr(os, step, crash)
    with pytest.raises(type(error)):
        zonal.save(features().fit(X), path)
    monkeypatch.undo()
    assert os.listdir(path.parent) == ([path.name] if old else [])
    if old:
        assert path.read_bytes() == before
        assert zonal.load(path).bandwidth == 1.0


def test_a_model_that_can_not_be_written_leaves_the_old_file(path):
    zonal.save(zonal.Gaussian(1.0), path)
    with pytest.raises(Exception, match="generator"):
        zonal.save(zonal.KernelRidge(features(), alphas=(a for a in [1.0])), path)
    assert zonal.load(path).bandwidth == 1.0
    assert os.listdir(path.parent) == [path.name]


def test_no_other_file_is_left(path):
    for _ in range(2):
        zonal.save(zonal.Gaussian(), path)
        assert os.listdir(path.parent) == [path.name]


def test_permissions_are_those_of_any_file(path):
    zonal.save(zonal.Gaussian(), path)
    other = path.with_name("other")
    other.write_bytes(b"")
    assert path.stat().st_mode == other.stat().st_mode


def test_folders(path):
    with pytest.raises(FileNotFoundError, match=r"model\.zonal can not be written: .*no folder"):
        zonal.save(zonal.Gaussian(), path.parent / "missing" / "model.zonal")
    with pytest.raises(IsADirectoryError):
        zonal.save(zonal.Gaussian(), path.parent)
    assert os.listdir(path.parent) == []
    assert os.listdir(path.parent.parent) == [path.parent.name]


@pytest.mark.parametrize("thing", [None, 3, "model", [zonal.Gaussian()], np.ones(3), np.exp])
def test_only_estimators_are_saved(thing, path):
    with pytest.raises(TypeError, match="is not a kernel, a features object or a learner"):
        zonal.save(thing, path)
    assert not path.exists()


def test_without_skops(path, monkeypatch):
    zonal.save(zonal.Gaussian(), path)
    monkeypatch.setitem(sys.modules, "skops", None)
    monkeypatch.setitem(sys.modules, "skops.io", None)
    with pytest.raises(ImportError, match=r"pip install 'zonal\[save\]'"):
        zonal.save(zonal.Gaussian(), path)
    with pytest.raises(ImportError, match=r"pip install 'zonal\[save\]'"):
        zonal.load(path)


@pytest.mark.parametrize(
    "baseline",
    [
        zonal.FourierFeatures(n_components=9, random_state=0),
        zonal.FourierFeatures(n_components=8, orthogonal=True, random_state=0),
        zonal.ModifiedFourierFeatures(n_components=8, random_state=0),
        zonal.FastFoodFeatures(n_components=8, random_state=0),
        zonal.MaclaurinFeatures(n_components=8, random_state=0),
        zonal.PolySketchFeatures(n_components=40, random_state=0),
        zonal.PolySketchFeatures(zonal.Polynomial(4), 30, base_sketch="srht", random_state=0),
        zonal.NystroemFeatures(n_components=8, random_state=0),
        zonal.NystroemFeatures(zonal.NTK(), 8, sampling="rpcholesky", random_state=0),
    ],
    ids=repr,
)
def test_baselines_come_back_to_the_bit(baseline, tmp_path):
    rows = np.random.default_rng(0).standard_normal((60, 5))
    expected = baseline.fit(rows).transform(rows)
    zonal.save(baseline, tmp_path / "map.zonal")
    np.testing.assert_array_equal(zonal.load(tmp_path / "map.zonal").transform(rows), expected)
