"""Values that are odd but in order, and gaps: both engines must take them alike."""

import dask
import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

from zonal.tables import Columns, Stream, TableError, load_rows, open_table
from zonal.tables.dask import DaskTable
from zonal.tables.values import whole_numbers


def local(columns):
    rows = Stream(columns)
    list(rows)  # a pass tells whether labels are whole numbers
    X, y = zip(*rows, strict=True)
    return np.concatenate(X), np.concatenate(y), rows.n_dropped


def on_dask(columns):
    rows = DaskTable(columns)
    rows.check()
    X, y = dask.compute(*rows.arrays())
    return X, y, rows.n_dropped


@pytest.fixture(params=[local, on_dask], ids=["local", "dask"])
def read(request):
    return lambda path, **options: request.param(Columns.of(open_table(path), **options))


def csv(folder, text):
    path = folder / "t.csv"
    path.write_text(text)
    return path


def parquet(folder, **columns):
    path = folder / "t.parquet"
    pyarrow.parquet.write_table(pa.table(columns), path)
    return path


def zarr(folder, rows, names):
    path = folder / "t.zarr"
    array = pytest.importorskip("zarr").create_array(path, shape=np.shape(rows), dtype="f8")
    array[:] = rows
    array.attrs["columns"] = names
    return path


LARGE = [2**53 + 1, 1_700_000_000_123_456_789, 2**63 - 1]


@pytest.mark.parametrize("kind", [pa.int64(), pa.uint64()])
def test_large_whole_numbers(tmp_path, read, kind):
    """Such as times in nanoseconds: rounded to the nearest float, with gaps beside them too."""
    path = parquet(tmp_path, a=pa.array([*LARGE, None], kind), y=[1.0, 2.0, 3.0, 4.0])
    X, y, n_dropped = read(path, target="y", drop_missing=True)
    np.testing.assert_array_equal(X[:, 0], [float(value) for value in LARGE])
    assert (y.tolist(), n_dropped) == ([1, 2, 3], 1)


def test_large_whole_numbers_as_classes(tmp_path, read):
    """Two that are the same float remain two classes."""
    labels = [2**53, 2**53 + 1, None, 2**53]
    path = parquet(tmp_path, a=[1.0, 2.0, 3.0, 4.0], k=pa.array(labels))
    _, y, _ = read(path, target="k", labels=True, drop_missing=True)
    assert y.tolist() == [2**53, 2**53 + 1, 2**53]


@pytest.fixture(params=["parquet", "parquet, null", "zarr"])
def gap_in_classes(request, tmp_path):
    """Classes 0, 1, a gap, 1."""
    labels = [0.0, 1.0, np.nan, 1.0]
    if request.param == "zarr":
        return zarr(tmp_path, np.column_stack([np.arange(4.0), labels]), ["a", "k"])
    return parquet(
        tmp_path, a=np.arange(4.0), k=pa.array(labels, from_pandas="null" in request.param)
    )


def test_gaps_in_classes(gap_in_classes, read):
    X, y, n_dropped = read(gap_in_classes, target="k", labels=True, drop_missing=True)
    np.testing.assert_array_equal(X, [[0], [1], [3]])
    assert (y.tolist(), n_dropped) == ([0, 1, 1], 1)
    with pytest.raises(TableError, match=r"Row 3 .* has no 'k'\. Fill it.*leave such rows out"):
        read(gap_in_classes, target="k", labels=True)


def test_gaps_in_classes_of_npz(tmp_path):
    """Which Dask does not read."""
    np.savez(tmp_path / "t.npz", a=np.arange(4.0), k=[0, 1, np.nan, 1])
    rows = load_rows(
        Columns.of(open_table(tmp_path / "t.npz"), target="k", labels=True, drop_missing=True)
    )
    np.testing.assert_array_equal(rows.X, [[0], [1], [3]])
    assert (rows.y.tolist(), rows.n_dropped) == ([0, 1, 1], 1)
    with pytest.raises(TableError, match=r"Row 3 .* has no 'k'.*leave such rows out"):
        load_rows(Columns.of(open_table(tmp_path / "t.npz"), target="k", labels=True))


