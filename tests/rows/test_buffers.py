"""No memory for what BLAS keeps for itself: an error, not the end of the process or a hang."""

import subprocess
import sys

import pytest

CHILD = """
import resource
import numpy as np
import zonal

features = zonal.GegenbauerFeatures(zonal.Gaussian(1.0), 64)
model = zonal.KernelRidge(features, local=None)  # its modules are loaded before the limit is set
with open("/proc/self/statm") as file:
    now = int(file.read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (now + (60 << 20), resource.RLIM_INFINITY))
try:
    model.fit(np.random.default_rng(0).standard_normal((600, 3)), np.arange(600.0))
except MemoryError as error:
    print(error)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs /proc and RLIMIT_AS")
def test_a_fit_without_memory_for_products_says_so():
    child = subprocess.run(
        [sys.executable, "-c", CHILD], capture_output=True, text=True, timeout=60
    )
    assert child.returncode == 0, child.stderr
    assert "no memory for products of matrices" in child.stdout
