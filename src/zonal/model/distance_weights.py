"""Weights of models that change with the distance to the nearest known row."""

from dataclasses import dataclass

import numpy as np

from .._loaded import check_array
from .._typing import FloatArray

__all__ = ["DistanceWeights", "hats"]


def hats(distance: FloatArray, nodes: FloatArray) -> FloatArray:
    """Return the share of each node in linear interpolation in the logarithm of the distance.

    Parameters
    ----------
    distance : ndarray of shape (n,)
    nodes : ndarray of shape (k,)
        Logarithms of distances, increasing.

    Returns
    -------
    ndarray of shape (n, k)
        Of sum one. Beyond the outermost nodes, theirs alone.

    Examples
    --------
    >>> import numpy as np
    >>> from zonal.model.distance_weights import hats
    >>> hats(np.array([0.5, 1.0, 10.0, 1e9]), np.log([1.0, 100.0]))
    array([[1. , 0. ],
           [1. , 0. ],
           [0.5, 0.5],
           [0. , 1. ]])
    """
    x = np.log(np.maximum(distance, np.finfo(float).tiny))
    return np.column_stack([np.interp(x, nodes, one) for one in np.eye(len(nodes))])


@dataclass(frozen=True)
class DistanceWeights:
    """Weights that are linear in the logarithm of the distance between a few nodes.

    Attributes
    ----------
    nodes : ndarray of shape (k,)
        Logarithms of distances, increasing; beyond the outermost ones the weights stay.
    values : ndarray of shape (k, n_parts)
        The weight of each model there: at least zero, of sum one.
    spread : ndarray of shape (k,)
        There, the error of the mean over the mean of the errors.

    Examples
    --------
    >>> import numpy as np
    >>> from zonal.model.distance_weights import DistanceWeights
    >>> found = DistanceWeights(np.log([1.0, 100.0]), np.array([[1, 0.0], [0, 1.0]]), np.ones(2))
    >>> found.at(np.array([0.1, 10.0]))
    array([[1. , 0. ],
           [0.5, 0.5]])
    """

    nodes: FloatArray
    values: FloatArray
    spread: FloatArray

    def at(self, distance: FloatArray) -> FloatArray:
        """Return the weights at distances: [n, n_parts]."""
        return np.asarray(hats(distance, self.nodes) @ self.values)

    def spread_at(self, distance: FloatArray) -> FloatArray:
        """Return the error of the mean over the mean of the errors: [n]."""
        return np.asarray(hats(distance, self.nodes) @ self.spread)

    def slopes(self, distance: FloatArray) -> FloatArray:
        """Return the derivatives of the weights by the distance: [n, n_parts]."""
        steps = np.diff(self.values, axis=0) / np.diff(self.nodes)[:, None]
        steps = np.vstack([np.zeros_like(self.values[:1]), steps, np.zeros_like(self.values[:1])])
        positive = np.maximum(distance, np.finfo(float).tiny)
        between = np.searchsorted(self.nodes, np.log(positive), side="right")
        return np.asarray(steps[between] / positive[:, None])

    def _check_loaded(self) -> None:
        n_nodes = len(check_array(self, "nodes", "f", (None,)))
        check_array(self, "values", "f", (n_nodes, None))
        check_array(self, "spread", "f", (n_nodes,))
