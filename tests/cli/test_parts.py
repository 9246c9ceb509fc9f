"""``zonal fit`` of more rows than are gathered: with the local part, into a folder."""

import numpy as np
import pandas as pd
import pytest

import zonal as library
from tests.partitions.common import parts
from zonal.partitions import FromParts

from .console import as_json, good, message


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    folder = tmp_path_factory.mktemp("parts")
    (folder / "parts").mkdir()
    rng = np.random.default_rng(0)
    rows = pd.DataFrame({"lat": rng.uniform(-80, 80, 3000), "lon": rng.uniform(-180, 180, 3000)})
    rows["y"] = np.sin(rows.lat / 9) * np.cos(rows.lon / 9) + 0.1 * rng.standard_normal(3000)
    for number in range(3):
        part = rows.iloc[1000 * number : 1000 * (number + 1)]
        part.to_parquet(folder / "parts" / f"part.{number}.parquet")
    return folder


def test_a_folder_of_parquet_with_the_local_part(place):
    fit = ("fit", "parts", "--target", "y")
    whole = as_json(*fit, "--out", "whole.zonal", cwd=place)
    with parts():
        sorted_ = as_json(*fit, "--out", "sorted.zonal", cwd=place)
        assert "exists" in message(*fit, "--out", "sorted.zonal", cwd=place)
        good(*fit, "--out", "sorted.zonal", "--force", cwd=place)
    assert sorted_["test"] == pytest.approx(whole["test"], rel=1e-6)
    for measure in ("coverage_90", "width_90", "crps"):
        assert sorted_["intervals"][measure] == pytest.approx(whole["intervals"][measure], rel=1e-6)
    model = library.load(place / "sorted.zonal")
    assert isinstance(model._solution_, FromParts)
    for name in ("whole", "sorted"):
        good("predict", f"{name}.zonal", "parts", "--out", f"{name}.parquet", cwd=place)
    found, wanted = (pd.read_parquet(place / f"{name}.parquet") for name in ("sorted", "whole"))
    np.testing.assert_allclose(found["prediction"], wanted["prediction"], atol=1e-9)
