"""A user's own functions: never saved, asked for again on loading."""

import functools
import json

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

import zonal

from .common import SPHERE, X, assert_same, features, parts, refuse, write_parts, y


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


def test_functions_that_the_header_does_not_name(path):
    with pytest.warns(UserWarning, match="kappa"):
        zonal.save(zonal.Zonal(poisson), path)
    contents = parts(path)
    header = json.loads(contents["zonal.json"])
    for names in ([], ["other"]):
        changed = json.dumps({**header, "functions": names})
        write_parts(path, {**contents, "zonal.json": changed})
        refuse(path, "damaged", functions=dict.fromkeys(names, poisson))
