"""``zonal fit --engine dask`` finds what the local engine finds, and ends as cleanly."""

import os
import signal
import subprocess
import time
from functools import partial

import numpy as np
import pandas as pd
import psutil
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest

import zonal
from zonal.cli import dask_cluster
from zonal.cli.columns import encoder, picked
from zonal.cli.console import Screen
from zonal.cli.errors import CommandError
from zonal.cli.grids import Place, whereabouts
from zonal.cli.processes import Engine, check_engine
from zonal.cli.training import DaskTrainingRows, LocalTrainingRows, judge_model, train
from zonal.distributed import connect, local_cluster
from zonal.evaluation import Split
from zonal.tables import TableError, open_table
from zonal.tables import dask as dask_tables
from zonal.tables.frames import FrameStream
from zonal.tables.survey import survey_columns

from .console import ENVIRONMENT, SCRIPT, as_json, files, interrupted, message

N = 3000
SPLIT = Split(0.1, 0)
# A map that learns nothing from the rows, so that only sums can differ.
FIXED = ("--features", "fourier", "--bandwidth", 1, "--budget", 64)


def data():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((N, 3))
    y = np.sin(X[:, 0]) + X[:, 1] * X[:, 2] + 0.1 * rng.standard_normal(N)
    return X, y


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """One table as Parquet (a file and a folder) and CSV, with a gap in every seventh row of d."""
    folder = tmp_path_factory.mktemp("dask")
    X, y = data()
    gaps = pa.array(np.arange(N), mask=np.arange(N) % 7 == 0)
    kind = np.where(y > 0, "1", "2")
    columns = {**dict(zip("abc", X.T, strict=True)), "d": gaps, "y": y, "kind": kind}
    table = pa.table(columns)
    pa.parquet.write_table(table, folder / "t.parquet", row_group_size=250)
    pa.csv.write_csv(table, folder / "t.csv")
    (folder / "parts").mkdir()
    for number in range(12):
        part = table.slice(number * 270, 270)
        pa.parquet.write_table(part, folder / "parts" / f"part.{number}.parquet")
    return folder


@pytest.fixture
def many_pieces(monkeypatch):
    """Pieces of a few hundred rows, on threads of this process."""
    monkeypatch.setattr(dask_tables, "BLOCK_BYTES", 20_000)
    monkeypatch.setattr(dask_tables, "ZARR_ROWS", 400)


def columns_of(path, target="y", inputs=("a", "b", "c"), **options):
    return picked(
        open_table(path), inputs=list(inputs), target=target, labels=target == "kind", **options
    )


def fitted(rows, target="y", inputs=("a", "b", "c")):
    features = zonal.FourierFeatures(zonal.Gaussian(1.0), n_components=64)
    kind = zonal.KernelRidgeClassifier if target == "kind" else zonal.KernelRidge
    model = kind(features, encoder=encoder(list(inputs), None, None), random_state=0)
    trained = train(model, rows, Screen(), target=target)
    return model, judge_model(model, rows, trained, Screen())[0]


def assert_engines_agree(path, **options):
    columns = columns_of(path, **options)
    options.pop("drop_missing", None)
    distributed = DaskTrainingRows(columns, SPLIT)
    assert distributed.table.n_pieces > 3
    found, result = fitted(distributed, **options)
    survey = survey_columns(columns.table, columns.names)
    local, expected = fitted(LocalTrainingRows(FrameStream(columns, survey), SPLIT), **options)
    X = np.random.default_rng(1).standard_normal((500, len(columns.inputs)))
    frame = pd.DataFrame(X, columns=columns.inputs)  # whose names only this process knows
    if columns.labels:
        assert found.classes_.tolist() == local.classes_.tolist() == [1, 2]
        np.testing.assert_allclose(found.predict_proba(X), local.predict_proba(frame), atol=1e-8)
    else:
        np.testing.assert_allclose(found.predict(X), local.predict(frame), rtol=1e-8, atol=1e-8)
    for part in ("test", "train"):
        assert result[part] == pytest.approx(expected[part], rel=1e-8)
    for count in ("rows", "rows_dropped", "rows_train", "rows_test"):
        assert result[count] == expected[count]
    return result


@pytest.mark.parametrize("name", ["t.parquet", "parts", "t.csv"])
def test_engines_agree(place, many_pieces, name):
    assert assert_engines_agree(place / name)["rows"] == N


