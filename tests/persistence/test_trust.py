"""Files made to run code: refused before anything is imported or called."""

import json
import shlex
import sys

import numpy as np
import pytest
import skops.io
from sklearn.base import BaseEstimator, TransformerMixin

import zonal

from .common import X, parts, refuse, write_parts, y


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
    model = zonal.KernelRidge(Foreign(), 0.1).fit(X, y)
    with pytest.warns(UserWarning, match=r"not trusted: \S*\.Foreign\. .*trusted=\[Foreign\]"):
        zonal.save(model, path)
    refuse(path, r"does not trust: \S*\.Foreign\. Only those of zonal, scikit-learn and NumPy")
    loaded = zonal.load(path, trusted=[Foreign])
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
    with pytest.raises(TypeError, match="'Foreign', which is not a class"):
        zonal.load(path, trusted=["Foreign"])


def test_what_could_not_be_loaded_is_not_saved(path):
    class Hidden(Foreign):
        """No name leads to it from outside of this function."""

    with pytest.raises(ValueError, match=r"was not saved, for it could not be .*Hidden is not a"):
        zonal.save(zonal.KernelRidge(Hidden(), 0.1).fit(X, y), path)
    assert not path.exists()


@pytest.mark.parametrize("name", ["zonal.persistence.checkpoint.Checkpoint", "zonal.load"])
def test_what_no_model_holds_is_refused_even_if_it_is_of_zonal(name, path):
    """Imported or not: the list is closed."""
    module, _, kind = name.rpartition(".")
    plant(path, call(module, kind, str(path)))
    refuse(path, f"does not trust: {name}")
