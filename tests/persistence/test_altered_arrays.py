"""Indices, sizes and tables of a file are checked before compiled code follows them.

`tests/properties/altered.py` alters files at random, in child processes; these are the places that
are known, refused in this process.
"""

import json
import zipfile
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
import skops.io

import zonal
from zonal.engines.distances import direct_distances
from zonal.engines.interpolation import interpolate
from zonal.engines.products import multiply_columns
from zonal.features.baselines.sketch_tree import hash_products
from zonal.kriging.neighbors import Nearest
from zonal.persistence import FORMAT

from .common import X, features, refuse, write_parts, y


def forge(model, path):
    """Write a file that `zonal.save` would not write."""
    skops.io.dump(model, path)
    with zipfile.ZipFile(path) as archive:
        contents = {name: archive.read(name) for name in archive.namelist()}
    header = {"format": FORMAT, "version": "0.0", "functions": []}
    write_parts(path, {**contents, "zonal.json": json.dumps(header)})


def with_entry(array, value, place=-1):
    new = array.copy()
    new.flat[place] = value
    return new


def harmonic():
    return zonal.HarmonicFeatures(zonal.Matern(1.5), 40).fit(X)


PROGRAM = {
    "offsets too large": lambda p: {"offsets": p.offsets + 1000},
    "an offset below zero": lambda p: {"offsets": with_entry(p.offsets, -5, 1)},
    "counts too large": lambda p: {"counts": with_entry(p.counts, 1 << 40)},
    "a count below zero": lambda p: {"counts": with_entry(p.counts, -1)},
    "a count that is not its columns": lambda p: {"counts": with_entry(p.counts, 2)},
    "a column beyond the rows": lambda p: {"steps": with_entry(p.steps, 17, 0)},
    "a step beyond the columns": lambda p: {"steps": with_entry(p.steps, 39, 1)},
    "more that is left out than there is": lambda p: {"steps": with_entry(p.steps, 30, 5)},
    "a too short": lambda p: {"a": p.a[:5]},
    "b of words": lambda p: {"b": np.full(p.b.shape, "b")},
    "a scale that is none": lambda p: {"scale": None},
    "dim beyond all": lambda p: {"dim": 1 << 40},
    "dim of a word": lambda p: {"dim": "3"},
}


@pytest.mark.parametrize("change", PROGRAM.values(), ids=PROGRAM)
def test_harmonic_programs(change, path):
    model = harmonic()
    model._program = replace(model._program, **change(model._program))
    forge(model, path)
    refuse(path, "damaged: .*HarmonicProgram")
    with pytest.raises(ValueError, match=r"was not saved.*damaged: .*HarmonicProgram"):
        zonal.save(model, path.with_name("other"))


def test_another_object_in_the_place_of_a_program(path):
    """Any object of a file may have any attributes, and would not be checked as a program."""
    model, impostor = harmonic(), zonal.Gaussian(1.0)
    vars(impostor).update(vars(model._program), offsets=model._program.offsets + 1000)
    model._program = impostor
    forge(model, path)
    refuse(path, "_program of its HarmonicFeatures is Gaussian, not HarmonicProgram")


def test_objects_in_arrays_are_checked_too(path):
    model = features().fit(X)
    model._groups[0].counts = np.array([10**6])
    model._groups = np.array(model._groups, dtype=object)
    forge(model, path)
    refuse(path, "counts of its DirectionGroup")


