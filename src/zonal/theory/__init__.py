"""The paper's theory as functions that answer a user's question."""

from ..polynomials import gegenbauer, gegenbauer_series, harmonic_dimension

__all__ = ["gegenbauer", "gegenbauer_series", "harmonic_dimension"]
