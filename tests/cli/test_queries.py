"""``zonal fit --queries``: intervals for as far from the rows as will be asked."""

import numpy as np
import pandas as pd
import pytest

import zonal as library

from .console import good, message

FIT = ("fit", "rows.csv", "--target", "y", "--test-fraction", 0)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("queries")
    rng = np.random.default_rng(0)
    place = rng.uniform(0, 10, (900, 2))
    table = pd.DataFrame(place, columns=["u", "v"])
    table["y"] = np.sin(place[:, 0]) * np.cos(place[:, 1]) + 0.1 * rng.standard_normal(900)
    hole = (np.abs(place - 5) < 2).all(axis=1)
    table[~hole].to_csv(folder / "rows.csv", index=False)
    table[hole].to_csv(folder / "asked.csv", index=False)
    return folder


def test_the_same_as_in_python(folder):
    good(*FIT, "--queries", "asked.csv", "--out", "a.zonal", cwd=folder)
    rows, asked = (pd.read_csv(folder / name) for name in ("rows.csv", "asked.csv"))
    inputs = asked[["u", "v"]]
    told = library.KernelRidge(random_state=0).fit(rows[["u", "v"]], rows["y"], queries=inputs)
    made = library.load(folder / "a.zonal")
    for one, other in zip(
        made.predict_interval(inputs), told.predict_interval(inputs), strict=True
    ):
        np.testing.assert_allclose(one, other, rtol=1e-6)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--queries", "rows.nc"), "is a grid"),
        (("--queries", "asked.csv", "--engine", "dask"), "--engine local"),
        (("--queries", "asked.csv", "--classify"), "targets that are numbers"),
        (("--queries", "none.csv"), "none.csv"),
    ],
)
def test_mistakes(folder, options, words):
    assert words in message(*FIT, *options, cwd=folder)


def test_a_column_is_missing(folder):
    pd.DataFrame({"u": [1.0]}).to_csv(folder / "short.csv", index=False)
    assert "'v'" in message(*FIT, "--queries", "short.csv", cwd=folder)
