"""A number together with how far it may be off."""

__all__ = ["Estimate"]


class Estimate(float):
    """A float that knows its own error, and can be used like any other float.

    Attributes
    ----------
    error : float
        Zero for what is exact but for rounding. For a mean over random probes, its standard
        error; for an eigenvalue found by Krylov iteration, the norm of the residual, within which
        an eigenvalue lies.

    Examples
    --------
    >>> from zonal.theory import Estimate
    >>> dimension = Estimate(12.5, error=0.25)
    >>> dimension
    12.5 ± 0.25
    >>> 2 * dimension
    25.0
    """

    error: float

    def __new__(cls, value: float, error: float = 0.0) -> "Estimate":
        """Store the error beside the number."""
        number = super().__new__(cls, value)
        number.error = float(error)
        return number

    def __reduce__(self) -> tuple[type["Estimate"], tuple[float, float]]:
        return type(self), (float(self), self.error)

    def __repr__(self) -> str:
        value = float.__repr__(self)
        return f"{value} ± {self.error:.2g}" if self.error else value

    __str__ = __repr__
