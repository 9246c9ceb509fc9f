"""Taylor series of kernels in the inner product, with a radial factor for each point."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from scipy.special import logsumexp, xlogy

from ..._typing import Array, FloatArray
from ..._validation import row_norms
from ..points import as_rows, dots
from ..terms import DotProductTerm, merge

__all__ = ["TaylorSeries", "dot_product_terms", "taylor_series"]


@dataclass(frozen=True, eq=False)
class TaylorSeries:
    r"""Pieces :math:`a_k e^{-\beta_k (\|x\|^2 + \|y\|^2)} \langle x,y\rangle^{p_k}`, by degree.

    Calling it gives the matrix of their sum, a kernel's truncated Taylor series.

    Attributes
    ----------
    degrees : ndarray of shape (n_pieces,)
        p_k, ascending. A degree occurs once for every decay of the kernel.
    log_coefficients : ndarray of shape (n_pieces,)
        log a_k.
    decays : ndarray of shape (n_pieces,)
        β_k.
    """

    degrees: npt.NDArray[np.intp]
    log_coefficients: FloatArray
    decays: FloatArray

    def __len__(self) -> int:
        return len(self.degrees)

    def __getitem__(self, chosen: Any) -> Self:
        return type(self)(self.degrees[chosen], self.log_coefficients[chosen], self.decays[chosen])

    def __call__(self, X: Any, Y: Any = None) -> Array:
        """Return the matrix of the sum of all pieces, shape (n_rows_x, n_rows_y)."""
        rows, others = as_rows(X), as_rows(X if Y is None else Y)
        inner = dots(rows, others)
        total = np.zeros_like(inner)
        left, right = (
            np.exp(self.log_coefficients / 2 - np.square(row_norms(points))[:, None] * self.decays)
            for points in (rows, others)
        )
        for k, degree in enumerate(self.degrees):
            total += np.outer(left[:, k], right[:, k]) * inner**degree
        return total

    def log_weights(self, norms: FloatArray) -> FloatArray:
        """Return log √a_k e^{-β_k r²} r^{p_k}: [n, n_pieces], the root of a share of k(x, x)."""
        norms = np.asarray(norms, dtype=np.float64)[:, None]
        with np.errstate(over="ignore"):
            decay = np.square(norms) * self.decays
        return np.asarray(self.log_coefficients / 2 + xlogy(self.degrees, norms) - decay)

    def shares(self, radius: float) -> FloatArray:
        """Return what each piece contributes to the sum of all at one radius: [n_pieces], sum 1."""
        log_energy = 2 * self.log_weights(np.array([radius]))[0]
        return np.exp(log_energy - logsumexp(log_energy))


def taylor_series(kernel: Any, max_degree: int, owner: str) -> TaylorSeries:
    """Return all pieces of a kernel up to a degree whose coefficients are not zero."""
    pieces = []
    for term in dot_product_terms(kernel, owner):
        logs = term.log_taylor(max_degree + 1)
        degrees = np.flatnonzero(np.isfinite(logs))
        pieces.append((degrees, logs[degrees], np.full(len(degrees), term.decay)))
    degrees, logs, decays = (np.concatenate(part) for part in zip(*pieces, strict=True))
    if not len(degrees):
        raise ValueError(
            f"All Taylor coefficients of {kernel!r} up to degree {max_degree} are zero: raise the "
            f"degree of {owner}."
        )
    return TaylorSeries(degrees, logs, decays)[np.argsort(degrees, kind="stable")]


def dot_product_terms(kernel: Any, owner: str) -> list[DotProductTerm]:
    """Return the terms of a kernel, if all of them have a Taylor series."""
    terms = merge(kernel.terms())
    if not all(isinstance(term, DotProductTerm) for term in terms):
        raise ValueError(
            f"{owner} needs a kernel with a Taylor series in ⟨x, y⟩ (Gaussian, Exponential, "
            f"Polynomial, DotProduct, their sums and products), and {kernel!r} has none. Use "
            "GegenbauerFeatures or NystroemFeatures, which take any kernel."
        )
    return terms  # type: ignore[return-value]
