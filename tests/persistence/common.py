"""Rows, models and helpers of the tests of saving and loading."""

import zipfile

import numpy as np
import pytest
from sklearn.kernel_approximation import RBFSampler
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import zonal
from zonal.persistence.archive import seal

RNG = np.random.default_rng(0)
X = RNG.standard_normal((120, 3))
SPHERE = X / np.linalg.norm(X, axis=1, keepdims=True)
y = np.sin(X[:, 0]) + X[:, 1] * X[:, 2]
Y = np.column_stack([y, np.cos(X[:, 1])])
LABELS = np.array(["low", "middle", "high"])[np.digitize(y, [-0.5, 0.5])]


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


def parts(path):
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def write_parts(path, contents):
    """Write a file as someone would who knows how it is sealed."""
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in contents.items():
            archive.writestr(name, content)
    path.write_bytes(seal(path.read_bytes()))


def refuse(path, match=None, **kwargs):
    with pytest.raises(ValueError, match=match) as error:
        zonal.load(path, **kwargs)
    assert str(path) in str(error.value)