ALTERED = {
    "modes": (
        harmonic,
        lambda m: vars(m).update(_blocks=m._blocks + 1),
        "the modes of its HarmonicFeatures disagree",
    ),
    "nodes of functions": (
        harmonic,
        lambda m: vars(m._functions).update(nodes=m._functions.nodes[:-1]),
        "weights of its ModeFunctions is an array",
    ),
    "a table of functions": (
        harmonic,
        lambda m: vars(m._functions).update(table=m._functions.table[:, :2]),
        "table of its ModeFunctions is an array",
    ),
    "counts of directions": (
        lambda: features().fit(X),
        lambda m: vars(m._groups[0]).update(counts=m._groups[0].counts * 2),
        "counts of its DirectionGroup has numbers from",
    ),
    "permutations": (
        lambda: zonal.FastFoodFeatures(n_components=20, random_state=0).fit(X),
        lambda m: vars(m).update(permutations_=with_entry(m.permutations_, 1000)),
        "permutations_ of its FastFoodFeatures has numbers from 0 to 1000",
    ),
    "signs": (
        lambda: zonal.FastFoodFeatures(n_components=20, random_state=0).fit(X),
        lambda m: vars(m).update(signs_=m.signs_[:, :1]),
        "signs_ of its FastFoodFeatures is an array",
    ),
    "widths": (
        lambda: zonal.HashingFeatures(n_components=20, random_state=0).fit(X),
        lambda m: vars(m).update(widths_=m.widths_[:, :1]),
        "widths_ of its HashingFeatures is an array",
    ),
    "buckets": (
        lambda: zonal.PolySketchFeatures(zonal.Polynomial(2), 20, random_state=0).fit(X),
        lambda m: [
            vars(node).update(buckets=node.buckets - 1)
            for node in m._tree.roots
            if hasattr(node, "buckets")
        ],
        "buckets of its _Direct has numbers from -1",
    ),
    "pairs": (
        lambda: zonal.ProductFeatures(
            [([0], zonal.HarmonicFeatures()), ([1, 2], zonal.HarmonicFeatures())], 20
        ).fit(X),
        lambda m: vars(m).update(_stages=[-1 - pairs for pairs in m._stages]),
        "_stages of its ProductFeatures has numbers from",
    ),
    "neighbours": (
        lambda: zonal.NeighborKriging(zonal.Matern(), 8, noise=0.1).fit(X, y),
        lambda m: vars(m._solution_.part.joint.process).update(n_neighbors=-(1 << 40)),
        "n_neighbors of its LocalProcess is",
    ),
    "degrees of functions": (
        lambda: features(n_radial="auto").fit(X),
        lambda m: vars(m.expansion_.radial.functions).update(
            degrees=m.expansion_.radial.functions.degrees + (1 << 40)
        ),
        "degrees of its ModeFunctions has numbers from",
    ),
    "places of functions": (
        lambda: features(n_radial="auto").fit(X),
        lambda m: vars(m.expansion_.radial).update(places=-m.expansion_.radial.places),
        "places of its OptimalRadial has numbers from",
    ),
    "residuals": (
        lambda: zonal.NeighborKriging(zonal.Matern(), 8, noise=0.1).fit(X, y),
        lambda m: vars(m._solution_.part.joint).update(
            residual=m._solution_.part.joint.residual[:5]
        ),
        "residual of its Joint is an array",
    ),
}


@pytest.mark.parametrize(("make", "change", "said"), ALTERED.values(), ids=ALTERED)
def test_altered_arrays(make, change, said, path):
    model = make()
    change(model)
    forge(model, path)
    refuse(path, f"damaged: {said}")


def test_sparse_arrays_of_another_format(path):
    """Their class is what the file of the array says, not the name in the schema."""
    rows = sp.csr_array(sp.random(40, 30, density=0.2, random_state=0, format="csr"))
    model = zonal.NystroemFeatures(zonal.Gaussian(8.0), 20, random_state=0).fit(rows)
    model.landmarks_ = sp.coo_array(model.landmarks_)
    forge(model, path)
    with zipfile.ZipFile(path) as archive:
        contents = {name: archive.read(name) for name in archive.namelist()}
    schema = contents["schema.json"].replace(b"coo_array", b"csr_array").replace(b"_coo", b"_csr")
    write_parts(path, {**contents, "schema.json": schema})
    refuse(path, "damaged: its sparse landmarks_ .it is coo, not csr")


def test_compiled_code_is_not_called_beyond_the_end():
    """Whoever calls it: arrays that do not belong together are errors."""
    one, four = np.ones((3, 1)), np.ones((3, 4))
    buckets, signs = np.zeros((1, 4), np.int32), np.ones((1, 4), np.float32)
    with pytest.raises(ValueError, match="do not belong"):
        hash_products(one, four, buckets + 2, signs, np.empty((3, 2)))
    with pytest.raises(ValueError, match="do not belong"):
        hash_products(four, four, buckets, signs, np.empty((3, 2)))
    with pytest.raises(ValueError, match="do not belong"):
        multiply_columns(one, four, np.array([[0, 0], [0, 4]]), np.empty((3, 2)))
    with pytest.raises(ValueError, match="no distances"):
        direct_distances(one, four)
    with pytest.raises(ValueError, match="at least 6 rows"):
        interpolate(np.ones(2), 0.0, 2.0, np.ones((5, 2)))


def test_rows_that_are_infinitely_far_have_no_neighbours():
    points = np.random.default_rng(0).standard_normal((50, 2))
    found = Nearest(points).query(np.array([[1e300, 0.0], [0.0, 0.0]]), 3)
    assert found[0].tolist() == [-1, -1, -1]
    assert (found[1] >= 0).all()


@pytest.mark.parametrize("kind", [zonal.NTK, zonal.NNGP, zonal.NetworkKernel])
def test_more_layers_than_any_network_has(kind, path):
    """A kernel of 2³¹ layers would be computed for hours."""
    kernel = kind()
    kernel.depth = 1 << 31
    forge(kernel, path)
    refuse(path, f"depth of its {kind.__name__} is 2147483648, not a whole number")
