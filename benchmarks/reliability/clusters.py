"""Dask workers and schedulers that are killed in the middle of a fit."""

import contextlib
import multiprocessing
import os
import signal
import threading
import time
from pathlib import Path
from typing import Any

import dask.array as da
import numpy as np
from distributed import LocalCluster

import zonal
from zonal.distributed import connect, local_cluster

from .children import HANGS, SIGNALS, fork, strike
from .faults import data, features

N_CHUNKS = 40


def _slowly(block: np.ndarray) -> np.ndarray:
    time.sleep(0.03)
    return block


def rows() -> tuple[Any, Any]:
    """Return rows that take a while to make, and their targets."""
    X, y = (part[:4000] for part in data())
    lazy = da.from_array(X, chunks=(4000 // N_CHUNKS, 3)).map_blocks(_slowly, dtype=float)
    return lazy, da.from_array(y, chunks=4000 // N_CHUNKS)


class Workers:
    """A cluster of two workers for many blows, and the answer without them."""

    def __init__(self) -> None:
        self.client = local_cluster(2)
        self.model = zonal.KernelRidge(features(), 1.0, local=None)
        self.model.fit(*rows())
        start = time.monotonic()
        self.model.fit(*rows())
        self.seconds = time.monotonic() - start
        X, y = (part[:4000] for part in data())
        self.expected = zonal.KernelRidge(features(), 1.0, local=None).fit(X, y).coef_

    def worker_struck(self, rng: Any, folder: Path, seconds: float) -> list[str]:
        """Strike one of the workers; the fit goes on, and ends as if nothing had happened."""
        self._both()
        pids = list(self.client.run(os.getpid).values())
        number = SIGNALS[rng.integers(len(SIGNALS))]
        victim = pids[rng.integers(len(pids))]

        def blow() -> None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(victim, number)

        timer = threading.Timer(rng.uniform(0, self.seconds), blow)
        timer.start()
        start = time.monotonic()
        try:
            self.model.fit(*rows())
        except Exception as error:
            return [f"{type(error).__name__}: {error}"]
        finally:
            timer.join()
        problems = []
        if np.abs(self.model.coef_ - self.expected).max() > 1e-8:
            problems.append("another answer")
        if time.monotonic() - start > HANGS:
            problems.append(f"took {time.monotonic() - start:.0f} s")
        return problems

    def _both(self) -> None:
        """Wait for two workers: Dask itself does not replace one that ended in good order."""
        for _ in range(HANGS):
            if len(self.client.scheduler_info()["workers"]) == 2:
                return
            self.client.cluster.scale(2)
            time.sleep(4)
        raise RuntimeError("the cluster has lost a worker for good")

    def close(self) -> None:
        self.client.close()


def _serve(queue: Any) -> None:
    """Run a scheduler and a worker until killed."""
    os.setsid()
    cluster = LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=":0")
    queue.put(cluster.scheduler_address)
    time.sleep(600)


def scheduler_struck(rng: Any, folder: Path, seconds: float) -> list[str]:
    """Kill the scheduler under a fit: an error in words within a minute."""
    context = multiprocessing.get_context("spawn")
    queue = context.Queue()
    server = context.Process(target=_serve, args=(queue,))
    server.start()
    address = queue.get(timeout=HANGS)

    def fit() -> None:
        with contextlib.closing(connect(address)):
            try:
                zonal.KernelRidge(features(), 1.0, local=None).fit(*rows())
            except ConnectionError as error:
                print(f"Error: {error}")
                os._exit(1)
        os._exit(0)  # whatever Dask would still do at the end of a process

    child = fork(fit, folder)
    time.sleep(rng.uniform(0.3, 2.5))
    os.killpg(server.pid, signal.SIGKILL)
    server.join()
    ended = strike(child, folder, None)
    ended.said = "" if "Traceback" not in ended.said else ended.said
    return ended.problems({0, 1})
