"""What people get wrong: the message, the exit code, and nothing half-written."""

import signal
import stat
import subprocess
import time

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

import zonal
from zonal.cli.commands import reproduce
from zonal.cli.errors import CommandError
from zonal.cli.outputs import outputs

from .console import ENVIRONMENT, SCRIPT, files, interrupted, message


def write(path, text):
    path.write_text(text)
    return path


def test_missing_file(folder):
    said = message("fit", "t.parqet", "--target", "y", cwd=folder)
    assert "There is no file t.parqet. Did you mean 't.parquet'" in said


def test_unknown_column(folder):
    said = message("fit", "t.csv", "--target", "Kindd", "--out", "no.zonal", cwd=folder)
    assert "no target column 'Kindd'. Did you mean 'kind'?" in said
    assert not any("no.zonal" in name for name in files(folder))


def test_unknown_column_of_times(folder):
    said = message("fit", "t.csv", "--target", "y", "--time", "whenn", cwd=folder)
    assert "--time 'whenn' is no input column" in said
    said = message(
        "fit", "t.csv", "--target", "y", "--time", "kind", "--features", "fourier", cwd=folder
    )
    assert "--features auto" in said


def test_existing_output(folder):
    (folder / "taken.zonal").write_text("mine")
    said = message("fit", "t.csv", "--target", "y", "--out", "taken.zonal", cwd=folder)
    assert "taken.zonal exists" in said
    assert "--force" in said
    assert (folder / "taken.zonal").read_text() == "mine"


def test_the_console_script(tmp_path):
    """As a process of its own: what it prints, and its exit code."""
    done = subprocess.run(
        [SCRIPT, "fit", "no.csv", "--target", "y"],
        cwd=tmp_path,
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.endswith("Error: There is no file no.csv.\n")
    assert "Traceback" not in done.stderr


def test_outputs_follow_links_and_keep_permissions(tmp_path):
    real, link = tmp_path / "real.csv", tmp_path / "link.csv"
    real.write_text("old")
    real.chmod(0o600)
    link.symlink_to(real)
    with outputs(link, force=True) as [place]:
        place.write_text("new")
    assert link.is_symlink()
    assert real.read_text() == "new"
    assert stat.S_IMODE(real.stat().st_mode) == 0o600
    assert files(tmp_path) == {"link.csv", "real.csv"}


def test_usage(folder):
    assert "--target" in message("fit", "t.csv", cwd=folder, code=2)


def test_library_errors_are_messages(folder):
    said = message("size", "t.npz", "--eps", "7", cwd=folder)
    assert "eps=7.0" in said


def test_not_a_model(folder):
    said = message("predict", "t.csv", "t.csv", "--out", "q.csv", cwd=folder)
    assert "not a model" in said


def test_reproduce_outside_a_checkout(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(zonal, "__file__", str(tmp_path / "zonal" / "__init__.py"))
    with pytest.raises(CommandError, match="clone the repository"):
        reproduce._experiments()


def test_text_and_nothing_at_all(tmp_path):
    rows = "".join(f"{number},{number}\n" for number in range(60))
    write(tmp_path / "t.csv", f"a,y\n1,2\n3,4\nfive,6\n{rows}")
    said = message("fit", "t.csv", "--target", "y", "--out", "m.zonal", cwd=tmp_path)
    assert "Column 'a' holds numbers, but row 3 " in said
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
        # A shell's background job ignores the signal, and so would its children.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )


def interrupted_after(process, word, after=0.0):
    """Send Ctrl-C some time after a word on stderr; everything that was said there."""
    said = ""
    while word not in said:
        line = process.stderr.readline()
        assert line, said
        said += line
    time.sleep(after)
    return said + interrupted(process, lambda: process.send_signal(signal.SIGINT))


def test_interrupt_leaves_nothing(tmp_path):
    """Ctrl-C in the middle of a fit."""
    rng = np.random.default_rng(0)
    columns = {name: rng.standard_normal(400_000) for name in "abcdy"}
    pyarrow.parquet.write_table(pa.table(columns), tmp_path / "big.parquet")
    command = ["fit", "big.parquet", "--target", "y", "--features", "gegenbauer"]
    command += ["--budget", "2048", "--out", "m.zonal", "--report", "r.html"]
    process = start(*command, cwd=tmp_path)
    said = interrupted_after(process, "Fitting", after=1)  # the fit takes far longer
    assert process.returncode == 130, said
    assert "Traceback" not in said
    assert files(tmp_path) == {"big.parquet"}


def test_interrupt_of_the_start(tmp_path):
    """Ctrl-C while modules are imported: Python names each on stderr when it is."""
    process = start("fit", "no.csv", "--target", "y", cwd=tmp_path, PYTHONPROFILEIMPORTTIME="1")
    said = interrupted_after(process, "zonal.polynomials")
    assert process.returncode == 130, said[-1000:]
    assert "Traceback" not in said


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
