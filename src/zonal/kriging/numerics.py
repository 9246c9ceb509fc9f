"""Block sizes, memory, rounding, where searches look: they change the time, not what is found."""

import math

import numpy as np

__all__ = [
    "BASE_ROWS",
    "BLOCK",
    "BLOCK_NUMBERS",
    "CANDIDATES",
    "DRAWN_COLUMNS",
    "EQUAL_STEPS",
    "EXTENTS",
    "FAR",
    "FIRST_STEPS",
    "FLOOR",
    "GROWTH",
    "GROWTH_OF_FEW",
    "KEPT_FEATURES",
    "KEPT_NUMBERS",
    "LAGS",
    "LEAF_SIZE",
    "LEAST_GAIN",
    "LEAST_NOISE",
    "LEAST_SHARE",
    "LITTLE",
    "LOG_NOISE",
    "LOG_RATIO",
    "LOG_ROOTS",
    "LOG_SCALE",
    "MOST_CALLS",
    "MOST_COLUMNS",
    "MOST_ITERATIONS",
    "NEGLIGIBLE",
    "NOISE_START",
    "NUGGET",
    "PART",
    "PER_NEIGHBOR",
    "POINTS",
    "POWERS",
    "PREDICTED_ROWS",
    "QUERIES",
    "RATIOS",
    "REACH",
    "REACHES",
    "ROUNDING",
    "SAME_METRIC",
    "SAMPLE_NUMBERS",
    "SHORTEST",
    "SMALLEST",
    "SMALL_RESIDUAL",
    "SMOOTHNESS",
    "STARTS",
    "START_NOISE",
    "START_NOISE_OF_TERMS",
    "STAYS",
    "STEPS",
    "SUMMED_ROWS",
    "TILE",
    "TIMES_FEW",
    "TREE_COLUMNS",
    "TREE_COLUMNS_OF_FEW",
    "UNREACHED",
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
#: Where climbs go: length scales in units of the columns' standard deviations, noise relative to
#: the field, and the logarithms of the diagonals of roots of covariances between targets.
LOG_SCALE = math.log(1e-4), math.log(1e3)
LOG_NOISE = math.log(1e-8), math.log(1e4)
LOG_ROOTS = math.log(1e-4), math.log(1e2)
#: A climb ends where a step promises less evidence for each row than this, and neighbours are found
#: anew where the last ones let it grow by more than twenty times as much.
LEAST_GAIN = 1e-4
#: The least noise that a climb starts from: the evidence is flat where there is none. From 1e-8,
#: where July's temperatures over land may begin, a climb ended at half the evidence.
START_NOISE = 1e-3
#: With less noise, what features leave at a row may be rounding alone: landmarks are rows.
LEAST_NOISE = 1e-9
#: Ratios τ that are compared, in steps of a quarter: the evidence is flatter than that at its top.
RATIOS = np.geomspace(1e-3, 1e4, 73)
#: Of known errors: how far σ² is looked for, as a logarithm, from where relative noise has it; the
#: least s, as a share of the noise of a row of mean weight; how often the evidence is looked at,
#: and where from, beside a first idea of the logarithms of σ² and s.
REACH, LEAST_SHARE, MOST_CALLS = 7.0, 1e-6, 60
FIRST_STEPS = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, -1.5]])
#: Neighbours depend on the ratios of the length scales alone, and hardly change where the
#: logarithms of these do not move by more than this.
SAME_METRIC = 0.05
#: Rows among which landmarks are chosen.
CANDIDATES = 8192
#: With more effective columns than this, distances to all rows are faster than a tree: measured
#: among 10,000 to 200,000 rows. The same for earlier rows, where a few rows ask, so many times
#: fewer than there are: trees over prefixes are made for these alone. On a sphere and in time
#: 16,000 of 60,000 rows take .39 s without trees and .22 s with them, and 1,500 .04 s and .07 s.
TREE_COLUMNS, TREE_COLUMNS_OF_FEW, TIMES_FEW = 6, 3, 8
#: Trees over prefixes of the rows grow by this factor: at most a fifth of what a tree returns is
#: later than the row that asks. Where few rows ask, fewer trees are worth more.
GROWTH, GROWTH_OF_FEW = 1.25, 2.0
#: Length scales to start from, in units of the distance between two random rows, and noise. From
#: little noise a climb takes much noise for a process of no range, and stays there.
STARTS = ((0.5, 0.1), (0.05, 0.1), (0.5, 10.0))
#: The noise where nothing can be learnt, and where climbs start.
NOISE_START = 0.1
#: Length scales of k_long that are compared, in units of the distance that the features resolve:
#: from scales that they just carry to such as cross the domain; in one group of columns alone, in
#: units of its extent.
REACHES, EXTENTS = (6.0, 12.0, 24.0, 3.0), (1.0, 0.3)
#: How much less places count than times where neighbours are of the same time, and the other way;
#: and what time counts for a term that does not depend on it: it tells rows of one place apart.
LITTLE = 1e-3
#: Equidistant times differ by less, relative to their steps.
EQUAL_STEPS = 1e-6
#: Terms of space and time: the least noise that their climbs start from; where what stays begins,
#: from place to place and over large regions, in units of the first length scale; the shortest
#: length scale in the same units; and that of columns which a term does not depend on.
START_NOISE_OF_TERMS = 1e-5
STAYS = (("near", 0.25), ("far", 4.0))
SHORTEST, UNREACHED = 1e-3, 1e6
#: The power of the lag in time. Up to one the kernel is convex: a forecast goes back to the mean
#: and never beyond, and what lasts can be split off (Pólya).
POWERS = (0.1, 1.0)
#: Rows among which the neighbours of those that are judged are: beyond, they are as good as near.
BASE_ROWS = 100_000
#: Steps of a climb at most; most end before.
STEPS = 12
#: Candidates of each term of a kernel, for every neighbour.
PER_NEIGHBOR = 2
#: Conjugate gradients end where the preconditioned square of the residual is so much of the first
#: one, or after so many steps: Newton's method asks again.
SMALL_RESIDUAL, MOST_ITERATIONS = 1e-4, 200
#: The noise, over the variance of a process, with which it is taken where its inverse covariance is
#: asked for: without any, weights of smooth kernels are rounding. Modes of 200 labels in a square
#: of width 4 are wrong by up to 20 with Gaussian(3.0) and none, by what the dense ones are rounded
#: to with 1e-10, and by 1e-3 at a variance of 10,000 with 1e-7.
NUGGET = 1e-10
