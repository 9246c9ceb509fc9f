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
from zonal.cli.read import read_rows
from zonal.cli.tables import open_table
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


def test_text_and_nothing_at_all(tmp_path):
    write(tmp_path / "t.csv", "a,y\n1,2\n3,4\nfive,6\n")
    said = message("fit", "t.csv", "--target", "y", "--out", "m.zonal", cwd=tmp_path)
    assert "Column 'a' of t.csv must hold numbers, but row 3 " in said
    assert "holds 'five'" in said
    write(tmp_path / "e.csv", "")
    said = message("fit", "e.csv", "--target", "y", "--out", "m.zonal", cwd=tmp_path)
    assert "e.csv is empty" in said
    assert files(tmp_path) == {"t.csv", "e.csv"}


def start(*arguments, cwd, **environment):
    return subprocess.Popen(
        [SCRIPT, *arguments],
        cwd=cwd,
        env={**ENVIRONMENT, **environment},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )


def interrupted(process, word, after=0.0):
    """Send Ctrl-C some time after a word on stderr; everything that was said there."""
    said = ""
    while word not in said:
        line = process.stderr.readline()
        assert line, said
        said += line
    time.sleep(after)
    process.send_signal(signal.SIGINT)
    return said + process.communicate(timeout=60)[1]


def test_interrupt_leaves_nothing(tmp_path):
    """Ctrl-C in the middle of a fit."""
    rng = np.random.default_rng(0)
    columns = {name: rng.standard_normal(400_000) for name in "abcdy"}
    pyarrow.parquet.write_table(pa.table(columns), tmp_path / "big.parquet")
    command = ["fit", "big.parquet", "--target", "y", "--features", "gegenbauer"]
    command += ["--components", "2048", "--out", "m.zonal", "--report", "r.html"]
    process = start(*command, cwd=tmp_path)
    said = interrupted(process, "Fitting", after=1)  # the fit takes far longer
    assert process.returncode == 130, said
    assert "Traceback" not in said
    assert files(tmp_path) == {"big.parquet"}


@pytest.mark.parametrize(
    "module",
    [
        "zonal.polynomials",
        "zonal.cli.errors",
    ],
)
def test_interrupt_of_the_start(tmp_path, module):
    """Ctrl-C while modules are imported: Python names each on stderr when it is."""
    process = start("fit", "no.csv", "--target", "y", cwd=tmp_path, PYTHONPROFILEIMPORTTIME="1")
    said = interrupted(process, module)
    assert process.returncode == 130, said[-1000:]
    assert "Traceback" not in said


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


def test_angles_are_checked_in_all_rows(tmp_path):
    """Not only in the sample that the encoder learns from; by the row of the file."""
    lines = [f"{i % 90},{i % 180},1" for i in range(70_000)]
    lines[69_000] = "10,361,1"
    path = write(tmp_path / "t.csv", "\n".join(["lat,lon,y", *lines]))
    with pytest.raises(CommandError, match=r"Row 69001 .*361 in column 'lon'.*-180 to 360"):
        read(path, target="y", lat="lat", lon="lon")


def test_parts_must_be_alike(tmp_path):
    (tmp_path / "parts").mkdir()
    with pytest.raises(CommandError, match="no Parquet files"):
        open_table(tmp_path / "parts")
    for number, name in enumerate("ab"):
        part = pa.table({name: [1.0], "y": [1.0]})
        pyarrow.parquet.write_table(part, tmp_path / "parts" / f"{number}.parquet")
    with pytest.raises(CommandError, match=r"1\.parquet has other columns.*0\.parquet"):
        open_table(tmp_path / "parts")


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