@pytest.mark.parametrize("name", ["t.parquet", "t.csv"])
def test_classes_and_gaps(place, many_pieces, name):
    """Text that says whole numbers, and rows that are left out before rows are counted."""
    if name == "t.csv":  # Parquet knows that these are text
        result = assert_engines_agree(
            place / name, target="kind", inputs=("a", "b", "c", "d"), drop_missing=True
        )
    else:
        result = assert_engines_agree(place / name, inputs=("a", "b", "d"), drop_missing=True)
    assert result["rows_dropped"] == -(-N // 7)


def test_the_region_is_known_before_the_fit(tmp_path, many_pieces):
    """Places are looked at first, by a table that has not been checked then."""
    rng = np.random.default_rng(0)
    lat, lon = rng.uniform(10, 20, 900), rng.uniform(30, 50, 900)
    pd.DataFrame({"lat": lat, "lon": lon, "y": lat}).to_csv(tmp_path / "p.csv", index=False)
    rows = DaskTrainingRows(columns_of(tmp_path / "p.csv", inputs=("lat", "lon")), SPLIT)
    box, places = whereabouts(rows, Place(lat="lat", lon="lon"), ["lat", "lon"])
    np.testing.assert_allclose(box, [lon.min(), lat.min(), lon.max(), lat.max()], atol=0.01)
    assert len(places) == 900
    assert len(rows.check()) == 810


def test_zarr(tmp_path, many_pieces):
    zarr = pytest.importorskip("zarr")
    X, y = data()
    path = tmp_path / "t.zarr"
    array = zarr.create_array(path, shape=(N, 4), chunks=(170, 3), dtype="f8")
    array[:] = np.column_stack([y, X])
    with pytest.raises(TableError, match=r"\(3000, 4\).*columns=None.*attribute"):
        open_table(path)
    array.attrs["columns"] = ["y", "a", "b", "c"]
    assert assert_engines_agree(path)["rows"] == N
    array[1234, 2] = np.nan
    with pytest.raises(TableError, match=r"Row 1235 .* nan in column 'b'"):
        DaskTrainingRows(columns_of(path), SPLIT).check()


def test_bad_values_are_named(tmp_path, many_pieces):
    """By the row of the whole file, in whichever piece it is."""
    lines = [f"{i},{i / 7}" for i in range(9000)]
    lines[7000] = "12,n/k"
    lines[8000] = "x,1"
    (tmp_path / "t.csv").write_text("\n".join(["a,y", *lines]))
    rows = DaskTrainingRows(columns_of(tmp_path / "t.csv", inputs=["a"]), SPLIT)
    assert rows.table.n_pieces > 3
    with pytest.raises(TableError, match=r"'y'.*row 7001 .*'n/k'.*--ignore"):
        rows.check()


def test_gaps_are_named(place, many_pieces):
    with pytest.raises(TableError, match=r"Row 1 .*nothing in column 'd'.*--drop-missing"):
        DaskTrainingRows(columns_of(place / "parts", inputs=["d"]), SPLIT).check()


def test_npz_is_not_for_dask(tmp_path):
    np.savez(tmp_path / "t.npz", a=np.arange(9.0), y=np.arange(9.0))
    with pytest.raises(TableError, match=r"NPZ.*--engine dask.*Parquet"):
        DaskTrainingRows(columns_of(tmp_path / "t.npz", inputs=["a"]), SPLIT)


def test_options_go_together():
    for options in (("tcp://1.2.3.4:5", None), (None, 3)):
        with pytest.raises(CommandError, match="add --engine dask"):
            check_engine(Engine.LOCAL, *options)
    with pytest.raises(CommandError, match="leave one of them out"):
        check_engine(Engine.DASK, "tcp://1.2.3.4:5", 3)


def test_words_are_for_the_local_engine(tmp_path):
    (tmp_path / "t.csv").write_text("a,cut,day,y\n1,fair,2020-01-01,3\n2,good,2020-01-02,4\n")
    said = message("fit", "t.csv", "--target", "y", "--engine", "dask", cwd=tmp_path)
    assert "takes numbers only, but words or dates are in 'cut', 'day'" in said
    assert "--engine local" in said


@pytest.mark.longest
def test_script_on_running_scheduler(place):
    """The same predictions through the console script, on workers of a scheduler's address."""
    options = ("--target", "y", "-i", "a", "-i", "b", "-i", "c", *FIXED)
    expected = as_json("fit", "t.parquet", *options, "--out", "l.zonal", cwd=place)
    with local_cluster(1) as client:
        address = client.scheduler_info()["address"]
        engine = ("--engine", "dask", "--scheduler", address)
        result = as_json("fit", "t.parquet", *options, "--out", "d.zonal", *engine, cwd=place)
        assert client.nthreads()  # which goes on
    assert result["test"] == pytest.approx(expected["test"], rel=1e-8)
    X, _ = data()
    found, local = (zonal.load(place / name).predict(X) for name in ("d.zonal", "l.zonal"))
    np.testing.assert_allclose(found, local, rtol=1e-8, atol=1e-8)


def test_unreachable_scheduler(place, monkeypatch):
    monkeypatch.setattr(dask_cluster, "connect", partial(connect, timeout=0.5))
    engine = ("--engine", "dask", "--scheduler", "tcp://127.0.0.1:9", "--out", "no.zonal")
    said = message("fit", "t.csv", "--target", "y", "-i", "a", *engine, cwd=place)
    assert "No Dask scheduler answers at 'tcp://127.0.0.1:9' within 0.5 s" in said
    assert "no.zonal" not in files(place)


@pytest.mark.longest
@pytest.mark.slow
def test_interrupt_ends_the_workers(tmp_path):
    """Ctrl-C at a terminal, which all processes of the command receive."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((400_000, 4))
    columns = dict(zip("abcd", X.T, strict=True))
    pa.parquet.write_table(pa.table({**columns, "y": X[:, 0]}), tmp_path / "big.parquet")
    command = [SCRIPT, "fit", "big.parquet", "--target", "y", "--features", "gegenbauer"]
    command += ["--budget", "2048", "--out", "m.zonal", "--engine", "dask", "--workers", "1"]
    process = subprocess.Popen(
        command,
        cwd=tmp_path,
        env=ENVIRONMENT,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        # A shell's background job ignores the signal, and so would its children.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    said = ""
    while "Fitting" not in said:
        said += process.stderr.readline()
    time.sleep(1)  # the stage takes longer
    children = psutil.Process(process.pid).children(recursive=True)
    said += interrupted(process, lambda: os.killpg(process.pid, signal.SIGINT))
    assert process.returncode == 130, said
    assert "Traceback" not in said
    assert files(tmp_path) == {"big.parquet"}
    _, alive = psutil.wait_procs(children, timeout=10)
    assert not alive
