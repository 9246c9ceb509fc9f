r"""What one pass over the rows tells of classes: log loss, its slope and its curvature.

With v = (z - a, 1), latent values f = vᵀB of the classes (of the second class alone, where there
are two) and probabilities p,

.. math:: L = -\sum w \log p_y, \qquad R = \sum w\, v\, ([y = c] - p_c)_c, \qquad
    G = \sum w h\, v v^\top, \quad h = \frac{1 - \sum_c p_c^2}{K - 1} .

h is the mean of the K - 1 eigenvalues of diag(p) - ppᵀ that are not zero: one curvature that all
classes share. (Two classes: of p(1-p), as it is.)
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from .._typing import Array, FloatArray
from ..features.space import FeatureSpace
from ..likelihoods import Multinomial
from ..rows import Block
from ..rows.block import take
from ..rows.buffers import Scratch
from ..rows.threads import ordered_map
from .newton_sums import GivenFeatures

__all__ = ["ClassExpansion", "ClassSums", "curvature", "latent_of"]


@dataclass(frozen=True)
class ClassSums:
    """Sums over rows.

    Attributes
    ----------
    loss, weight : float
        L and Σ w.
    slope : ndarray of shape (D + 1, T)
        R.
    gram : ndarray of shape (D + 1, D + 1) or None
        G, where it was asked for.
    """

    loss: float
    weight: float
    slope: FloatArray
    gram: FloatArray | None

    def __add__(self, other: "ClassSums") -> "ClassSums":
        """Merge the sums of different rows."""
        gram = None if self.gram is None or other.gram is None else self.gram + other.gram
        return ClassSums(
            self.loss + other.loss,
            self.weight + other.weight,
            self.slope + other.slope,
            gram,
        )


@dataclass(frozen=True)
class ClassExpansion:
    """Where a pass is; it is sent to the rows.

    Attributes
    ----------
    features : transformer or None
        Fitted; None: the rows are z - a already.
    shift : ndarray of shape (D,)
        a.
    classes : ndarray of shape (K,)
        The labels, sorted.
    coef : ndarray of shape (D + 1, T)
        B, the constants last.
    with_gram : bool
        Whether G is summed.
    unit : float
        What weights are divided by.
    """

    features: Any
    shift: FloatArray
    classes: Array
    coef: FloatArray
    with_gram: bool
    unit: float = 1.0

    @property
    def space(self) -> FeatureSpace:
        """The space of the features."""
        own = GivenFeatures() if self.features is None else self.features
        return FeatureSpace(own, len(self.shift))

    def sums(self, block: Block) -> ClassSums:
        """Sum over rows with labels."""
        space, scratch = self.space, (Scratch(), Scratch())
        labels = np.searchsorted(self.classes, np.asarray(block.y))
        labels = np.minimum(labels, len(self.classes) - 1)  # of rows of no weight: any class does

        def work(part: slice) -> ClassSums:
            Z = space.fill(take(block.X, part), scratch[0])
            weight = None if block.weight is None else np.asarray(block.weight, float)[part]
            return self._part(Z, labels[part], weight, scratch[1])

        total: ClassSums | None = None
        for found in ordered_map(work, space.slices(block.X, 1, len(block)), space.n_threads):
            total = found if total is None else total + found
        assert total is not None
        return total

    def _part(
        self, Z: Array, labels: npt.NDArray[np.intp], weight: FloatArray | None, scratch: Scratch
    ) -> ClassSums:
        dtype, weights = Z.dtype, np.ones(len(Z)) if weight is None else weight / self.unit
        if self.features is not None:
            Z = np.subtract(Z, self.shift.astype(dtype), out=scratch.array(Z.shape, dtype))
        f = latent_of((Z @ self.coef[:-1].astype(dtype)).astype(np.float64) + self.coef[-1])
        log_chances = Multinomial().log_chances(f)
        own, chances = np.arange(len(Z)), np.exp(log_chances)
        loss = -float(weights @ log_chances[own, labels])
        slope = -chances
        slope[own, labels] += 1
        slope *= weights[:, None]
        if self.coef.shape[1] == 1:
            slope = slope[:, 1:]
        turned = np.asarray(Z.T @ slope.astype(dtype), np.float64)
        sums = np.vstack([turned, slope.sum(axis=0)])
        gram = self._gram(Z, weights * curvature(chances), scratch) if self.with_gram else None
        return ClassSums(loss, float(weights.sum()), sums, gram)

    @staticmethod
    def _gram(Z: Array, h: FloatArray, scratch: Scratch) -> FloatArray:
        """Return Σ h v vᵀ, in double precision: small eigenvalues count."""
        own = scratch.array(Z.shape, np.float64)
        np.multiply(Z, np.sqrt(h)[:, None], out=own)
        gram = np.empty((Z.shape[1] + 1, Z.shape[1] + 1))
        gram[:-1, :-1] = own.T @ own
        gram[-1, :-1] = gram[:-1, -1] = np.sqrt(h) @ own
        gram[-1, -1] = h.sum()
        return gram


def latent_of(f: FloatArray) -> FloatArray:
    """Return latent values of all classes; of two, the first has the value zero: [n, K]."""
    return np.column_stack([np.zeros(len(f)), f]) if f.shape[1] == 1 else f


def curvature(chances: FloatArray) -> FloatArray:
    """Return h of probabilities [n, K]: [n]."""
    k = chances.shape[1]
    if k == 2:
        return np.asarray(chances[:, 0] * chances[:, 1])
    # 1 - Σp² from all but the largest, of which rounding leaves something where it is nearly one.
    others = np.sort(chances, axis=1)[:, :-1]
    rest = others.sum(axis=1)
    return np.asarray((rest * (2 - rest) - np.square(others).sum(axis=1)) / (k - 1))
