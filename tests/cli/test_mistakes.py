"""What people get wrong: the message, the exit code, and nothing half-written."""

import signal
import subprocess
import time

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

import zonal
from zonal.cli.errors import CommandError
from zonal.cli.read import open_table, read_rows
from zonal.cli.write import outputs

from .console import ENVIRONMENT, SCRIPT, files, message


def write(path, text):
    path.write_text(text)
    return path


def read(path, **options):
    return read_rows(open_table(path), **options)


def test_missing_file(folder):
    said = message("fit", "t.parqet", "--target", "y", cwd=folder)
    assert "There is no file t.parqet. Did you mean 't.parquet'" in said


def test_unknown_column(folder):
    said = message("fit", "t.csv", "--target", "Kindd", "--out", "no.zonal", cwd=folder)
    assert "no target column 'Kindd'. Did you mean 'kind'?" in said
    assert not any("no.zonal" in name for name in files(folder))


def test_existing_output(folder):
    (folder / "taken.zonal").write_text("mine")
    said = message("fit", "t.csv", "--target", "y", "--out", "taken.zonal", cwd=folder)
    assert "taken.zonal exists" in said
    assert "--force" in said
    assert (folder / "taken.zonal").read_text() == "mine"


def test_usage(folder):
    assert "--target" in message("fit", "t.csv", cwd=folder, code=2)


def test_library_errors_are_messages(folder):
    said = message("size", "t.npz", "--eps", "7", cwd=folder)
    assert "eps=7.0" in said


def test_not_a_model(folder):
    said = message("predict", "t.csv", "t.csv", "--out", "q.csv", cwd=folder)
    assert "not a model" in said


def test_reproduce_outside_a_checkout(tmp_path, monkeypatch):
    from zonal.cli import reproduce

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(zonal, "__file__", str(tmp_path / "zonal" / "__init__.py"))
    with pytest.raises(CommandError, match="clone the repository"):
        reproduce._experiments()


def test_interrupt_leaves_nothing(tmp_path):
    """Ctrl-C in the middle of a fit."""
    rng = np.random.default_rng(0)
    np.savez(tmp_path / "big.npz", X=rng.standard_normal((400_000, 4)), y=rng.random(400_000))
    command = [SCRIPT, "fit", "big.npz", "--target", "y", "--features", "gegenbauer"]
    command += ["--components", "2048", "--out", "m.zonal", "--report", "r.html"]
    process = subprocess.Popen(
        command, cwd=tmp_path, env=ENVIRONMENT, stderr=subprocess.PIPE, text=True
    )
    said = ""
    while "Fitting" not in said:
        said += process.stderr.readline()
    time.sleep(1)  # the fit takes far longer
    process.send_signal(signal.SIGINT)
    said += process.communicate(timeout=60)[1]
    assert process.returncode == 130, said
    assert "Traceback" not in said
    assert files(tmp_path) == {"big.npz"}


def test_text_in_a_late_row(tmp_path):
    """Beyond the rows from which a reader would guess the type."""
    lines = [f"{i},{i / 7}" for i in range(300_000)]
    lines[250_000] = "12,n/k"
    path = write(tmp_path / "t.csv", "\n".join(["a,y", *lines]))
    with pytest.raises(CommandError, match=r"'y'.*row 250001 .*'n/k'.*--ignore"):
        read(path, target="y")


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("t.csv", "", "is empty"),
        ("t.csv", "a,y\n", "no rows"),
        ("t.csv", "a,y\n1,2\n3\n", "can not be read"),
        ("t.csv", "a,a\n1,2\n", "several columns of one name: 'a'"),
        ("t.csv", "a,y\n1,2\n,3\n", "Row 2 .*nothing in column 'a'.*--drop-missing"),
        ("t.csv", "a,y\n1,2\n1,inf\n", "Row 2 .*'inf' in column 'y'"),
        ("t.csv", "y\n1\n", "no column left to learn from"),
        ("t.parquet", "PAR1 but not really", "damaged"),
        ("t.npz", "not an archive", "not a NumPy archive"),
        ("t.xlsx", "x", "must end in .csv"),
    ],
)
def test_bad_files(tmp_path, name, text, said):
    with pytest.raises(CommandError, match=said):
        read(write(tmp_path / name, text), target="y")


def test_times_are_not_numbers(tmp_path):
    when = pa.array([0, 1], pa.timestamp("s"))
    pyarrow.parquet.write_table(pa.table({"when": when, "y": [1.0, 2.0]}), tmp_path / "t.pq")
    with pytest.raises(CommandError, match=r"'when'.*timestamp.*--ignore"):
        read(tmp_path / "t.pq", target="y")


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_delimiters_and_byte_order_mark(tmp_path, delimiter):
    text = "\ufeffa,y,z\n 1 ,2,3\n4,5,6\n".replace(",", delimiter)
    rows = read(write(tmp_path / "t.csv", text), target="y")
    assert rows.inputs == ["a", "z"]
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


def test_outputs_come_together_or_not_at_all(tmp_path):
    old, new = tmp_path / "old.csv", tmp_path / "new.csv"
    old.write_text("before")

    def stopped():
        with outputs(old, new, force=True) as paths:
            for path in paths:
                path.write_text("half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        stopped()
    assert old.read_text() == "before"
    assert files(tmp_path) == {"old.csv"}
    with outputs(old, new, None, force=True) as paths:
        for path in paths[:2]:
            path.write_text("whole")
    assert old.read_text() == new.read_text() == "whole"
    assert files(tmp_path) == {"old.csv", "new.csv"}


def test_outputs_are_checked_before_the_work(tmp_path):
    with pytest.raises(CommandError, match="no folder"), outputs(tmp_path / "none" / "x.csv"):
        pass
    with pytest.raises(CommandError, match="it is a folder"), outputs(tmp_path):
        pass
    twice = tmp_path / "x.csv"
    with pytest.raises(CommandError, match="same name"), outputs(twice, twice):
        pass
