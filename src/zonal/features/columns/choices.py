"""What was chosen for the encoding of columns, each with what it rests on."""

__all__ = [
    "CONFIDENCE",
    "FOLDS",
    "KNOTS",
    "MAX_CLASSES",
    "PILOT_ROWS",
    "RANK_KNOTS",
    "RARE",
    "SKEWED",
]

#: Folds of training rows, one of which is held out where metrics and encodings are compared. As
#: scikit-learn's cross-validation has it; not tuned.
FOLDS = 5
#: A change of metric or encoding counts if its gain is real at this (one-sided) confidence.
CONFIDENCE = 0.975
#: Rows on which encodings are compared, and ten times the landmarks of the regressions there. Not
#: tuned.
PILOT_ROWS = 4000
#: A level with fewer rows than this shares one with the other rare ones; so many rows of the mean
#: steepness are added to those of each knot; and below ten times as many rows every word that
#: occurs is a level, and cells tell nothing of others. Not tuned.
RARE = 5
#: Knots of a monotone map, at equal steps of probability; and of ranks for classes: log loss of
#: shuttle (10,000 training rows, 1,024 landmarks) is .0091 with 32 knots, .0057 with 256;
#: scikit-learn's thousand quantiles have .0056, plain columns .0087.
KNOTS, RANK_KNOTS = 32, 256
#: From this skewness on, that of an exponential, a column may be mapped while others are not.
SKEWED = 2.0
#: Whole numbers with more values than this are quantities, not codes of classes. Not tuned.
MAX_CLASSES = 30
