import subprocess
import sys

import pytest

import zonal

# Packages that only some calls need: files, figures, clusters of machines, clustering.
HEAVY = {
    "cloudpickle",
    "dask",
    "distributed",
    "matplotlib",
    "pandas",
    "polars",
    "pyarrow",
    "pyproj",
    "rioxarray",
    "skops",
    "sklearn.cluster",
    "sklearn.ensemble",
    "tqdm",
    "xarray",
}
SCRIPT = """
import sys
import sklearn
before = set(sys.modules)
import zonal
print(*sorted(set(sys.modules) - before))
zonal.KernelRidge
zonal.theory, zonal.grid, zonal.datasets, zonal.evaluation
print(*sorted(set(sys.modules) - before))
"""


def test_import_takes_nothing_heavy_along():
    """What scikit-learn itself imports does not count."""
    output = subprocess.run(
        [sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=True
    ).stdout
    at_first, when_used = (set(line.split()) for line in output.splitlines())
    assert "numba" not in at_first
    assert "zonal.learners" not in at_first
    assert "zonal.learners.kmeans" in when_used
    assert not HEAVY & when_used


def test_all_names_are_there():
    for name in zonal.__all__:
        assert getattr(zonal, name) is not None
    with pytest.raises(AttributeError, match="KernelRidges"):
        zonal.KernelRidges  # noqa: B018
