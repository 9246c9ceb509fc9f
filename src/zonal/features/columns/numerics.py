"""Memory, rounding and ranges: they change how long a fit takes, not what it finds."""

import numpy as np

__all__ = [
    "ALPHAS",
    "BLOCK_ROWS",
    "DECIMALS",
    "GAP_ALPHAS",
    "JUDGED_ROWS",
    "MAX_BLOCK",
    "MAX_NUMBERS",
    "MAX_RANK",
    "MAX_WIDTH",
    "MEDIAN_ROWS",
    "MOST_FACTORS",
    "MOST_TRIED",
    "MOST_WORDS",
    "TABLE_SIZE",
    "TIE",
]

#: Rows whose median distance is kept: half a million pairs.
MEDIAN_ROWS = 1000
#: Numbers in the rows that are learnt from, 512 MB.
MAX_NUMBERS = 1 << 26
#: Beyond so many columns the outer products are sketched: no d × d matrix is formed.
MAX_RANK = 512
#: Numbers in a block of gradients, 64 MB.
MAX_BLOCK = 1 << 23
#: Numbers of columns times targets whose gradients are found together.
MAX_WIDTH = 1 << 14
#: Means that differ by less, relative to the smallest, are ties.
TIE = 1e-6
#: Ridges over the mean eigenvalue, strongest first: from little more than the mean of y, so that
#: noise is no reason for another metric, to where rounding errors begin to show in gradients.
ALPHAS = np.geomspace(1e3, 1e-7, 21)
#: Ridges of the regressions that fill gaps, of columns of unit variance.
GAP_ALPHAS = tuple(np.geomspace(1e-2, 1e4, 13))
#: Rows of a block that is counted.
BLOCK_ROWS = 1 << 16
#: Words of a column that are summed at most; of more, the commonest so far.
MOST_WORDS = 100_000
#: Decimals of encoded means, which are of order one: sums over blocks differ by rounding, and a
#: model that is chosen with them must not.
DECIMALS = 12
#: Combinations up to this are numbered by a table of all, not by sorting.
TABLE_SIZE = 1 << 26
#: Columns of a combination at most, combinations that are tried at most (pairs first), and rows by
#: which they are judged.
MOST_FACTORS, MOST_TRIED, JUDGED_ROWS = 3, 64, 100_000
