"""Tables for the tests of the command line."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest

from .console import as_json

N, NOISE = 1500, 0.1


@pytest.fixture(scope="session")
def table():
    """y = sin(a) b + noise of standard deviation 0.1, and its sign as a class."""
    rng = np.random.default_rng(0)
    a, b, c = rng.uniform(-3, 3, (3, N))
    clean = np.sin(a) * b
    y = clean + NOISE * rng.standard_normal(N)
    kind = np.where(clean > 0, "up", "down")
    return pa.table({"id": np.arange(N), "a": a, "b": b, "c": c, "y": y, "kind": kind})


@pytest.fixture(scope="session")
def folder(tmp_path_factory, table) -> Path:
    """The table as CSV, compressed CSV, Parquet and NPZ."""
    place = tmp_path_factory.mktemp("tables")
    pa.csv.write_csv(table, place / "t.csv")
    with pa.CompressedOutputStream(str(place / "t.csv.gz"), "gzip") as stream:
        pa.csv.write_csv(table, stream)
    pa.parquet.write_table(table, place / "t.parquet", row_group_size=400)
    columns = {name: table[name].to_numpy() for name in ("y", "a", "b", "c")}
    np.savez(place / "t.npz", X=np.column_stack([columns[k] for k in "abc"]), y=columns["y"])
    return place


@pytest.fixture(scope="session")
def fitted(folder):
    """The result of ``zonal fit`` on the CSV file, with the model m.zonal and the report m.html."""
    options = ("--target", "y", "-i", "a", "-i", "b", "-i", "c", "--features", "harmonic")
    outputs = ("--budget", 256, "--out", "m.zonal", "--report", "m.html")
    return as_json("fit", "t.csv", *options, *outputs, cwd=folder)
