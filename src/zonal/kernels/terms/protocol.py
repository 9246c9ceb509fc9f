"""What every term of a kernel offers."""

from typing import Any, Protocol, Self

from ..._typing import FloatArray

__all__ = ["Term"]


class Term(Protocol):
    """One summand of a kernel."""

    @property
    def slow(self) -> bool:
        """Whether the series decays too slowly to be cut at a small tail."""
        ...

    @property
    def fixed_order(self) -> int | None:
        """The number of radial functions, where it is not a matter of choice."""
        ...

    @property
    def degree_limit(self) -> int | None:
        """The largest degree that can be had, where there is one."""
        ...

    def total(self, radii: FloatArray) -> FloatArray:
        """Return k(x, x) at the radii [n]."""
        ...

    def radial(self, dim: int, max_degree: int, n_radial: int) -> Any:
        """Return the radial functions h_ℓ up to a degree and an order."""
        ...

    def scaled(self, factor: float) -> Self:
        """Return the term times a positive number."""
        ...
