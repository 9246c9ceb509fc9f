"""Gegenbauer polynomials, quadrature, series and points on the sphere."""

from .gegenbauer import (
    gegenbauer,
    gegenbauer_table,
    harmonic_dimension,
    log_harmonic_dimensions,
    n_harmonics,
    orthonormal_table,
    recurrence,
)
from .quadrature import gauss_gegenbauer
from .series import (
    gegenbauer_series,
    log_monomial_series,
    log_taylor_coefficients,
    taylor_coefficients,
)
from .sphere import random_rotation, to_sphere, uniform_sphere

__all__ = [
    "gauss_gegenbauer",
    "gegenbauer",
    "gegenbauer_series",
    "gegenbauer_table",
    "harmonic_dimension",
    "log_harmonic_dimensions",
    "log_monomial_series",
    "log_taylor_coefficients",
    "n_harmonics",
    "orthonormal_table",
    "random_rotation",
    "recurrence",
    "taylor_coefficients",
    "to_sphere",
    "uniform_sphere",
]
