"""What is done to the library, and what must be true afterwards.

Each function does one thing once, at a random moment or with a random limit, in a folder of its
own, and returns what was wrong afterwards in words: an empty list is what it should be.
"""

import functools
import os
import resource
import shutil
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet

import zonal
from zonal.cli.app import run
from zonal.features.space import FeatureSpace
from zonal.rows import stream as streams

from .children import CODES, SIGNALS, Ended, fork, strike

NOBODY = 65534
N_ROWS = 6000


def features() -> zonal.GegenbauerFeatures:
    return zonal.GegenbauerFeatures(zonal.Gaussian(2.0), 32, random_state=0)


@functools.cache
def data() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((N_ROWS, 3))
    return X, np.sin(X[:, 0]) + X[:, 1] * X[:, 2] + 0.1 * rng.standard_normal(N_ROWS)


def command(*words: Any) -> Callable[[], None]:
    """Return a command of the command line as a function."""

    def start() -> None:
        sys.argv = ["zonal", *map(str, words)]
        run()

    return start


def fit_command(*outputs: Any) -> Callable[[], None]:
    options = ("--features", "gegenbauer", "--bandwidth", 2, "--budget", 64)
    return command("fit", "t.parquet", "--target", "y", *options, *outputs, "--force")


FIT = fit_command("--out", "m.zonal", "--report", "r.html")
PREDICT = command("predict", "model.zonal", "t.parquet", "--out", "p.csv", "--force")


def prepare(folder: Path) -> float:
    """Write a table, a model of it and old outputs; return the seconds that a fit takes."""
    X, y = data()
    table = pa.table({**dict(zip("abc", X.T, strict=True)), "y": y})
    pa.parquet.write_table(table, folder / "t.parquet")
    fits = [strike(fork(FIT, folder), folder, None) for _ in range(2)]  # the first compiles
    if fits[-1].code:
        raise RuntimeError(fits[-1].said)
    (folder / "m.zonal").rename(folder / "model.zonal")
    zonal.save(zonal.Gaussian(7.0), folder / "m.zonal")
    for name in ("r.html", "p.csv"):
        (folder / name).write_text("old")
    return fits[-1].seconds


def left_behind(folder: Path) -> list[str]:
    return [f"left behind: {item.name}" for item in folder.iterdir() if item.name[0] == "."]


def swept(folder: Path, number: int, again: Callable[[], Any]) -> list[str]:
    """Return what is left behind; a killed process cannot tidy up, but the next one must."""
    if number != signal.SIGKILL or not left_behind(folder):
        return left_behind(folder)
    return strike(fork(again, folder), folder, None).problems({0}) + left_behind(folder)


def whole(folder: Path) -> list[str]:
    """Return what is wrong with the outputs of commands: each must be the old one or complete."""
    found = []
    try:
        model = zonal.load(folder / "m.zonal")
        if not isinstance(model, zonal.Gaussian):
            model.predict(data()[0][:5])
    except Exception as error:
        found.append(f"m.zonal cannot be used: {error}")
    report = (folder / "r.html").read_text()
    if report != "old" and not report.rstrip().endswith("</html>"):
        found.append("r.html is cut off")
    predictions = (folder / "p.csv").read_text()
    if predictions != "old" and predictions.count("\n") != N_ROWS + 1:
        found.append("p.csv is cut off")
    return found


def struck(rng: Any, folder: Path, job: Callable[[], Any], longest: float) -> tuple[Ended, int]:
    """Run a job and strike it at a random moment of its time."""
    number = SIGNALS[rng.integers(len(SIGNALS))]
    return strike(fork(job, folder), folder, rng.uniform(0, longest), number), number


def fit_struck(rng: Any, folder: Path, seconds: float) -> list[str]:
    ended, number = struck(rng, folder, FIT, seconds)
    problems = ended.problems(CODES[signal.Signals(number)] | {0}) + whole(folder)
    return problems + swept(folder, number, FIT)


def prediction_struck(rng: Any, folder: Path, seconds: float) -> list[str]:
    ended, number = struck(rng, folder, PREDICT, seconds / 4)
    problems = ended.problems(CODES[signal.Signals(number)] | {0}) + whole(folder)
    return problems + swept(folder, number, PREDICT)


