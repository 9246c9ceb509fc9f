"""`zonal.stream` and the command line read the same rows in the same order."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest

import zonal
from tests.cli.console import as_json
from zonal.evaluation import Split

N = 600
RNG = np.random.default_rng(0)
X = RNG.standard_normal((N, 2))
Y = np.sin(X[:, 0]) + X[:, 1]
TABLE = pa.table({"a": X[:, 0], "b": X[:, 1], "y": Y})
SEPARATORS = {"comma": ",", "semicolon": ";", "tab": "\t"}


def csv(folder, separator, quoting="needed"):
    path = folder / "t.csv"
    options = pa.csv.WriteOptions(delimiter=separator, quoting_style=quoting)
    pa.csv.write_csv(TABLE, path, options)
    return path


def quoted(folder, separator):
    """Every cell in quotes, and a name with all separators in it."""
    path = folder / "t.csv"
    names = [f'"a"{separator}"b, in; m\tor |"{separator}"y"']
    rows = [
        separator.join(f'"{float(value)!r}"' for value in row) for row in zip(*X.T, Y, strict=True)
    ]
    path.write_text("\n".join(names + rows))
    return path


def parts(folder):
    """Twelve parts: in the order of their names, part.10 would come before part.2."""
    (folder / "parts").mkdir()
    for number in range(12):
        place = folder / "parts" / f"part.{number}.parquet"
        pa.parquet.write_table(TABLE.slice(50 * number, 50), place)
    return folder / "parts"


def npz(folder):
    np.savez(folder / "t.npz", X=X, y=Y, feature_names=["a", "b"])
    return folder / "t.npz"


def zarr_array(folder):
    path = folder / "t.zarr"
    array = pytest.importorskip("zarr").create_array(path, shape=(N, 3), chunks=(70, 2), dtype="f8")
    array[:] = np.column_stack([X, Y])
    array.attrs["columns"] = ["a", "b", "y"]
    return path


def feather(folder):
    pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "y": Y}).to_feather(folder / "t.feather")
    return folder / "t.feather"


KINDS = {
    **{f"csv, {k}": lambda f, s=s: csv(f, s) for k, s in SEPARATORS.items()},
    **{f"csv, {k}, quoted": lambda f, s=s: quoted(f, s) for k, s in SEPARATORS.items()},
    "parquet parts": parts,
    "npz": npz,
    "zarr": zarr_array,
    "feather": feather,
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("batch_size", [64, 1 << 16])
def test_rows(tmp_path, kind, batch_size):
    rows = zonal.stream(KINDS[kind](tmp_path), batch_size, target="y")
    assert rows.columns[0] == "a"
    blocks = list(rows)
    assert max(len(block) for block, _ in blocks) <= batch_size
    np.testing.assert_array_equal(np.concatenate([block for block, _ in blocks]), X)
    np.testing.assert_array_equal(np.concatenate([block for _, block in blocks]), Y)


@pytest.mark.parametrize("kind", KINDS)
def test_folds_and_samples(tmp_path, kind):
    """Folds and test rows go by row number: a fit with them tells any other order."""
    path = KINDS[kind](tmp_path)
    options = ("--features", "fourier", "--bandwidth", 1.0, "--components", 32)
    result = as_json("fit", path, "--target", "y", *options, "--out", "m.zonal", cwd=tmp_path)
    line = zonal.load(tmp_path / "m.zonal")
    split = Split(0.1, seed=0)
    (training,) = split.train(zonal.stream(path, 100, target="y"))
    names = line.feature_names_in_
    learner = zonal.KernelRidge(
        zonal.FourierFeatures(zonal.Gaussian(1.0), n_components=32), random_state=0
    ).fit((line.encoder_.transform(pd.DataFrame(rows, columns=names)), y) for rows, y in training)
    np.testing.assert_allclose(learner.coef_, line.coef_, rtol=1e-8, atol=1e-10)
    test = split.is_test(0, N)
    error = np.mean((line.predict(pd.DataFrame(X[test], columns=names)) - Y[test]) ** 2)
    assert result["test"]["mse"] == pytest.approx(error, rel=1e-9)
    assert result["rows_test"] == test.sum()
