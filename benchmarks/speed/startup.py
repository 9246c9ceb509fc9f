"""Import and the first call, each in a process of its own."""

import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator

from .line import Line

__all__ = ["startup"]

IMPORT = """
import time
import sklearn
start = time.perf_counter()
import zonal
print(time.perf_counter() - start)
"""
LEARNER = IMPORT.replace("import zonal", "import zonal; zonal.KernelRidge")
HELP = """
import contextlib, io, sys, time
start = time.perf_counter()
import zonal_command
sys.argv = ["zonal", "--help"]
with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit):
    zonal_command.main()
print(time.perf_counter() - start)
"""
FIRST_CALL = """
import time
import numpy as np
import zonal
X = np.eye(3, dtype=np.float32)
features = zonal.GegenbauerFeatures(zonal.Gaussian(0.5), 64, max_degree=20, random_state=0).fit(X)
start = time.perf_counter()
features.transform(X)
print(time.perf_counter() - start)
"""


def startup() -> Iterator[Line]:
    """Seconds of `import zonal` after scikit-learn's, and of the first `transform`."""
    imports, learners, helps, cold, warm = [], [], [], [], []
    for _ in range(7):
        imports.append(_run(IMPORT))
        learners.append(_run(LEARNER))
        helps.append(_run(HELP))
        with tempfile.TemporaryDirectory() as cache:
            cold.append(_run(FIRST_CALL, cache))
            warm.append(_run(FIRST_CALL, cache))
    for what, times, goal, rest in (
        ("import zonal, after scikit-learn", imports, 0.25, ""),
        ("import zonal and its first learner", learners, None, "Numba, SciPy's statistics"),
        ("zonal --help", helps, 0.5, "typer and rich"),
        ("first transform, nothing compiled", cold, 3.0, "the compiler"),
        (
            "first transform, compiled before",
            warm,
            0.3,
            "the registries that Numba loads with its first function",
        ),
    ):
        yield Line(what, "", statistics.median(times), goal=goal, rest=rest)


def _run(script: str, cache: str | None = None) -> float:
    """The number that a script prints."""
    environment = os.environ | ({} if cache is None else {"NUMBA_CACHE_DIR": cache})
    done = subprocess.run(
        [sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=True
    )
    return float(done.stdout)
