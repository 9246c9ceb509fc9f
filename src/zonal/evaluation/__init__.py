"""How good a model is: test rows, errors, and the error of the kernel matrix.

Everything takes arrays, frames, streams of blocks (`zonal.stream`) and Dask collections, and goes
over the rows once. The command line judges its models with it.

- `split`: which rows are for the test, decided by row number;
- `errors`: sums over rows from which mean squared error, R², accuracy and others follow;
- `judge`: one pass over rows with a fitted model;
- `blocks`, `forward`, `matched`: folds of blocks in space and time, of the end of a series, and at
  the distances of what will be asked; `held_out`: the errors on groups of rows;
- scores of intervals and distributions: `crps`, `interval_score`, `coverage`, `pit_histogram`;
- `approximation`: how close features come to their kernel.

Examples
--------
>>> import numpy as np
>>> import zonal
>>> rng = np.random.default_rng(0)
>>> X = rng.uniform(-3, 3, (1000, 1))
>>> y = np.sin(X[:, 0]) + 0.1 * rng.standard_normal(1000)
>>> split = zonal.evaluation.Split(0.2)
>>> model = zonal.KernelRidge(budget=64, random_state=0).fit(*split.train(X, y))
>>> found = zonal.evaluation.judge(model, X, y, split=split).test.measures()
>>> bool(0.008 < found["mse"] < 0.013)  # the noise has the variance 0.01
True
"""

from ..calibration.scores import (
    calibration_error,
    coverage,
    crps,
    crps_of_quantiles,
    interval_score,
    pit_histogram,
)
from .approximation import approximation_curve, relative_error
from .blocks import BlockKFold
from .errors import ClassErrors, Errors
from .forward import ForwardKFold
from .held_out import errors_by_group
from .interval_errors import IntervalErrors
from .judge import Findings, judge
from .matched import DistanceMatchedKFold
from .split import Split

__all__ = [
    "BlockKFold",
    "ClassErrors",
    "DistanceMatchedKFold",
    "Errors",
    "Findings",
    "ForwardKFold",
    "IntervalErrors",
    "Split",
    "approximation_curve",
    "calibration_error",
    "coverage",
    "crps",
    "crps_of_quantiles",
    "errors_by_group",
    "interval_score",
    "judge",
    "pit_histogram",
    "relative_error",
]