def save_struck(rng: Any, folder: Path, seconds: float) -> list[str]:
    """Save two models over each other, again and again."""
    X, y = data()
    models = [zonal.KernelRidge(features(), a, local=None).fit(X[:200], y[:200]) for a in (1, 9)]
    answers = [model.predict(X[:9]) for model in models]
    path = folder / "s.zonal"
    zonal.save(models[0], path)

    def save_forever() -> None:
        # A library does not decide what a signal does to a program; this is what programs do.
        signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(143))
        while True:
            for model in models:
                zonal.save(model, path)

    ended, number = struck(rng, folder, save_forever, 0.4)
    problems = ended.problems(CODES[signal.Signals(number)])
    found = zonal.load(path).predict(X[:9])
    if not any(np.array_equal(found, answer) for answer in answers):
        problems.append("the file holds neither of the models")
    zonal.save(models[0], path)
    return problems + left_behind(folder)


def stream_struck(rng: Any, folder: Path, seconds: float) -> list[str]:
    """Fit to a stream with a checkpoint, and go on after the blow as often as it takes."""
    X, y = data()

    def fit(checkpoint: Any, name: str) -> None:
        streams.LEARN_ROWS, FeatureSpace.block_rows = 1000, 500
        signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(143))
        batches = ((X[i : i + 100], y[i : i + 100]) for i in range(0, N_ROWS, 100))
        model = zonal.KernelRidge(features(), random_state=0).fit(batches, checkpoint=checkpoint)
        np.save(folder / name, model.coef_)

    start = strike(fork(lambda: fit(None, "whole.npy"), folder), folder, None)
    problems = start.problems({0})
    checkpoint = zonal.Checkpoint(folder / "sums", every=1)
    job = functools.partial(fit, checkpoint, "resumed.npy")
    ended, number = struck(rng, folder, job, 1.5 * start.seconds)
    problems += ended.problems(CODES[signal.Signals(number)] | {0})
    if ended.code:
        problems += strike(fork(job, folder), folder, None).problems({0})
    if not problems and not np.array_equal(
        np.load(folder / "whole.npy"), np.load(folder / "resumed.npy")
    ):
        problems.append("the resumed fit differs from an uninterrupted one")
    if checkpoint.path.exists():
        problems.append("the checkpoint is still there")
    return problems + left_behind(folder)


def said_in_words(ended: Ended) -> list[str]:
    """Return what is wrong with how a command failed: an error of one sentence, or success."""
    problems = ended.problems({0, 1})
    if ended.code == 1 and ended.said.count("Error: ") != 1:
        problems.append(f"no error in words: {ended.said[-300:]!r}")
    return problems


def disk_full(rng: Any, folder: Path, seconds: float) -> list[str]:
    """Let no file grow beyond a random size, from nothing to more than any output has."""
    most = int(10 ** rng.uniform(1, 6.5))
    job = (FIT, PREDICT)[rng.integers(2)]

    def limited() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, resource.RLIM_INFINITY))
        job()

    # What the child says goes to a file too.
    ended = strike(fork(limited, folder), folder, None)
    return ended.problems({0, 1}) + whole(folder) + left_behind(folder)


def memory_short(rng: Any, folder: Path, seconds: float) -> list[str]:
    """Leave a fit a random amount of memory, from almost none to enough."""
    more = int(rng.uniform(1, 600) * 2**20)

    def limited() -> None:
        with open("/proc/self/statm") as file:
            now = int(file.read().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (now + more, resource.RLIM_INFINITY))
        FIT()

    ended = strike(fork(limited, folder), folder, None)
    return said_in_words(ended) + whole(folder) + left_behind(folder)


def not_permitted(rng: Any, folder: Path, seconds: float) -> list[str]:
    """Run a command as somebody who may not write to the folder, or not read a file."""
    what = ("folder", "table", "model")[rng.integers(3)]
    places = {"folder": folder, "table": folder / "t.parquet", "model": folder / "model.zonal"}
    (folder / ".said").touch()
    (folder / ".said").chmod(0o666)
    folder.chmod(0o777)
    places[what].chmod(0o555 if what == "folder" else 0o000)
    job = PREDICT if what == "model" else (FIT, PREDICT)[rng.integers(2)]

    def as_nobody() -> None:
        if os.getuid() == 0:  # who may do anything
            os.setgid(NOBODY)
            os.setuid(NOBODY)
        job()

    ended = strike(fork(as_nobody, folder), folder, None)
    for place in places.values():
        place.chmod(0o777)
    if ended.code == 2 and "is not readable" in ended.said:  # before the command begins
        return whole(folder) + left_behind(folder)
    problems = said_in_words(ended) + whole(folder) + left_behind(folder)
    return problems if ended.code else [*problems, "it was not refused"]


def copied(template: Path, folder: Path) -> Path:
    """Return a folder of its own for one case."""
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(template, folder)
    return folder
