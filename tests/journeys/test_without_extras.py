"""The wheel without extras: what needs one names it, everything else works.

Installing into a fresh environment takes minutes (`make extras` does it); here nothing but the
dependencies of the wheel can be imported, in a fresh process.
"""

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

# Put where Python looks for it when it starts, so that it holds in every process of the journey.
BARE = """
import importlib.metadata as metadata
import re
import sys


def needed(name, found):
    name = re.split(r"[ \\[<>=!~;(]", name)[0].lower().replace("_", "-").replace(".", "-")
    if name not in found:
        found.add(name)
        try:
            requirements = metadata.requires(name) or []
        except metadata.PackageNotFoundError:
            requirements = []
        for requirement in requirements:
            if "extra ==" not in requirement:
                needed(requirement, found)
    return found


ALLOWED = needed("zonal", set())
HIDDEN = {
    top
    for top, owners in metadata.packages_distributions().items()
    if not {owner.lower().replace("_", "-") for owner in owners} & ALLOWED
}


class Bare:
    def __init__(self, finder):
        self.finder = finder

    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] not in HIDDEN:
            return self.finder.find_spec(name, path, target)


sys.meta_path[:] = [Bare(finder) for finder in sys.meta_path]
"""


@pytest.fixture
def bare(walk, tmp_path_factory):
    """Return the environment in which extras are not there."""
    folder = tmp_path_factory.mktemp("bare")
    (folder / "sitecustomize.py").write_text(BARE)
    return {"PYTHONPATH": f"{folder}:{walk.site}"}


def test_the_core_works_and_the_rest_is_named(walk, bare):
    walk.fresh().python(
        """
import numpy as np

for name in "pandas polars pyarrow matplotlib skops dask xarray typer tqdm".split():
    try:
        __import__(name)
    except ModuleNotFoundError:
        continue
    raise AssertionError(f"{name} is here, and nothing asked for it")

import zonal

for name in zonal.__all__:
    getattr(zonal, name)
rng = np.random.default_rng(0)
X = rng.uniform(-2, 2, (320, 2))
y = np.sin(X[:, 0]) * X[:, 1]
model = zonal.KernelRidge(budget=32, random_state=0).fit(X, y)
assert model.score(X, y) > 0.9
lower, upper = model.predict_interval(X)
print(model, model.selection_)
model._repr_html_()
zonal.datasets.load_elevation()
zonal.theory.recommend(zonal.Gaussian(1.0), X, lam=1.0, eps=0.5, delta=0.1)
calls = {
    "zonal[save]": lambda: zonal.save(model, "m.zonal"),
    "zonal[stream]": lambda: zonal.stream("rows.parquet", target="y"),
    "zonal[geo]": lambda: zonal.predict_grid(model, resolution=30),
}
for extra, call in calls.items():
    try:
        call()
    except ImportError as error:
        assert f"pip install '{extra}'" in str(error), (extra, str(error))
    else:
        raise AssertionError(f"{extra} was not asked for")
""",
        **bare,
    )
    assert "pip install 'zonal[cli]'" in walk.fresh().refused("zonal --help", **bare)


def test_the_wheel_passes_the_check_of_a_release(site):
    check = [sys.executable, Path(__file__).parents[2] / "release" / "check_wheel.py", site.parent]
    done = subprocess.run(check, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_with_all_extras_the_package_is_that_of_the_wheel(walk):
    told = walk.fresh().python("import zonal\nprint(zonal.__file__)\nprint(zonal.__version__)\n")
    assert str(walk.site) in told
    assert "Usage" in walk.fresh().shell("zonal --help")
    walk.fresh().python("import zonal\nfor name in zonal.__all__:\n    getattr(zonal, name)\n")
