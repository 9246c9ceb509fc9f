"""The few array operations that features are made of, as a readable reference and compiled."""

from .numba_engine import gegenbauer_features, gegenbauer_sums

__all__ = ["gegenbauer_features", "gegenbauer_sums"]
