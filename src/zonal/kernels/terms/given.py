"""Terms that are given by their expansion, or by their values alone."""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from ..._typing import FloatArray
from ..radial import StackedRadial

__all__ = ["FixedTerm", "NumericTerm", "ScaledProfile"]


@dataclass(frozen=True)
class FixedTerm:
    """A generalized zonal kernel that is used as it is.

    Attributes
    ----------
    dim, degree_limit, fixed_order : int
        d, q and s.
    function : callable
        Radii [n] to h [n, q + 1, s].
    factor : float
        Multiplies h.
    """

    dim: int
    function: Callable[[FloatArray], FloatArray]
    degree_limit: int
    fixed_order: int
    factor: float = 1.0

    slow = False

    def total(self, radii: FloatArray) -> FloatArray:
        return self.factor**2 * np.einsum("nli->n", np.square(self.function(radii)))

    def radial(self, dim: int, max_degree: int, n_radial: int) -> StackedRadial:
        if dim != self.dim:
            raise ValueError(
                f"A GeneralizedZonalKernel made for dim={self.dim} cannot be used for dim={dim}."
            )
        return StackedRadial((self.function,), max_degree + 1, self.factor)

    def scaled(self, factor: float) -> Self:
        return type(self)(
            self.dim,
            self.function,
            self.degree_limit,
            self.fixed_order,
            self.factor * math.sqrt(factor),
        )


@dataclass(frozen=True)
class NumericTerm:
    """Any rotation-invariant kernel, known by its values.

    Attributes
    ----------
    profile : callable
        ‖x‖, ‖y‖ and the cosine, as broadcast arrays, to k.
    slow : bool
        Whether the Gegenbauer series decays slowly.
    name : str
        For messages.
    symmetric : bool
        Whether the two norms may change places: those of a kernel may, those of its derivative not.
    """

    profile: Callable[[FloatArray, FloatArray, FloatArray], FloatArray]
    slow: bool = True
    name: str = "the kernel"
    symmetric: bool = True

    fixed_order = None
    degree_limit = None

    def total(self, radii: FloatArray) -> FloatArray:
        with np.errstate(over="ignore"):
            return self.profile(radii, radii, np.ones_like(radii))

    def radial(self, dim: int, max_degree: int, n_radial: int) -> Any:
        raise ValueError(
            f"{self.name} has no Taylor series in the inner product, so it has no radial functions "
            'of radial_basis="taylor": use radial_basis="optimal". Its exact matrix kernel(X, Y) '
            "can always be computed."
        )

    def scaled(self, factor: float) -> Self:
        return replace(self, profile=ScaledProfile(self.profile, factor))


@dataclass(frozen=True)
class ScaledProfile:
    """A profile times a number, as an object that can be saved."""

    profile: Callable[[FloatArray, FloatArray, FloatArray], FloatArray]
    factor: float

    def __call__(self, r: FloatArray, s: FloatArray, cos: FloatArray) -> FloatArray:
        return self.factor * self.profile(r, s, cos)
