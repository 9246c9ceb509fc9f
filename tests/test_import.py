import subprocess
import sys

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
"""


def test_import_takes_nothing_heavy_along():
    """What scikit-learn itself imports does not count."""
    output = subprocess.run(
        [sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=True
    ).stdout
    loaded = set(output.split())
    assert "zonal.learners.kmeans" in loaded
    assert not HEAVY & loaded
