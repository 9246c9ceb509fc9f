"""How much a search looks at: rows, neighbours and steps.

Each row judged adds a term of variance about one half to the log evidence, so that the mean over n
rows is known to (2n)^(-1/2): 1.6 % by 2,000 rows. More rows move parameters by less than that.
"""

__all__ = [
    "BASE_ROWS",
    "FEW_NEIGHBORS",
    "FEW_SCALES",
    "FIRST_ROWS",
    "JUDGED",
    "ROUNDS",
    "ROUNDS_OF_MANY",
    "STEPS",
]

#: Rows whose terms of the evidence are summed.
JUDGED = 2_000
#: Rows among which the neighbours of those that are judged are: beyond, they are as good as near.
BASE_ROWS = 100_000
#: Features vary slowly: their coefficients are known as well from rows that are far apart as from
#: all. RMSE from the first 10,000 rows, the first 20,000 and all: elevation in blocks .5371, .5368,
#: .5366; simulated field .8300, .8297, .8305; simulated ν = 1/2 in holes .5323, .5324, .5323.
FIRST_ROWS = 10_000
#: Neighbours where kernels are compared; fits have as many as predictions. Not tuned.
FEW_NEIGHBORS = 16
#: Steps of a climb at most; most end before.
STEPS = 12
#: Rows judged, rows among which their neighbours are, neighbours, iterations, searches for
#: neighbours: of the rounds that choose a start, climb on from it, compare kernels and polish the
#: best, and of a quicker polish.
ROUNDS = (
    (750, 16_000, 12, STEPS, 1),
    (1_500, 16_000, 12, STEPS, 1),
    (1_500, BASE_ROWS, FEW_NEIGHBORS, 10, 2),
    (16_000, BASE_ROWS, 24, 8, 2),
    (5_000, BASE_ROWS, 24, 8, 1),
)
#: With more length scales than this, as encoded tables have, more rows are judged, in more
#: iterations and with neighbours found anew more often. With half as many it was left to chance
#: where a climb ended, and errors of diamonds and bikeshare (26 columns) differed by 5 %.
FEW_SCALES = 9
ROUNDS_OF_MANY = (
    ROUNDS[0],
    (3_000, 16_000, 12, 8, 2),
    (3_000, BASE_ROWS, FEW_NEIGHBORS, 8, 1),
    *ROUNDS[3:],
)
