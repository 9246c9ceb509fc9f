"""python -m benchmarks.exact [peers] [protein] [magic]: writes benchmarks/results/exact*.md."""

import sys
from functools import partial
from pathlib import Path

import numpy as np

import zonal

from ..measure import table
from .all_rows import lines
from .peers import PEERS, problem, run

RESULTS = Path(__file__).parents[1] / "results"
DATA = Path(__file__).parents[1] / "data"
FEATURES = {
    "Nyström, 1,024": partial(zonal.NystroemFeatures, n_components=1024, random_state=0),
    "Nyström, 4,096": partial(
        zonal.NystroemFeatures, n_components=4096, sampling="uniform", random_state=0
    ),
    "Gegenbauer, 1,024": partial(zonal.GegenbauerFeatures, n_components=1024, random_state=0),
}


def rows_of(name: str) -> tuple[np.ndarray, np.ndarray]:
    """The columns and the target; of classes, whether it is the first."""
    with np.load(DATA / f"{name}.npz") as file:
        X, y = file["X"].astype(np.float64), file["y"]
    if not np.issubdtype(y.dtype, np.number) or len(np.unique(y)) == 2:
        y = (y == y[0]).astype(np.float64)
    return X, y.astype(np.float64)


def peers(sizes: tuple[int, ...] = (10_000, 20_000)) -> None:
    """Time and memory beside the peers."""
    X, y = rows_of("protein")
    order = np.random.default_rng(0).permutation(len(X))
    X, y = X[order], y[order]
    run("zonal.ExactKernelRidge", *problem(2_500, X, y))  # compiles
    rows = []
    for n in sizes:
        found = {name: run(name, *problem(n, X, y)) for name in PEERS}
        peer = found["scikit-learn KernelRidge"]
        for name, result in found.items():
            gap = np.sqrt(np.mean((result.predictions - peer.predictions) ** 2))
            gap /= np.sqrt(np.mean(peer.predictions**2))
            ratios = f"{result.seconds / peer.seconds:.2f}", f"{result.memory / peer.memory:.3f}"
            cells = f"{result.seconds:.2f}", f"{result.memory / 1e6:.0f}", *ratios, f"{gap:.1e}"
            rows.append((f"{n:,}", name, *cells, result.note))
            print(*rows[-1], sep=" | ", flush=True)
    header = ("rows", "method", "s", "MB", "time ratio", "memory ratio", "difference", "note")
    text = (
        "# The exact solution beside its peers\n\n`python -m benchmarks.exact peers` (extra "
        "`bench`), two cores. Protein, standardised, Gaussian kernel of bandwidth 2, alpha 0.1, "
        "tol 1e-4, fit and 1,000 predictions. Ratios are to scikit-learn; the difference is the "
        "root mean square of predictions, relative. rlaopt gets the whole matrix in float32, which "
        "is in its time.\n\n"
    )
    (RESULTS / "exact_peers.md").write_text(text + table(rows, header) + "\n")


def all_rows(name: str) -> None:
    """One dataset with all its rows."""
    X, y = rows_of(name)
    found = []
    for line in lines(X, y, FEATURES):
        found.append(line)
        print(name, *line, sep=" | ", flush=True)
    header = ("kernel", "method", "test MSE", "fit, s", "note")
    text = (
        f"# {name}: all rows, exactly\n\n`python -m benchmarks.exact {name}`, two cores, one run. "
        f"{len(X) - len(X) // 10:,} training rows, a random tenth is the test; learned metric, "
        "intercept. Features: alpha by cross-validation on all training rows.\n\n"
    )
    (RESULTS / f"exact_{name}.md").write_text(text + table(found, header) + "\n")


for word in sys.argv[1:] or ["peers", "protein", "magic"]:
    peers() if word == "peers" else all_rows(word)
