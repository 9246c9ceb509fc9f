"""Rounding, ranges and grids of searches: they change how long a fit takes, not what it finds."""

import numpy as np

__all__ = [
    "ALPHAS",
    "BOUNDS",
    "EDGES",
    "FACTORS",
    "LEVELS",
    "NOISES",
    "ROUNDING",
    "SHARES",
    "SMALLEST",
    "START",
    "TEMPERATURES",
]

#: Rounding of (n + 1) p, which must not change the rank.
ROUNDING = 1e-9
#: Squares below this share of their mean are as good as zero, whose logarithm tells nothing.
SMALLEST = 1e-3
#: Levels by which a CRPS is summed.
LEVELS = (np.arange(25) + 0.5) / 25
#: How much of a log variance is taken; the best counts.
SHARES = (0.5, 0.75, 1.0)
#: Length scales of a log variance, in units of the model's own, and noise in units of the process.
#: The logarithm of a squared normal variable has a variance of five: there is always noise.
FACTORS, NOISES = (0.3, 1.0, 3.0, 10.0), (0.3, 3.0, 10.0)
#: Ridges that are tried, in units of the mean eigenvalue.
ALPHAS = np.geomspace(1e-3, 1e3, 7)
#: Where the logarithms of the temperature T and of δ are looked for, and from where.
BOUNDS, START = ((-3.0, 4.0), (-6.0, 2.0)), (0.5, -2.0)
#: Where log T is looked for, of classes fitted by log loss.
TEMPERATURES = (-1.5, 1.5)
#: Classes of distances in which coverage is told, in spacings of the rows.
EDGES = (0.0, 1.5, 3.0, 6.0, 12.0, np.inf)
