r"""Real orthonormal spherical harmonics in any dimension, as a program of recurrences.

A solid harmonic of degree ℓ in j dimensions is one of degree k ≤ ℓ in j - 1 dimensions times a
Gegenbauer polynomial of degree n = ℓ - k in the new coordinate :math:`z = x_j`, made solid with
:math:`\rho^2 = x_1^2 + \dots + x_j^2` (weight λ = k + (j-2)/2). Normalised inside the recurrence,

.. math::

    Y_{\ell} = \frac{z\, Y_{\ell-1} - b_{n-1}\, \rho^2\, Y_{\ell-2}}{b_n}, \qquad
    b_n^2 = \frac{n (n + 2\lambda - 1)}{4 (n + \lambda)(n + \lambda - 1)},

from the seed :math:`Y_k` (k = ℓ), which is the harmonic of j - 1 dimensions times a constant.
Everything is a polynomial: no angles, no poles.

The columns of one degree are ordered such that those of j dimensions begin with those of j - 1
(the seeds) and go on with k = ℓ - 1, ℓ - 2, …, 0. So the new columns of degree ℓ stand in the
order of *all* columns of degree ℓ - 1, and, after the first block, of all of degree ℓ - 2:

.. math::

    S_\ell^{(j)} = \left[ S_\ell^{(j-1)},\;
    a \odot z\, S_{\ell-1}^{(j)} - b \odot \rho^2 [0, S_{\ell-2}^{(j)}] \right],

one contiguous operation for each pair (j, ℓ), and each column is computed once: the constants of
the seeds are not multiplied in on the way but wait until the end.
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import Self

import numpy as np
import numpy.typing as npt
from scipy.special import gammaln

from .._loaded import check_array, check_number
from .._typing import FloatArray

__all__ = ["HarmonicProgram", "spherical_harmonics"]


@dataclass(frozen=True, eq=False)
class HarmonicProgram:
    """What it takes to evaluate the first columns of every degree of harmonics.

    Attributes
    ----------
    dim : int
        d ≥ 2.
    counts : ndarray of shape (max_degree + 1,)
        How many columns of each degree are computed.
    offsets : ndarray of shape (max_degree + 2,)
        Where the columns of each degree begin.
    steps : ndarray of shape (n_steps, 6)
        One recurrence each: coordinate j - 1, first new column, first column of degree ℓ - 1,
        first column of degree ℓ - 2, number of new columns, how many of them have no second term.
    a, b : ndarrays of shape (n_columns,)
        Coefficients of the new columns.
    scale : ndarray of shape (n_columns,)
        What the columns are multiplied with at the end.
    """

    dim: int
    counts: npt.NDArray[np.int64]
    offsets: npt.NDArray[np.int64]
    steps: npt.NDArray[np.int64]
    a: FloatArray
    b: FloatArray
    scale: FloatArray

    @classmethod
    def of(cls, dim: int, counts: npt.ArrayLike) -> Self:
        """Return the program for at least `counts[ℓ]` columns of degree ℓ, or all if fewer.

        A column needs those of lower degrees that it is made of, so that the program may compute
        more than was asked for.
        """
        # Degree 0 is what all others are made of; degrees at the end that nobody wants are not run.
        wanted = np.append(1, np.trim_zeros(np.asarray(counts, dtype=np.int64)[1:], "b"))
        sizes = _sizes(len(wanted) - 1, dim, int(wanted.max()))
        wanted = np.minimum(wanted, sizes[dim])
        for ell in range(len(wanted) - 1, 0, -1):
            wanted[ell - 1] = max(wanted[ell - 1], min(wanted[ell], sizes[dim, ell - 1]))
        offsets = np.concatenate([[0], np.cumsum(wanted)])
        a, b, scale = np.zeros(offsets[-1]), np.zeros(offsets[-1]), np.ones(offsets[-1])
        scale[offsets[1] :] = np.sqrt(2)  # Re and Im of (x_1 + i x_2)^ℓ
        steps = []
        for j in range(3, dim + 1):
            have, will_have = (np.minimum(wanted, sizes[level]) for level in (j - 1, j))
            for ell, (old, new) in enumerate(zip(have, will_have, strict=True)):
                scale[offsets[ell] : offsets[ell] + old] *= _seed(j, ell)
                scale[offsets[ell] + old : offsets[ell] + new] = 1
                if new == old:
                    continue
                # Blocks k = ℓ - 1, …, 0 of the new columns.
                k = np.repeat(np.arange(ell - 1, -1, -1), sizes[j - 1, ell - 1 :: -1])[: new - old]
                n, weight = ell - k, np.asarray(k + (j - 2) / 2, dtype=np.float64)
                first, last = offsets[ell] + old, offsets[ell] + new
                one, two = offsets[ell - 1], offsets[max(ell - 2, 0)]
                skip = min(int(sizes[j - 1, ell - 1]), last - first)
                a[first:last] = scale[one : one + new - old] / _b(n, weight)
                b[first + skip : last] = (
                    scale[two : two + new - old - skip] * (_b(n - 1, weight) / _b(n, weight))[skip:]
                )
                steps.append((j - 1, first, one, two, new - old, skip))
        return cls(dim, wanted, offsets, np.array(steps, np.int64).reshape(-1, 6), a, b, scale)

    def _check_loaded(self) -> None:
        """Raise ValueError unless every step reads and writes columns that there are."""
        dim = check_number(self, "dim", 2, 1 << 31)
        n_columns = len(check_array(self, "scale", "f", (None,)))
        for name in ("a", "b"):
            check_array(self, name, "f", (n_columns,))
        counts = check_array(self, "counts", "i", (None,), 1, n_columns)
        offsets = check_array(self, "offsets", "i", (len(counts) + 1,), 0, n_columns)
        steps = check_array(self, "steps", "i", (None, 6), 0, max(n_columns, dim))
        column, first, one, two, n_new, skip = steps.T
        if not (
            len(counts)
            and np.array_equal(offsets, np.concatenate([[0], np.cumsum(counts)]))
            and offsets[-1] == n_columns
            and (column < dim).all()
            and (skip <= n_new).all()
            and (np.maximum(first, one) + n_new <= n_columns).all()
            and (two + n_new - skip <= n_columns).all()
        ):
            raise ValueError("it is damaged: the steps of its HarmonicProgram leave its columns")


def spherical_harmonics(max_degree: int, X: npt.ArrayLike) -> list[FloatArray]:
    r"""Evaluate all real orthonormal spherical harmonics up to a degree, at unit vectors.

    They are orthonormal with respect to the uniform *probability* on the sphere, so that

    .. math:: \sum_{k=1}^{\alpha_{\ell,d}} Y_{\ell,k}(x)\, Y_{\ell,k}(y)
        = \alpha_{\ell,d}\, P_d^\ell(\langle x, y\rangle) .

    Parameters
    ----------
    max_degree : int
        The largest degree q ≥ 0.
    X : array-like of shape (n, d)
        Unit vectors, d ≥ 2.

    Returns
    -------
    list of ndarrays of shape (n, α_ℓ)
        For each degree ℓ = 0, …, q.

    Examples
    --------
    >>> import numpy as np
    >>> from zonal.polynomials.harmonics import spherical_harmonics
    >>> Y = spherical_harmonics(2, [[0.0, 0.6, 0.8]])
    >>> [block.shape[1] for block in Y]
    [1, 3, 5]
    >>> [round(float((block**2).sum()), 12) for block in Y]
    [1.0, 3.0, 5.0]
    """
    X = np.asarray(X, dtype=np.float64)
    program = full_program(max_degree, X.shape[1])
    columns = solid_harmonics(program, X) * program.scale
    return [columns[:, a:b] for a, b in zip(program.offsets, program.offsets[1:], strict=False)]


def solid_harmonics(program: HarmonicProgram, X: FloatArray) -> FloatArray:
    """Run a program on rows, without its final scale: [n, n_columns]."""
    out = np.empty((len(X), program.offsets[-1]))
    out[:, 0] = 1
    power = np.ones(len(X), dtype=np.complex128)
    for first, count in zip(program.offsets[1:-1], program.counts[1:], strict=True):
        power = power * (X[:, 0] + 1j * X[:, 1])
        out[:, first] = power.real
        if count > 1:
            out[:, first + 1] = power.imag
    square = np.cumsum(X**2, axis=1)
    for column, first, one, two, n_new, skip in program.steps:
        z, rho2 = X[:, [column]], square[:, [column]]
        new, last = slice(first, first + n_new), first + n_new
        out[:, new] = program.a[new] * z * out[:, one : one + n_new]
        out[:, first + skip : last] -= (
            program.b[first + skip : last] * rho2 * out[:, two : two + n_new - skip]
        )
    return out


def solid_harmonics_gradient(
    program: HarmonicProgram, X: FloatArray
) -> tuple[FloatArray, FloatArray]:
    r"""Run a program on rows with the gradients of all columns beside them, without its scale.

    Every step is differentiated by the rule for products: from
    :math:`Y = a z Y_1 - b \rho^2 Y_2` follows

    .. math:: \nabla Y = a (z \nabla Y_1 + Y_1 e_j) - b (\rho^2 \nabla Y_2 + 2 Y_2 x_{1 \dots j}) .

    Parameters
    ----------
    program : HarmonicProgram
        The recurrences.
    X : ndarray of shape (n, d)
        Rows.

    Returns
    -------
    values : ndarray of shape (n, n_columns)
        As of `solid_harmonics`.
    gradients : ndarray of shape (n, n_columns, d)

    Examples
    --------
    The harmonics of degree one are linear:

    >>> import numpy as np
    >>> from zonal.polynomials.harmonics import full_program, solid_harmonics_gradient
    >>> program = full_program(1, 2)
    >>> solid_harmonics_gradient(program, np.ones((1, 2)))[1][0].astype(int)
    array([[0, 0],
           [1, 0],
           [0, 1]])
    """
    values = solid_harmonics(program, X)
    out = np.zeros((*values.shape, program.dim))
    power = np.ones(len(X), dtype=np.complex128)
    for ell, (first, count) in enumerate(
        zip(program.offsets[1:-1], program.counts[1:], strict=True), start=1
    ):
        slope = ell * power  # d/dx_1 of (x_1 + i x_2)^ℓ, and i times that for x_2
        power = power * (X[:, 0] + 1j * X[:, 1])
        out[:, first, 0], out[:, first, 1] = slope.real, -slope.imag
        if count > 1:
            out[:, first + 1, 0], out[:, first + 1, 1] = slope.imag, slope.real
    square = np.cumsum(X**2, axis=1)
    for column, first, one, two, n_new, skip in program.steps:
        z, rho2 = X[:, column, None, None], square[:, column, None, None]
        last, below = first + n_new, slice(two, two + n_new - skip)
        new = program.a[first:last, None] * (z * out[:, one : one + n_new])
        new[:, :, column] += program.a[first:last] * values[:, one : one + n_new]
        b = program.b[first + skip : last, None]
        new[:, skip:] -= b * (rho2 * out[:, below])
        up_to = slice(0, column + 1)
        new[:, skip:, up_to] -= 2 * b * values[:, below, None] * X[:, None, up_to]
        out[:, first:last] = new
    return values, out


@lru_cache(maxsize=8)
def full_program(max_degree: int, dim: int) -> HarmonicProgram:
    """Return the program of all harmonics up to a degree."""
    return HarmonicProgram.of(dim, np.full(max_degree + 1, np.iinfo(np.int64).max // 4))


def _sizes(max_degree: int, dim: int, limit: int) -> npt.NDArray[np.int64]:
    """Return α_{ℓ,j} for j up to d, cut at a limit so that nothing overflows: [d + 1, q + 1]."""
    sizes = np.zeros((dim + 1, max_degree + 1), np.int64)
    sizes[2] = 2
    sizes[2:, 0] = 1
    for j in range(3, dim + 1):
        for ell in range(1, max_degree + 1):
            sizes[j, ell] = min(sizes[j - 1, ell] + sizes[j, ell - 1], limit + 1)
    return sizes


def _b(n: npt.NDArray[np.int64], weight: FloatArray) -> FloatArray:
    """Return b_n of the orthonormal Gegenbauer polynomials of weight λ ≥ ½."""
    square = n * (n + 2 * weight - 1) / (4 * (n + weight) * np.maximum(n + weight - 1, 0.5))
    return np.sqrt(np.maximum(square, 0.0))


def _seed(j: int, degree: int) -> float:
    """Return the constant of a harmonic of j - 1 dimensions in j: E[ρ_{j-1}^{2ℓ}]^{-1/2}."""
    log_moment = (gammaln((j - 1) / 2 + degree) - gammaln((j - 1) / 2) + gammaln(j / 2)) - gammaln(
        j / 2 + degree
    )
    return float(np.exp(-log_moment / 2))
