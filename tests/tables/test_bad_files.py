"""Tables that are not as they should be, and some that only look so: what is said of them."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

from zonal.tables import Columns, TableError, load_rows, open_table


def write(path, text):
    path.write_text(text)
    return path


def read(path, **options):
    return load_rows(Columns.of(open_table(path), **options))


def test_text_in_a_late_row(tmp_path):
    """Beyond the rows from which a reader would guess the type."""
    lines = [f"{i},{i / 7}" for i in range(300_000)]
    lines[250_000] = "12,n/k"
    path = write(tmp_path / "t.csv", "\n".join(["a,y", *lines]))
    with pytest.raises(TableError, match=r"'y'.*row 250001 .*'n/k'.*leave it out"):
        read(path, target="y")


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("t.csv", "", "is empty"),
        ("t.csv", "a,y\n", "no rows"),
        ("t.csv", "a,y\n1,2\n3\n", "cannot be read"),
        ("t.csv", "a,a\n1,2\n", "several columns of one name: 'a'"),
        ("t.csv", "a,y\n1,2\n,3\n", "Row 2 .*nothing in column 'a'.*leave such rows out"),
        ("t.csv", "a,y\n1,2\n1,inf\n", "Row 2 .*'inf' in column 'y'"),
        ("t.csv", "y\n1\n", "no column left to learn from"),
        ("t.parquet", "PAR1 but not really", "damaged"),
        ("t.npz", "not an archive", "not a NumPy archive"),
        ("t.xlsx", "x", "must end in .csv.*not '.xlsx'"),
        ("t.csv", "a;y\n1,5;2\n", "row 1 .*'1,5'.*Decimal commas are not read"),
        ("t.csv", "a;y\n1;2\n2;-1.234,5\n", "'y'.*row 2 .*'-1.234,5'.*decimal point"),
        ("t.csv", "a,y\n1,5,2,5\n", "Expected 2 columns, got 4.*decimal commas"),
        ("t.feather", "not Arrow", "damaged"),
    ],
)
def test_bad_files(tmp_path, name, text, said):
    with pytest.raises(TableError, match=said):
        read(write(tmp_path / name, text), target="y")


def test_limits_are_checked_in_all_rows(tmp_path):
    """Not only in a sample; by the row of the file."""
    lines = [f"{i % 90},{i % 180},1" for i in range(70_000)]
    lines[69_000] = "10,361,1"
    path = write(tmp_path / "t.csv", "\n".join(["lat,lon,y", *lines]))
    with pytest.raises(TableError, match=r"Row 69001 .*361 in column 'lon'.*-180 to 360"):
        read(path, target="y", limits={"lon": ("longitude", -180, 360)})


def test_parts_must_be_alike(tmp_path):
    (tmp_path / "parts").mkdir()
    with pytest.raises(TableError, match="no Parquet files"):
        open_table(tmp_path / "parts")
    for number, name in enumerate("ab"):
        part = pa.table({name: [1.0], "y": [1.0]})
        pyarrow.parquet.write_table(part, tmp_path / "parts" / f"{number}.parquet")
    with pytest.raises(TableError, match=r"1\.parquet has other columns.*0\.parquet"):
        open_table(tmp_path / "parts")


def test_times_are_not_numbers(tmp_path):
    when = pa.array([0, 1], pa.timestamp("s"))
    pyarrow.parquet.write_table(pa.table({"when": when, "y": [1.0, 2.0]}), tmp_path / "t.pq")
    with pytest.raises(TableError, match=r"'when'.*timestamp.*leave it out"):
        read(tmp_path / "t.pq", target="y")


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_delimiters_and_byte_order_mark(tmp_path, delimiter):
    text = "\ufeffa,y,z\n 1 ,2,3\n4,5,6\n".replace(",", delimiter)
    rows = read(write(tmp_path / "t.csv", text), target="y")
    assert rows.columns == ["a", "z"]
    np.testing.assert_array_equal(rows.X, [[1, 3], [4, 6]])
    np.testing.assert_array_equal(rows.y, [2, 5])


def test_missing_rows_are_dropped_on_request(tmp_path):
    path = write(tmp_path / "t.csv", "a,k\n1,x\n,x\n3,\n4,z\n")
    rows = read(path, target="k", labels=True, drop_missing=True)
    np.testing.assert_array_equal(rows.X, [[1], [4]])
    assert rows.y.tolist() == ["x", "z"]
    assert rows.n_dropped == 2


def test_precision_is_that_of_the_file(tmp_path):
    single = pa.array(np.float32([1.5, 2.5]))
    pyarrow.parquet.write_table(pa.table({"a": single, "b": single}), tmp_path / "s.parquet")
    pyarrow.parquet.write_table(pa.table({"a": single, "b": [1, 2**31]}), tmp_path / "d.parquet")
    assert read(tmp_path / "s.parquet").X.dtype == np.float32
    double = read(tmp_path / "d.parquet").X
    assert double.dtype == np.float64
    assert double[1, 1] == 2**31


@pytest.mark.parametrize("error", [pa.ArrowException, pa.ArrowInvalid, pa.ArrowMemoryError])
@pytest.mark.parametrize("where", ["__init__", "iter_batches"])
def test_whatever_arrow_meets_is_said_in_words(tmp_path, monkeypatch, error, where):
    """Without memory for a thread, for one."""
    path = tmp_path / "t.parquet"
    pa.parquet.write_table(pa.table({"a": [1.0], "y": [2.0]}), path)

    def fail(*args, **kwargs):
        raise error("no worker thread")

    monkeypatch.setattr(pa.parquet.ParquetFile, where, fail)
    expected = MemoryError if error is pa.ArrowMemoryError else TableError
    with pytest.raises(expected, match="no worker thread"):
        read(path, target="y")
