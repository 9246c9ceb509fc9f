"""Distributions of the radii ‖x‖ that an expansion is for."""

from dataclasses import dataclass

import numpy as np
from scipy.special import roots_legendre

from ..._typing import FloatArray

__all__ = ["Distribution"]


@dataclass(frozen=True)
class Distribution:
    """A distribution of the radii ‖x‖: a few nodes with weights that sum to one."""

    nodes: FloatArray
    weights: FloatArray

    @classmethod
    def point(cls, radius: float) -> "Distribution":
        """Return all mass at one radius."""
        return cls(np.array([radius], dtype=np.float64), np.ones(1))

    @classmethod
    def interval(cls, low: float, high: float, n_nodes: int = 64) -> "Distribution":
        """Return the uniform distribution on an interval, as Gauss–Legendre nodes."""
        nodes, weights = roots_legendre(n_nodes)
        return cls(low + (high - low) * (1 + nodes) / 2, weights / 2)

    def mixed(self, other: "Distribution") -> "Distribution":
        """Mix two distributions, half of the mass from each."""
        return Distribution(
            np.concatenate([self.nodes, other.nodes]),
            np.concatenate([self.weights, other.weights]) / 2,
        )

    def with_ends(self, low: float, high: float, mass: float = 1e-4) -> "Distribution":
        """Add a little mass at both ends, so that functions and bounds know of them."""
        return Distribution(
            np.concatenate([[low], self.nodes, [high]]),
            np.concatenate([[mass], (1 - 2 * mass) * self.weights, [mass]]),
        )

    @classmethod
    def sample(cls, radii: FloatArray, weights: FloatArray, n_nodes: int = 32) -> "Distribution":
        """Return quantiles of weighted radii: the means of `n_nodes` bins of equal mass.

        A row that lies across the edge of a bin counts for both in part, so that a row of weight
        two is the same as two rows.
        """
        order = np.argsort(radii, kind="stable")
        share = weights[order] / weights.sum()
        mass = np.concatenate([[0.0], np.cumsum(share)])
        moment = np.concatenate([[0.0], np.cumsum(share * radii[order])])
        edges = np.linspace(0, mass[-1], n_nodes + 1)
        nodes = n_nodes * np.diff(np.interp(edges, mass, moment)) / mass[-1]
        # Rounding must not leave the range of the radii.
        nodes = np.clip(nodes, radii.min(), radii.max())
        return cls(nodes, np.full(n_nodes, 1 / n_nodes))
