"""A real scheduler with worker processes over TCP."""

import os
import signal
import socket
import sys
import threading
import time
from concurrent.futures import CancelledError
from types import SimpleNamespace

import cloudpickle
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from distributed import KilledWorker, wait
from sklearn.base import clone

import zonal
from zonal.distributed import connect, local_cluster
from zonal.rows import LEARN_ROWS
from zonal.rows.cluster import explained

cloudpickle.register_pickle_by_value(sys.modules[__name__])  # workers cannot import tests


def gegenbauer(n_components):
    """Features that learn a bandwidth, a centre and radii."""
    return zonal.GegenbauerFeatures(n_components=n_components)


RNG = np.random.default_rng(0)
X = RNG.standard_normal((600, 3))
y = np.sin(X[:, 0]) + X[:, 1] * X[:, 2] + 0.1 * RNG.standard_normal(600)
LABELS = np.where(y > 0, "up", "down")
TWO = np.column_stack([y, X[:, 0] ** 2])
N_WORKERS = 2


@pytest.fixture(scope="module")
def client():
    with local_cluster(N_WORKERS) as client:
        yield client


def oblivious(n_components, random_state=0):
    return zonal.GegenbauerFeatures(
        zonal.Gaussian(2.0),
        n_components,
        max_degree=6,
        n_radial=2,
        radial_basis="taylor",
        center=False,
        random_state=random_state,
    )


def test_workers_are_processes_over_tcp(client):
    assert client.scheduler.address.startswith("tcp://")
    pids = client.run(os.getpid)
    assert len({*pids.values(), os.getpid()}) == N_WORKERS + 1


@pytest.mark.parametrize(
    ("learner", "target"),
    [
        (zonal.KernelRidge(gegenbauer(40), random_state=0), y),
        (zonal.KernelRidgeClassifier(gegenbauer(40), random_state=0), LABELS),
        (zonal.GaussianProcess(gegenbauer(40), noise=0.01, random_state=0), y),
        (zonal.KernelPCA(gegenbauer(40), random_state=0), None),
        (zonal.KernelCCA(gegenbauer(40), random_state=0), TWO),
        (zonal.KernelKMeans(gegenbauer(40), n_clusters=3, random_state=0), None),
    ],
    ids=lambda e: type(e).__name__,
)
def test_equals_serial(client, learner, target):
    chunks = (1, 0, 299, 300)
    rows = da.from_array(X, chunks=(chunks, 3))
    values = None if target is None else da.from_array(target, chunks=(chunks, *target.shape[1:]))
    whole = clone(learner).fit(X, target)
    model = clone(learner).fit(rows, values)
    if target is y:
        one = clone(learner).fit(da.from_array(X, chunks=-1), da.from_array(y, chunks=-1))
        np.testing.assert_allclose(one.predict(X), whole.predict(X), rtol=0, atol=1e-8)
    method = "transform" if hasattr(model, "transform") else "predict"
    found, expected = getattr(model, method)(rows).compute(), getattr(whole, method)(X)
    if expected.dtype.kind == "f":
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-8)
    else:
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("persisted", [False, True])
def test_frames(client, persisted):
    frame = dd.from_pandas(pd.DataFrame(X, columns=["a", "b", "c"]).assign(y=y), npartitions=5)
    frame = frame.persist() if persisted else frame
    model = zonal.KernelRidge(gegenbauer(40), random_state=0).fit(
        frame[["a", "b", "c"]], frame["y"]
    )
    assert model.feature_names_in_.tolist() == ["a", "b", "c"]
    whole = clone(model).fit(frame[["a", "b", "c"]].compute(), y)
    np.testing.assert_allclose(model.coef_, whole.coef_, rtol=0, atol=1e-8)


def made(block_info=None, slowly=False, log=None):
    """Rows that are made on the workers, from a known seed."""
    (info,) = [block_info[None]] if block_info else [None]
    number = info["chunk-location"][0]
    if log is not None:
        open(os.path.join(log, f"{number}-{time.monotonic_ns()}"), "w").close()
    if slowly:
        time.sleep(0.1)
    return np.random.default_rng(number).standard_normal(info["chunk-shape"])


def sent(client):
    """Bytes that all workers have sent, by Dask's own counters."""
    return sum(client.run(lambda dask_worker: dask_worker.transfer_outgoing_bytes_total).values())


