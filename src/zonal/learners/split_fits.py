"""Fits of a model with a local part to the training rows of splits, with parameters that stay.

A row is conditioned on earlier rows near it. Where neither the row nor these are in the test part
of a split, its whitened columns are those of the whole fit: they are summed once for all splits,
and only rows that touch the test part are whitened anew.
"""

import numpy as np
import numpy.typing as npt

from .._typing import Array, FloatArray
from ..kriging.joint import Features, Joint, explained, whitened_gram
from ..kriging.locations import Locations, Repeated
from ..kriging.marginal import Marginal, Observed, marginal
from ..kriging.neighbors import Indices
from ..kriging.process import LocalProcess
from ..kriging.whitening import Whitening
from ..selection.trials import FIT_NEIGHBORS, JUDGED_ROWS, MEAN_ROWS, ROWS_A_COLUMN

__all__ = ["SplitFits", "part_of"]


class SplitFits:
    """Fits to parts of the places of a model.

    Parameters
    ----------
    joint : Joint
        The fit to all places.
    features : callable
        Maps rows [k, d] to features [k, D].
    ratio : float
        τ, the variance of β over that of the process.
    """

    def __init__(self, joint: Joint, features: Features, ratio: float) -> None:
        self.process, self.features, self.ratio = joint.process, features, ratio
        known = explained(features, joint.process.rows, joint.found.coef)
        self.targets: FloatArray = joint.residual + joint.found.mean + known
        n_rows, n_columns = len(self.targets), len(joint.found.coef)
        most = max(JUDGED_ROWS, ROWS_A_COLUMN * n_columns) if n_columns else MEAN_ROWS
        judged = np.linspace(0, n_rows - 1, min(n_rows, most)).astype(np.int32)
        self._whitening = self.process.whitening(judged, FIT_NEIGHBORS)
        self._sums = self._gram(self.process, self.targets, self._whitening)

    def without(self, train: npt.NDArray[np.intp], queries: Array) -> tuple[Joint, Indices]:
        """Return the fit to some places, by which queries can be predicted, and their neighbours.

        Parameters
        ----------
        train : ndarray of int
            Places, increasing.
        queries : ndarray of shape (q, d)
            Residuals are found at places near these only.
        """
        process, targets = part_of(self.process, train), self.targets[train]
        found = self._marginal(process, targets, train)
        neighbors = process.near(queries)
        near = np.unique(neighbors)
        residual = np.zeros_like(targets)
        residual[near] = targets[near] - found.mean
        residual[near] -= explained(self.features, process.rows[near], found.coef)
        return Joint(process, found, residual), neighbors

    def _marginal(
        self, process: LocalProcess, targets: FloatArray, train: npt.NDArray[np.intp]
    ) -> Marginal:
        whitening = self._whitening
        known = np.zeros(len(self.targets) + 1, bool)
        known[train] = True
        known[-1] = True  # where -1 stands for no neighbour
        stays = known[whitening.rows] & known[whitening.neighbors].all(axis=1)
        touched = np.searchsorted(train, whitening.rows[known[whitening.rows] & ~stays])
        anew = process.whitening(touched.astype(np.int32), FIT_NEIGHBORS)
        # Whichever is less work: the sum of what stays, or of what does not.
        if 2 * stays.sum() < len(stays):
            gram = self._gram(self.process, self.targets, whitening.part(stays))
        else:
            gram = self._sums - self._gram(self.process, self.targets, whitening.part(~stays))
        gram = gram + self._gram(process, targets, anew)
        variance = np.concatenate([whitening.variance[stays], anew.variance])
        n_targets = targets.shape[1]
        # Rows that repeat a place tell of the noise, which is known.
        nothing = Repeated.nothing(len(variance), n_targets)
        observed = Observed.of(variance, nothing, process.noise)
        return marginal(gram, n_targets, observed, self.ratio).times(len(train) / len(variance))

    def _gram(self, process: LocalProcess, targets: FloatArray, whitening: Whitening) -> FloatArray:
        if not len(whitening):
            width = 1 + targets.shape[1] + self.features(process.rows[:1]).shape[1]
            return np.zeros((width, width))
        nothing = Repeated.nothing(*targets.shape)
        places = Locations(process.rows, targets, process.weight, nothing, np.arange(len(targets)))
        return whitened_gram(whitening, places, self.features, process.points)


def part_of(process: LocalProcess, known: npt.NDArray[np.intp]) -> LocalProcess:
    """Return the process of which fewer rows are known."""
    return process.observed_at(process.rows[known], process.weight[known])