@pytest.mark.parametrize(
    ("labels", "numbers"),
    [
        (["12", "-3", "007"], [12, -3, 7]),
        (["9223372036854775807", "-9223372036854775808"], [2**63 - 1, -(2**63)]),
        (["0x1F", "12"], None),
        (["0X1f"], None),
        (["+5"], None),
        (["1_000"], None),
        (["5.0"], None),
        (["٣"], None),
        (["9223372036854775808"], None),
        ([], []),
    ],
)
def test_whole_numbers(labels, numbers):
    found = whole_numbers(np.array(labels, dtype=str))
    assert (None if found is None else found.tolist()) == numbers


def test_whole_numbers_are_text_before():
    assert whole_numbers(None) is None
    assert whole_numbers(np.array([1, 2])) is None


@pytest.mark.parametrize(
    ("labels", "classes"),
    [(["0x1F", "12", "0x1F"], ["0x1F", "12", "0x1F"]), (["7", "12"], [7, 12])],
)
def test_labels_like_hexadecimal_are_text(tmp_path, read, labels, classes):
    lines = [f"{number},{label}" for number, label in enumerate(labels)]
    _, y, _ = read(csv(tmp_path, "\n".join(["a,k", *lines])), target="k", labels=True)
    assert y.tolist() == classes


def test_blank_cells_are_gaps(tmp_path, read):
    path = csv(tmp_path, "a,y\n1,2\n  ,3\n4,\t\n 5 ,6\n")
    X, y, n_dropped = read(path, target="y", drop_missing=True)
    np.testing.assert_array_equal(X, [[1], [5]])
    assert (y.tolist(), n_dropped) == ([2, 6], 2)
    with pytest.raises(TableError, match=r"Row 2 .*'  ' in column 'a'.*leave such rows out"):
        read(path, target="y")


def test_blank_classes_are_gaps(tmp_path, read):
    path = csv(tmp_path, "a,k\n1, u \n2,  \n3,v\n")
    X, y, n_dropped = read(path, target="k", labels=True, drop_missing=True)
    np.testing.assert_array_equal(X, [[1], [3]])
    assert (y.tolist(), n_dropped) == (["u", "v"], 1)
    with pytest.raises(TableError, match=r"Row 2 .* has no 'k'\. Fill it.*leave such rows out"):
        read(path, target="k", labels=True)


@pytest.mark.parametrize("kind", [pa.large_string(), pa.dictionary(pa.int8(), pa.string())])
def test_blank_classes_in_other_kinds_of_text(tmp_path, read, kind):
    labels = pa.array(["u", " ", None, "v"]).cast(kind)
    path = parquet(tmp_path, a=[1.0, 2.0, 3.0, 4.0], k=labels)
    _, y, n_dropped = read(path, target="k", labels=True, drop_missing=True)
    assert (y.tolist(), n_dropped) == (["u", "v"], 2)


@pytest.mark.parametrize("kind", ["csv", "parquet", "zarr"])
def test_inputs_named_twice_count_once(tmp_path, read, kind):
    path = {
        "csv": lambda: csv(tmp_path, "a,b,y\n1,2,3\n4,5,6\n"),
        "parquet": lambda: parquet(tmp_path, a=[1.0, 4.0], b=[2.0, 5.0], y=[3.0, 6.0]),
        "zarr": lambda: zarr(tmp_path, [[1, 2, 3], [4, 5, 6]], ["a", "b", "y"]),
    }[kind]()
    X, y, _ = read(path, inputs=["b", "a", "b"], target="y")
    np.testing.assert_array_equal(X, [[2, 1], [5, 4]])
    assert y.tolist() == [3, 6]
