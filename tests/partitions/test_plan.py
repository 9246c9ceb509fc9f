"""The plan counts the bytes that a fit writes."""

from pathlib import Path

import pytest
from sklearn.base import clone

import zonal
from tests.cli.console import as_json, good, message
from zonal.partitions.plan import Plan

from .common import SPHERE, TARGET, Blocks, parts


def test_bytes_of_parts_are_those_of_the_files():
    model = zonal.NeighborKriging(zonal.Matern(1.5, 0.3), 8, noise=0.05)
    with parts():
        found = clone(model).fit(Blocks(SPHERE, TARGET), None)
        plan = Plan(len(SPHERE))
        assert plan.n_cells == len(found._solution_.parts.cuts)
        wanted = plan.model_bytes
    files = list(Path(found._solution_.parts.folder.path).glob("*/*.npy"))
    # Each file has a header of 128 bytes.
    assert sum(file.stat().st_size - 128 for file in files) == wanted


def test_what_does_not_grow():
    """Ten times the rows: ten times the bytes of files, but not for the client."""
    small, large = (Plan(n, n_features=256, n_workers=64) for n in (10**9, 10**10))
    assert large.model_bytes == pytest.approx(10 * small.model_bytes, rel=0.1)
    assert large.client_bytes == small.client_bytes <= 200e6
    halved = Plan(10**9, n_features=256, n_workers=128)
    assert halved.seconds < small.seconds


def test_the_command(tmp_path):
    text = good("size", "--rows", "1e9", "--workers", 64, cwd=tmp_path)
    assert "1,000,000,000 rows of 3 columns" in text
    found = as_json("size", "--rows", "1e9", "--workers", 64, "--features", 256, cwd=tmp_path)
    assert [stage["name"] for stage in found["stages"]][-1] == "moments"
    assert found["parts"] == 1024


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((), "Give a table, or --rows"),
        (("--rows", "0"), "from 1 to 1e15"),
        (("--rows", "nan"), "from 1 to 1e15"),
        (("t.csv", "--rows", "5"), "leave out t.csv"),
    ],
)
def test_mistakes(arguments, words, tmp_path):
    assert words in message("size", *arguments, cwd=tmp_path)
