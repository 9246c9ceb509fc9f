"""The closed list of types that a file may hold; `test_fresh_process` compares it with files."""

import importlib
import inspect
import pkgutil

import pytest
from sklearn.base import BaseEstimator
from sklearn.model_selection import BaseCrossValidator

import zonal
from zonal.persistence.types import METHODS, MOVED, OWN, full_name, trusted_names

from .zoo import MODELS


def listed():
    return {f"zonal.{module}.{name}" for module, names in OWN.items() for name in names.split()}


@pytest.mark.parametrize("name", sorted(listed()))
def test_every_name_is_a_class(name):
    module, _, kind = name.rpartition(".")
    found = getattr(importlib.import_module(module), kind)
    assert isinstance(found, type)
    assert full_name(found) == name  # and not one from elsewhere


def estimators():
    """Yield the estimators and splitters of zonal that are no base classes."""
    for module in pkgutil.walk_packages(zonal.__path__, "zonal."):
        importlib.import_module(module.name)
    todo = [BaseEstimator, BaseCrossValidator]
    while todo:
        for kind in todo.pop().__subclasses__():
            todo.append(kind)
            if kind.__module__.startswith("zonal.") and not inspect.isabstract(kind):
                yield kind


def test_every_estimator_is_listed():
    missing = {
        full_name(kind)
        for kind in estimators()
        if full_name(kind) not in listed() and not kind.__subclasses__()
    }
    assert not missing, "say them in zonal/persistence/types.py, and make them in zoo.py"


def test_every_public_estimator_is_in_the_zoo():
    public = {
        name
        for name in zonal.__all__
        for kind in [getattr(zonal, name)]
        if isinstance(kind, type) and issubclass(kind, BaseEstimator)
    }
    assert len(public) > 35
    assert public <= {type(one.unfitted).__name__ for one in MODELS.values()}


def test_what_is_trusted_besides():
    others = trusted_names() - listed() - METHODS - MOVED
    assert "sklearn.model_selection._split.GroupKFold" in others
    assert all(
        name.startswith(("sklearn.model_selection.", "scipy.sparse._csr.")) for name in others
    )
