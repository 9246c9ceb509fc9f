r"""What one pass over the rows tells Newton's method on features.

With v = (z - a, 1), slopes g and curvatures h of the rows at their latent values f, and weights w,

.. math:: G = \sum w h\, v v^\top, \qquad r = \sum w g\, v, \qquad L = \sum w\, d / 2 .

Sums of different rows add up, so that blocks, streams and machines can be merged in any order.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.validation import _num_samples

from .._typing import Array, FloatArray
from ..features.space import FeatureSpace
from ..likelihoods import Likelihood, Observed
from ..moments.ridge import linear
from ..rows import Block
from ..rows.block import take
from ..rows.buffers import Scratch
from ..rows.threads import ordered_map

__all__ = ["Expansion", "GivenFeatures", "NewtonSums", "Spread", "unpacked"]

# The step in the logarithm of a parameter by which its derivatives are found.
STEP = 1e-2


@dataclass(frozen=True)
class NewtonSums:
    """Sums over rows.

    Attributes
    ----------
    gram : ndarray of shape (D + 1, D + 1)
        G.
    slope : ndarray of shape (D + 1,)
        r.
    loss, log_density, weight : float
        L, Σ w log p, Σ w.
    shape : ndarray of shape (n_unknown, 2)
        First and second derivatives of the log evidence in the logarithms of the likelihood's
        unknown parameters.
    n_rows : int
    precision : float
        The machine precision of the coarsest sums.
    """

    gram: FloatArray
    slope: FloatArray
    loss: float
    log_density: float
    weight: float
    shape: FloatArray
    n_rows: int
    precision: float

    def __add__(self, other: "NewtonSums") -> "NewtonSums":
        """Merge the sums of different rows."""
        return NewtonSums(
            self.gram + other.gram,
            self.slope + other.slope,
            self.loss + other.loss,
            self.log_density + other.log_density,
            self.weight + other.weight,
            self.shape + other.shape,
            self.n_rows + other.n_rows,
            max(self.precision, other.precision),
        )

    def __sizeof__(self) -> int:
        """Bytes, by which Dask decides what is moved."""
        return object.__sizeof__(self) + self.gram.nbytes + self.slope.nbytes


@dataclass(frozen=True)
class Spread:
    """The posterior of the coefficients, by which leverages are found.

    Attributes
    ----------
    root : ndarray of shape (D, D)
        R with R Rᵀ = (S + αI)⁻¹.
    middle : ndarray of shape (D,)
        What z is taken about.
    constant : float
        The variance of the constant.
    """

    root: FloatArray
    middle: FloatArray
    constant: float

    def leverage(self, Z: Array) -> FloatArray:
        """Return the variance of the latent values over φ: [n]."""
        turned = (Z - self.middle.astype(Z.dtype)) @ self.root.astype(Z.dtype)
        return np.asarray(np.square(turned).sum(axis=1, dtype=np.float64) + self.constant)


@dataclass(frozen=True)
class Expansion:
    """Where a pass expands the log likelihood to second order; it is sent to the rows.

    Attributes
    ----------
    features : transformer or None
        Fitted; None: the rows are features already.
    shift : ndarray of shape (D,)
        a.
    likelihood : Likelihood
        With a value of each parameter.
    coef : ndarray of shape (D,) or None
        β; None: at latent values halfway between the responses and their mean.
    constant : float
        β₀ of f = (z - a)ᵀβ + β₀; without coefficients, the mean response.
    unknown : tuple of str
        Parameters of the likelihood whose derivatives are summed.
    spread : Spread or None
        Of the posterior, for these.
    """

    features: Any
    shift: FloatArray
    likelihood: Likelihood
    coef: FloatArray | None
    constant: float
    unknown: tuple[str, ...] = ()
    spread: Spread | None = None

    @property
    def space(self) -> FeatureSpace:
        """The space of the features."""
        return FeatureSpace(
            GivenFeatures() if self.features is None else self.features, len(self.shift)
        )

    def sums(self, block: Block) -> NewtonSums:
        """Sum over rows, whose targets are [n, 3]: response, offset, trials."""
        space, scratch = self.space, (Scratch(), Scratch())
        n_rows = _num_samples(block.X)

        def work(part: slice) -> NewtonSums:
            Z = space.fill(take(block.X, part), scratch[0])
            return self._part(Z, block.rows(part), scratch[1])

        total: NewtonSums | None = None
        slices = space.slices(block.X, 1, n_rows)
        for found in ordered_map(work, slices, space.n_threads):
            total = found if total is None else total + found
        assert total is not None
        return total

    def _part(self, Z: Array, block: Block, scratch: Scratch) -> NewtonSums:
        observed, offset = unpacked(block.y)
        weight = np.ones(len(Z)) if block.weight is None else np.asarray(block.weight, float)
        likelihood = self.likelihood
        rows = scratch.array((len(Z), len(self.shift) + 1), Z.dtype)
        np.subtract(Z, self.shift.astype(Z.dtype), out=rows[:, :-1])
        rows[:, -1] = 1
        if self.coef is None:
            f = likelihood.beginning(observed, offset, self.constant)
            g, h = likelihood.derivatives(observed, f)
            slope = g + h * (f - offset)  # about the coefficients zero
        else:
            f = linear(rows[:, :-1], self.coef[:, None], self.constant)[:, 0] + offset
            g, h = likelihood.derivatives(observed, f)
            slope = g
        r = np.asarray((weight * slope).astype(Z.dtype) @ rows, np.float64)
        r[-1] = weight @ slope
        loss = float(weight @ likelihood.half_deviance(observed, f))
        log_density = float(weight @ likelihood.log_density(observed, f))
        shape = self._derivatives(Z, observed, f, weight)
        rows *= np.sqrt(weight * h)[:, None].astype(Z.dtype)
        gram = np.asarray(rows.T @ rows, np.float64)
        gram[-1, -1] = weight @ h
        precision = float(np.finfo(Z.dtype).eps)
        total = float(weight.sum())
        return NewtonSums(gram, r, loss, log_density, total, shape, len(Z), precision)

    def _derivatives(
        self, Z: Array, observed: Observed, f: FloatArray, weight: FloatArray
    ) -> FloatArray:
        r"""Derivatives of Σ w log p - ½ log|S + αI| in the parameters, the latent values held.

        By differences; that of the determinant is ½ Σ w (leverage) ∂h.
        """
        found = np.zeros((len(self.unknown), 2))
        if self.spread is None:
            return found
        leverage = self.spread.leverage(Z)
        for number, name in enumerate(self.unknown):
            values = []
            for step in (-STEP, 0.0, STEP):
                moved = self.likelihood.moved(name, step)
                h = moved.derivatives(observed, f)[1]
                values.append(weight @ (moved.log_density(observed, f) - leverage * h / 2))
            low, middle, high = values
            found[number] = (high - low) / (2 * STEP), (high - 2 * middle + low) / STEP**2
        return found


class GivenFeatures:
    """Rows that are features already."""

    thread_safe = True

    def transform(self, X: Array) -> Array:
        """Return them."""
        return X


def unpacked(y: Array) -> tuple[Observed, FloatArray]:
    """Return what is observed, and the offsets, of packed targets [n, 3]."""
    values = np.asarray(y, np.float64)
    return Observed(values[:, 0], values[:, 2]), values[:, 1]
