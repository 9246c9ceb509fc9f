"""Sums over rows and the ridge regressions that they hold.

- `moments`: mergeable sums of products of features and targets;
- `folds`: which rows are summed together, and which sums make a split;
- `ridge`: the systems (S + αI) w = b for one alpha or a path of them;
- `held_out`: errors of a ridge regression on other rows, from moments alone;
- `components`: principal and canonical directions of the features.
"""

from .moments import Moments

__all__ = ["Moments"]
