"""Every model is saved here and loaded in a process that has imported nothing but zonal."""

import pickle
import subprocess
import sys
import textwrap
import warnings
from typing import Any, NamedTuple

import numpy as np
import pytest
import scipy.sparse as sp
import skops.io

import zonal
from zonal.persistence.types import METHODS, trusted_names

from .test_types import listed
from .zoo import MODELS, calls, checkpoints, narrow_form

# What is asked comes from the tests, by pickle, after the models are loaded.
CHILD = """
    import sys

    import zonal

    assert not [name for name in sys.modules if name.startswith("zonal.learners")]


    def cauchy(r, s, cosine):
        return 1 / (1 + (r**2 + s**2 - 2 * r * s * cosine).clip(0))


    names = [line.split() for line in open("names")]
    models = {
        name: zonal.load(name, functions={"cauchy": cauchy} if own else None)
        for name, *own in names
    }
    from zonal.persistence.types import trusted_names
    import pickle

    asked = pickle.load(open("asked", "rb"))
    answers = {
        name: [getattr(models[name], method)(*rows, **given) for method, given in asked[name][0]]
        for name, *_ in names
        for rows in [asked[name][1]]
    }
    pickle.dump((trusted_names(), answers), open("answers", "wb"))
"""


class Fresh(NamedTuple):
    """What is asked, the answers there and here, who is trusted there, what the files hold."""

    asked: dict[str, Any]
    answers: dict[str, Any]
    expected: dict[str, Any]
    trusted: set[str]
    held: set[str]


def held(path):
    """Return the names of the types of zonal in a file."""
    file = path / "model.zonal" if path.is_dir() else path
    found = skops.io.get_untrusted_types(data=file.read_bytes())
    return {name for name in found if name.startswith("zonal.")}


def numbers(found):
    """Return answers as a list of arrays."""
    if isinstance(found, tuple | list):
        return [array for one in found for array in numbers(one)]
    return [found.toarray() if sp.issparse(found) else np.asarray(found)]


@pytest.fixture(scope="module")
def fresh(tmp_path_factory):
    folder = tmp_path_factory.mktemp("models")
    asked, expected, names = {}, {}, []
    with warnings.catch_warnings():
        warnings.filterwarnings("error", "Classes of your own")
        warnings.filterwarnings("ignore", "Python functions are not saved: cauchy")
        for name, one in reversed(MODELS.items()):  # learners first, so that no map helps them
            model = one.make()
            own = " cauchy" if "cauchy" in repr(model) else ""
            zonal.save(model, folder / name)
            expected[name] = one.answers(model)
            asked[name] = calls(model), one.rows
            names.append(f"{name}{own}")
            if any(method.startswith("predict_") for method, _ in calls(model)):
                late = f"{name}-asked"  # with its calibration
                zonal.save(model, folder / late)
                expected[late], asked[late] = one.answers(model), asked[name]
                names.append(late)
    (folder / "names").write_text("\n".join(names))
    (folder / "asked").write_bytes(pickle.dumps(asked))
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(CHILD)],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    trusted, answers = pickle.loads((folder / "answers").read_bytes())
    types = set().union(*(held(folder / name.split()[0]) for name in names))
    return Fresh(asked, answers, expected, trusted, types)


def test_every_model_answers_alike(fresh):
    assert set(fresh.answers) == set(fresh.expected) >= set(MODELS)
    for name, found in fresh.answers.items():
        for (method, _), here, there in zip(
            fresh.asked[name][0], fresh.expected[name], found, strict=True
        ):
            # A calibration is a fit of its own, and its rounding depends on where arrays lie.
            digits = 1e-9 if method == "predict_interval" else 1e-12
            for one, other in zip(numbers(there), numbers(here), strict=True):
                assert (one.dtype, one.shape) == (other.dtype, other.shape), name
                if one.dtype.kind == "f":
                    size = digits * (1 + np.abs(other).max(initial=0))
                    np.testing.assert_allclose(one, other, digits, size, err_msg=name)
                else:
                    np.testing.assert_array_equal(one, other, err_msg=name)


def test_trust_does_not_depend_on_what_is_imported(fresh):
    assert fresh.trusted == trusted_names()


def test_the_list_is_what_models_hold(fresh, tmp_path):
    """A class that a model holds is listed, and one that no model holds is not."""
    found = fresh.held
    for model in [*checkpoints(), narrow_form()]:
        zonal.save(model, tmp_path / "m.zonal")
        found = found | held(tmp_path / "m.zonal")
    assert found == listed() | METHODS, "say it in zonal/persistence/types.py"
