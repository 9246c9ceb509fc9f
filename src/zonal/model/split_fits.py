"""Fits of a model with a local part to the training rows of splits, with parameters that stay.

A row is conditioned on earlier rows near it. Where neither the row nor these are in the test part
of a split, its whitened columns are those of the whole fit: they are summed once for all splits,
and only rows that touch the test part are whitened again.
"""

import numpy as np
import numpy.typing as npt

from .._typing import Array, FloatArray
from ..kriging.joint import Features, Joint, explained, fit_joint, whitened_gram
from ..kriging.locations import Locations, Repeated
from ..kriging.marginal import Marginal, Observed, marginal
from ..kriging.neighbors import Indices
from ..kriging.process import LocalProcess
from ..kriging.whitening import Whitening

__all__ = ["FIT_NEIGHBORS", "SplitFits", "fit_part", "judged_rows", "part_of"]

#: Neighbours in the fit of a model that was chosen, where predictions may use more.
FIT_NEIGHBORS = 24
# Whitened rows by which a joint model is judged: at least JUDGED_ROWS, and ROWS_A_COLUMN a column.
JUDGED_ROWS, ROWS_A_COLUMN = 4_000, 8
# Without features they find nothing but the mean and the scale; as many, so that neighbours of the
# one are those of the other.
MEAN_ROWS = 4_000


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
        judged = judged_rows(len(self.targets), len(joint.found.coef))
        self._whitening = self.process.whitening(judged, FIT_NEIGHBORS)
        self._sums = self._gram(self.process, self.targets, self._whitening)

    def without(self, train: npt.NDArray[np.intp], queries: Array) -> tuple[Joint, Indices]:
        """Return the fit to some places, by which queries can be predicted, and their neighbours.

        Parameters
        ----------
        train : ndarray of int
            Places, increasing.
        queries : ndarray of shape (q, d)
            What is asked for.
        """
        process, targets = part_of(self.process, train), self.targets[train]
        found = self._marginal(process, targets, train)
        residual = targets - found.mean - explained(self.features, process.rows, found.coef)
        return Joint(process, found, residual), process.near(queries)

    def _marginal(
        self, process: LocalProcess, targets: FloatArray, train: npt.NDArray[np.intp]
    ) -> Marginal:
        whitening = self._whitening
        known = np.zeros(len(self.targets) + 1, bool)
        known[train] = True
        known[-1] = True  # where -1 stands for no neighbour
        stays = known[whitening.rows] & known[whitening.neighbors].all(axis=1)
        touched = np.searchsorted(train, whitening.rows[known[whitening.rows] & ~stays])
        again = process.whitening(touched.astype(np.int32), FIT_NEIGHBORS)
        # Whichever is less work: the sum of what stays, or of what does not.
        if 2 * stays.sum() < len(stays):
            gram = self._gram(self.process, self.targets, whitening.part(stays))
        else:
            gram = self._sums - self._gram(self.process, self.targets, whitening.part(~stays))
        gram = gram + self._gram(process, targets, again)
        variance = np.concatenate([whitening.variance[stays], again.variance])
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
    """Return the process with fewer known rows."""
    return process.observed_at(process.rows[known], process.weight[known])


def fit_part(
    locations: Locations, process: LocalProcess, features: Features, ratio: float
) -> Joint:
    """Fit to places that have nothing in common with those of another fit.

    Parameters
    ----------
    locations : Locations
        The places and their targets.
    process : LocalProcess
        Observed there, with parameters that stay.
    features, ratio
        As in `SplitFits`.
    """
    n_columns = features(locations.rows[:1]).shape[1]
    judged = judged_rows(len(locations), n_columns)
    return fit_joint(locations, process, features, ratio, n_neighbors=FIT_NEIGHBORS, judged=judged)


def judged_rows(n_rows: int, n_columns: int) -> Indices:
    """Return the places whose whitened columns are summed."""
    most = max(JUDGED_ROWS, ROWS_A_COLUMN * n_columns) if n_columns else MEAN_ROWS
    return np.linspace(0, n_rows - 1, min(n_rows, most)).astype(np.int32)
