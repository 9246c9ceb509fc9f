"""Block sizes, memory and rounding: numbers that change how long a fit takes, not what it finds."""

import math

__all__ = [
    "BLOCK",
    "BLOCK_NUMBERS",
    "DRAWN_COLUMNS",
    "FAR",
    "FLOOR",
    "KEPT_FEATURES",
    "KEPT_NUMBERS",
    "LAGS",
    "LEAF_SIZE",
    "LOG_RATIO",
    "MOST_COLUMNS",
    "NEGLIGIBLE",
    "PART",
    "POINTS",
    "PREDICTED_ROWS",
    "QUERIES",
    "ROUNDING",
    "SAMPLE_NUMBERS",
    "SMALLEST",
    "SMOOTHNESS",
    "SUMMED_ROWS",
    "TILE",
]

#: The smoothness ν of Matérn kernels that compiled code knows.
SMOOTHNESS = (0.5, 1.5, 2.5)
#: Rows that a thread takes at a time.
BLOCK = 512
#: Rows whose features are summed at a time, and the most numbers in the features that they need.
SUMMED_ROWS, BLOCK_NUMBERS = 8192, 1 << 24
#: Rows that are predicted or drawn at a time: their features are in the cache, or close to it; and
#: columns of draws that a thread substitutes at a time.
PREDICTED_ROWS, DRAWN_COLUMNS = 2048, 32
#: Numbers in the features of the sample by which parameters of both parts are found.
SAMPLE_NUMBERS = 1 << 22
#: Columns at a time: rows of this width that neighbours share stay in the cache.
TILE = 256
#: Queries and points of a tile of distances: its keys stay in the cache of a core.
QUERIES, POINTS = 64, 1024
#: Points in a leaf of a tree.
LEAF_SIZE = 32
#: Queries whose neighbours' features are made at a time, and numbers of features that are kept.
PART, KEPT_FEATURES = 4096, 1 << 25
#: Numbers of factors that are kept at most, 64 MB.
KEPT_NUMBERS = 1 << 23
#: Variances below this share of k(x, x) are rounding.
FLOOR = 1e-12
#: Eigenvalues of the landmarks' matrix below this share of the largest are rounding.
NEGLIGIBLE = 1e-11
#: Variances of repeated observations below this share of their squares are rounding.
ROUNDING = 1e-28
#: The least scale, so that its logarithm is finite.
SMALLEST = 1e-300
#: Beyond, e^-t counts as zero: the compiled exponential ends there.
FAR = 708.0
#: Room for lags in time of which is kept what they tell, a power of two: months have 23, and two
#: that share a place are found anew in turns.
LAGS = 512
#: More columns than a file may ask for.
MOST_COLUMNS = 1 << 16
#: Where the logarithm of the weight of one part of a model over another may go.
LOG_RATIO = math.log(1e-6), math.log(1e6)
