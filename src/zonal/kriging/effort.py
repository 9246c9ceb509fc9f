"""How much a search looks at: rows, neighbours and steps.

Each row judged adds a term of variance about one half to the log evidence, so that the mean over n
rows is known to (2n)^(-1/2): 1.6 % by 2,000 rows. More rows move parameters by less than that.
"""

from .numerics import BASE_ROWS, STEPS

__all__ = [
    "FEW_COLUMNS",
    "FEW_NEIGHBORS",
    "FIRST_ROWS",
    "JUDGED",
    "ROUNDS",
    "SPACE_TIME",
]

#: Rows whose terms of the evidence are summed.
JUDGED = 2_000
#: Features vary slowly: their coefficients are known as well from rows that are far apart as from
#: all. RMSE from the first 10,000 rows, the first 20,000 and all: elevation in blocks .5371, .5368,
#: .5366; simulated field .8300, .8297, .8305; simulated ν = 1/2 in holes .5323, .5324, .5323.
FIRST_ROWS = 10_000
#: Neighbours where kernels are compared; fits have as many as predictions. Not tuned.
FEW_NEIGHBORS = 16
#: Rows judged, rows among which their neighbours are, neighbours, iterations, searches for
#: neighbours: of the rounds that choose a start, climb on from it, compare kernels and polish the
#: best, and of a quicker polish; by the least number of length scales. Many, as encoded tables
#: have, are judged by more rows: with half as many it was left to chance where a climb ended, and
#: errors of diamonds and bikeshare (26 columns) differed by 5 %.
ROUNDS = {
    1: (
        (750, 16_000, 12, STEPS, 1),
        (1_500, 16_000, 12, STEPS, 1),
        (1_500, BASE_ROWS, FEW_NEIGHBORS, 10, 2),
        (16_000, BASE_ROWS, 24, 8, 2),
        (5_000, BASE_ROWS, 24, 8, 1),
    ),
    10: (
        (750, 16_000, 12, STEPS, 1),
        (3_000, 16_000, 12, 8, 2),
        (3_000, BASE_ROWS, FEW_NEIGHBORS, 8, 1),
        (16_000, BASE_ROWS, 24, 8, 2),
        (5_000, BASE_ROWS, 24, 8, 1),
    ),
}
#: Rows judged, neighbours and steps of kernels of space and time: where terms are compared, where
#: the best climb on, of a velocity alone, and of what travels with it. Neighbours of the last two
#: are the nearest in space and time, and few rows tell less of a velocity than chance does: daily
#: maxima of 137 stations have an RMSE on days held out of the training rows of 5.99 by 700 of them,
#: where no velocity is taken, 5.76 by 1,500, 5.42 by 4,000 and 5.44 by 8,000.
SPACE_TIME = ((700, 18, 25), (1_800, 24, 10), (4_000, 10, 15), (4_000, 16, 15))
#: In up to so many columns the nearest rows are nearer than others, and a few hundred features
#: carry something of a kernel; in more, more rows are about as near, and each tells something.
FEW_COLUMNS = 6
