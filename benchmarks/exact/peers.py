"""scikit-learn's KernelRidge and rlaopt's preconditioned conjugate gradients on the same system."""

import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from sklearn.kernel_ridge import KernelRidge

import zonal

from ..measure import peak_memory

__all__ = ["PEERS", "Result", "problem", "run"]

# Gaussian kernel of protein's columns, standardised, and the ridge.
BANDWIDTH, ALPHA = 2.0, 0.1


class Result(NamedTuple):
    """Seconds of work, bytes at the peak, predictions, and what the method says of itself."""

    seconds: float
    memory: int
    predictions: Any
    note: str


def problem(n: int, X: Any, y: Any) -> tuple[Any, Any, Any]:
    """Rows, targets and new rows."""
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    y = (y - y.mean()) / y.std()
    return X[:n], y[:n], X[-1000:]


def _scikit_learn(X: Any, y: Any, new: Any) -> tuple[Any, str]:
    model = KernelRidge(alpha=ALPHA, kernel="rbf", gamma=0.5 / BANDWIDTH**2).fit(X, y)
    return model.predict(new), "Cholesky of the n × n matrix"


def _zonal(X: Any, y: Any, new: Any) -> tuple[Any, str]:
    model = zonal.ExactKernelRidge(zonal.Gaussian(BANDWIDTH), ALPHA, random_state=0).fit(X, y)
    report = model.report_
    return (
        model.predict(new),
        f"{report.n_iterations} iterations, {report.predicted_iterations} predicted, "
        f"rank {report.rank}",
    )


def _rlaopt(X: Any, y: Any, new: Any) -> tuple[Any, str]:
    """Its Nyström-preconditioned conjugate gradients, with the whole matrix, of the same rank.

    In float32: its estimate of the spectrum's error (0.1.0) knows no other type.
    """
    import torch
    from rlaopt.linalg import LinSys, NystromConfig
    from rlaopt.solvers.pcg import PCG, PCGConfig, PCGStoppingCriteria

    kernel = zonal.Gaussian(BANDWIDTH)
    rank = max(500, int(np.ceil(7 * np.sqrt(len(X)))))
    torch.manual_seed(0)
    X, y = X.astype(np.float32), y.astype(np.float32)
    system = LinSys(torch.from_numpy(kernel(X)), torch.from_numpy(y), reg=ALPHA)
    config = PCGConfig(preconditioner_config=NystromConfig(rank_init=rank, base_damping=ALPHA))
    found = PCG(system, config).solve(
        stopping_criteria=PCGStoppingCriteria(tol=1e-4, max_iters=1000)
    )
    dual = found.solution.detach().numpy()[:, 0]
    return kernel(new, X) @ dual, f"{found.num_iters} iterations, rank {rank}, matrix in memory"


PEERS: dict[str, Callable[[Any, Any, Any], tuple[Any, str]]] = {
    "zonal.ExactKernelRidge": _zonal,
    "scikit-learn KernelRidge": _scikit_learn,
    "rlaopt PCG, Nyström": _rlaopt,
}


def run(name: str, X: Any, y: Any, new: Any) -> Result:
    """One run: seconds of work and memory."""
    found: list[tuple[Any, str]] = []
    start = time.process_time()
    memory = peak_memory(lambda: found.append(PEERS[name](X, y, new)))
    seconds = time.process_time() - start
    return Result(seconds, memory, *found[0])