@pytest.mark.parametrize(("alpha", "width"), [(1.0, 128), (1.0, 384), ("cv", 128)])
def test_bytes_moved(client, alpha, width):
    """Each worker sends its moments once, and the rows of two samples."""
    n, dim = 40_000, 3
    rows = da.map_blocks(made, chunks=((2000,) * (n // 2000), (dim,)), dtype=float)
    model = zonal.KernelRidge(oblivious(width), alpha)
    before = sent(client)
    model.fit(rows, rows[:, 0])
    moved = sent(client) - before
    moments = (2 if alpha == "cv" else 1) * 8 * (width + 1 + 1) ** 2
    # Its rows with y and number: those of one worker (a few more than needed) go to the other,
    # and all to the client.
    half = LEARN_ROWS * (1 + 6 / LEARN_ROWS**0.5) / N_WORKERS
    sample = 8 * (dim + 2) * (LEARN_ROWS + half)
    # Beside its moments each worker keeps as many rows for intervals.
    sample += N_WORKERS * 8 * (dim + 2) * LEARN_ROWS
    assert moved == pytest.approx(N_WORKERS * moments + sample, rel=0.2)


def test_rows_that_are_on_workers_stay_there(client):
    rows = da.random.default_rng(0).standard_normal((80_000, 8), chunks=(2000, 8)).persist()
    values = rows[:, 0].persist()
    wait([rows, values])
    model = zonal.KernelRidge(oblivious(32), 1.0)
    before = sent(client)
    model.fit(rows, values)
    # Two samples are most of it: one whose merging moves up to half of it again, and one of each
    # worker beside its moments.
    assert sent(client) - before < (2.5 + N_WORKERS) * 8 * 10 * LEARN_ROWS < rows.nbytes
    whole = clone(model).fit(rows.compute(), values.compute())
    np.testing.assert_allclose(model.coef_, whole.coef_, rtol=0, atol=1e-8)


@pytest.mark.longest
def test_a_killed_worker_changes_nothing(client, tmp_path):
    n_blocks = 24
    rows = da.map_blocks(
        made, chunks=((200,) * n_blocks, (3,)), dtype=float, slowly=True, log=str(tmp_path)
    )
    model = zonal.KernelRidge(oblivious(64), 1.0)
    victim = next(iter(client.run(os.getpid).values()))
    killed = threading.Event()

    def kill():
        # All blocks were made once for the sample, and some for the moments.
        while len(os.listdir(tmp_path)) < n_blocks + n_blocks // 3:
            time.sleep(0.01)
        os.kill(victim, signal.SIGKILL)
        killed.set()

    killer = threading.Thread(target=kill, daemon=True)
    killer.start()
    model.fit(rows, rows[:, 1])
    assert killed.is_set()
    assert len(os.listdir(tmp_path)) > 2 * n_blocks  # some work was done again
    values = np.concatenate(
        [np.random.default_rng(k).standard_normal((200, 3)) for k in range(n_blocks)]
    )
    whole = clone(model).fit(values, values[:, 1])
    np.testing.assert_allclose(model.coef_, whole.coef_, rtol=0, atol=1e-8)
    assert model.n_rows_ == 200 * n_blocks
    client.wait_for_workers(N_WORKERS, timeout=60)


def test_no_scheduler_at_the_address():
    start = time.monotonic()
    with pytest.raises(ConnectionError, match=r"tcp://127.0.0.1:1.*within 2 s.*is it running"):
        connect("tcp://127.0.0.1:1", timeout=2)
    assert time.monotonic() - start < 10


def test_something_else_at_the_address():
    with socket.create_server(("127.0.0.1", 0)) as mute:
        start = time.monotonic()
        with pytest.raises(ConnectionError, match="within 1 s"):
            connect(f"tcp://127.0.0.1:{mute.getsockname()[1]}", timeout=1)
        assert time.monotonic() - start < 10


def test_no_address_at_all():
    with pytest.raises(ConnectionError, match="'nonsense://'"):
        connect("nonsense://", timeout=1)
    with pytest.raises(ValueError, match="n_workers=0"):
        local_cluster(0)


def test_a_lost_cluster_is_told_in_words():
    with pytest.raises(ConnectionError, match="scheduler was lost"), explained():
        raise CancelledError
    with pytest.raises(RuntimeError, match="smaller chunks"), explained():
        raise KilledWorker("task", SimpleNamespace(address="tcp://10.0.0.1:1"), 3)
