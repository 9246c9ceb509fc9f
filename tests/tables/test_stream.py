"""`zonal.stream`: files as blocks for a fit."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

import zonal
from zonal.tables import TableError, csv

RNG = np.random.default_rng(0)
X = RNG.standard_normal((900, 3))
y = np.sin(X[:, 0]) + X[:, 1] * X[:, 2] + 0.1 * RNG.standard_normal(900)
WEIGHT = RNG.integers(0, 3, 900).astype(float)


def features():
    """A map that learns a bandwidth, a centre and radii."""
    return zonal.GegenbauerFeatures(n_components=48)


@pytest.mark.parametrize("suffix", [".parquet", ".csv"])
def test_files(tmp_path, suffix):
    frame = pd.DataFrame(X, columns=["a", "b", "c"]).assign(y=y, w=WEIGHT)
    path = tmp_path / f"rows{suffix}"
    if suffix == ".csv":
        frame.to_csv(path, index=False)
    else:
        frame.to_parquet(path, index=False)
    whole = zonal.KernelRidge(features(), random_state=0).fit(X, y, WEIGHT)
    for batch_size, frames in [(100, False), (1000, False), (300, True)]:
        rows = zonal.stream(path, batch_size, target="y", weight="w", frames=frames)
        model = clone(whole).fit(rows)
        np.testing.assert_allclose(model.coef_, whole.coef_, rtol=0, atol=1e-8)
        np.testing.assert_allclose(model.predict(rows), whole.predict(X), rtol=0, atol=1e-8)


def test_single_precision_files_stay_single(tmp_path):
    path = tmp_path / "rows.parquet"
    pd.DataFrame(X.astype(np.float32), columns=["a", "b", "c"]).to_parquet(path)
    ((rows, nothing),) = list(zonal.stream(path))
    assert rows.dtype == np.float32
    assert nothing is None
    two = list(zonal.stream(path, columns=["a"], target=["b", "c"]))
    assert two[0][0].shape == (900, 1)
    assert two[0][1].shape == (900, 2)


def test_many_files(tmp_path):
    for number in range(3):
        part = pd.DataFrame(X[300 * number : 300 * (number + 1)], columns=["a", "b", "c"])
        part.to_parquet(tmp_path / f"part{number}.parquet")
    blocks = [block for block, _ in zonal.stream(tmp_path, 128)]
    np.testing.assert_array_equal(np.concatenate(blocks), X)


def test_missing_columns_are_named(tmp_path):
    path = tmp_path / "rows.csv"
    pd.DataFrame({"a": [1.0], "b": [2.0]}).to_csv(path, index=False)
    with pytest.raises(ValueError, match=r"no target column 'z'.*columns are 'a', 'b'"):
        zonal.stream(path, target="z")


def test_a_missing_file_is_named(tmp_path):
    (tmp_path / "rows.csv").write_text("a\n1\n")
    with pytest.raises(FileNotFoundError, match=r"row\.csv\. Did you mean 'rows\.csv'"):
        zonal.stream(tmp_path / "row.csv")
    with pytest.raises(ValueError, match=r"'\.py'"):
        zonal.stream(__file__)
    with pytest.raises(ValueError, match="batch_size=0"):
        zonal.stream(tmp_path / "rows.csv", 0)
    with pytest.raises(ValueError, match="at least one file"):
        zonal.stream([])


def test_a_list_of_files_is_read_in_its_order(tmp_path):
    for number in (2, 10, 1):
        frame = pd.DataFrame({"a": [number, number + 0.5], "y": [0, 1]})
        frame.to_csv(tmp_path / f"{number}.csv", index=False)
    names = [str(tmp_path / f"{number}.csv") for number in (10, 2, 1)]
    rows = np.concatenate([block for block, _ in zonal.stream(names, target="y")])
    assert rows[:, 0].tolist() == [10, 10.5, 2, 2.5, 1, 1.5]
    (tmp_path / "other.csv").write_text("b,y\n1,2\n")
    with pytest.raises(TableError, match=r"other\.csv has other columns"):
        zonal.stream([names[0], str(tmp_path / "other.csv")])


def test_a_target_in_csv_is_numbers_or_classes(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("a,b,n,k\n1,2,3,up\n4,5,6.5,down\n")
    ((_, numbers),) = zonal.stream(path, columns=["a", "b"], target="n")
    assert numbers.tolist() == [3, 6.5]
    ((_, classes),) = zonal.stream(path, columns=["a", "b"], target="k")
    assert classes.tolist() == ["up", "down"]
    ((_, one),) = zonal.stream(path, columns=["a"], target=["n"])
    assert one.shape == (2, 1)
    with pytest.raises(TableError, match=r"'k' .* holds text.*one name, not a list"):
        list(zonal.stream(path, columns=["a"], target=["n", "k"]))
    with pytest.raises(TableError, match=r"Column 'k' .*'up'.*leave it out of columns="):
        list(zonal.stream(path, target="n"))
    path.write_text("a;n\n1;2,5\n4;3\n")
    with pytest.raises(TableError, match=r"'n'.*'2,5'.*Decimal commas"):
        list(zonal.stream(path, target="n"))


def test_text_in_a_typed_file_is_never_a_number(tmp_path):
    path = tmp_path / "rows.parquet"
    pd.DataFrame({"a": [1.0, 2.0], "k": ["1", "2"]}).to_parquet(path)
    rows = zonal.stream(path, target="k")
    for _ in range(2):  # the same in every pass, as a fit needs it
        ((_, labels),) = rows
        assert labels.tolist() == ["1", "2"]


def test_gaps_are_named(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("a,y\n1,2\n,3\n")
    with pytest.raises(TableError, match=r"Row 2 .*nothing in column 'a'.*leave such rows out"):
        list(zonal.stream(path, target="y"))


@pytest.mark.parametrize("suffix", [".parquet", ".csv", ".feather"])
def test_frames_may_hold_text_and_gaps(tmp_path, suffix):
    frame = pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "kind": np.where(X[:, 2] > 0, "u", "v")})
    frame.loc[5, "a"] = np.nan
    path, whole = tmp_path / f"rows{suffix}", frame.assign(y=y)
    if suffix == ".csv":
        whole.to_csv(path, index=False)
    else:
        (whole.to_feather if suffix == ".feather" else whole.to_parquet)(path)
    parts = [
        ("numbers", make_pipeline(SimpleImputer(), features()), ["a", "b"]),
        ("kind", OneHotEncoder(), ["kind"]),
    ]
    model = zonal.KernelRidge(ColumnTransformer(parts), 0.1, random_state=0)
    rows = zonal.stream(path, 250, target="y", frames=True)
    found = clone(model).fit(rows).predict(frame)
    np.testing.assert_allclose(found, clone(model).fit(frame, y).predict(frame), rtol=1e-8)


def test_long_rows_of_csv(tmp_path):
    """Of more bytes than are read at a time."""
    rows = np.random.default_rng(1).uniform(size=(2, 5000))
    names = ",".join(f"column{number}" for number in range(5000))
    lines = [",".join(f"{value:.220f}" for value in row) for row in rows]
    (tmp_path / "wide.csv").write_text("\n".join([names, *lines]))
    assert len(lines[0]) > 1 << 20
    ((found, _),) = zonal.stream(tmp_path / "wide.csv")
    np.testing.assert_array_equal(found, rows)


def test_line_breaks_in_quotes(tmp_path, monkeypatch):
    """Wherever a block ends: in the middle of a quoted text, too."""
    monkeypatch.setattr(csv, "BATCH_BYTES", 1000)
    lines = [
        f'{number},"a note\nof two lines, number {number}",{2 * number}' for number in range(500)
    ]
    (tmp_path / "notes.csv").write_text("\n".join(["a,note,y", *lines]))
    blocks = list(zonal.stream(tmp_path / "notes.csv", columns=["a"], target="y"))
    assert len(blocks) > 5
    np.testing.assert_array_equal(
        np.concatenate([rows[:, 0] for rows, _ in blocks]), np.arange(500)
    )
