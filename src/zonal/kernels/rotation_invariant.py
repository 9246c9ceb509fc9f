"""Any rotation-invariant kernel, from a user's function of both norms and the cosine."""

from collections.abc import Callable
from typing import Any

import numpy as np

from .._typing import Array, FloatArray
from .._validation import row_norms
from .base import Kernel
from .points import cosines
from .terms import NumericTerm, Term

__all__ = ["RotationInvariant"]


class RotationInvariant(Kernel):
    r"""Kernel of a user's own function, :math:`k(x,y) = f(\|x\|, \|y\|, \cos\angle(x,y))`.

    Every kernel that does not change when x and y are rotated together is of this form. Whether
    f is positive definite is the user's responsibility: exact values are not checked. The
    expansion checks it degree by degree, for all :math:`k_\ell(r, s) = \alpha_{\ell,d}\,
    \mathbb{E}_t[f(r, s, t) P_d^\ell(t)]` must be positive definite kernels of the norms. There
    is no Taylor series: expansions have ``radial_basis="optimal"``.

    A row of zeros has no angle. Its cosine counts as 0, and f should not depend on it there.

    Parameters
    ----------
    f : callable
        f(r, s, cos) of three float64 arrays of one shape (they may be read-only) to finite real
        numbers of the same shape, or to one number.

    Examples
    --------
    The inverse multiquadric:

    >>> import numpy as np
    >>> import zonal
    >>> kernel = zonal.RotationInvariant(
    ...     lambda r, s, cos: 1 / np.sqrt(1 + r**2 + s**2 - 2 * r * s * cos)
    ... )
    >>> kernel([[0.0, 0.0]], [[0.0, 2.0]]).round(6)
    array([[0.447214]])
    """

    def __init__(self, f: Callable[[FloatArray, FloatArray, FloatArray], Any]) -> None:
        self.f = f

    def check(self) -> None:
        """Raise ValueError if f is not a function."""
        if not callable(self.f):
            raise ValueError(
                f"f={self.f!r} of RotationInvariant must be a function f(r, s, cos) of the norms "
                "of x and y and the cosine of their angle."
            )

    def terms(self) -> list[Term]:
        """Return the kernel itself."""
        self.check()
        return [NumericTerm(self.profile, slow=True, name=repr(self))]

    def profile(self, r: FloatArray, s: FloatArray, cos: FloatArray) -> FloatArray:
        """Return the user's function, on arrays broadcast to one shape, and its values checked."""
        self.check()
        r, s, cos = np.broadcast_arrays(
            *(np.asarray(argument, dtype=np.float64) for argument in (r, s, cos))
        )
        values = np.asarray(self.f(r, s, cos))
        if values.shape not in (r.shape, ()) or values.dtype.kind not in "biuf":
            raise ValueError(
                f"f of RotationInvariant returned an array of shape {values.shape} and type "
                f"{values.dtype} for arguments of shape {r.shape}: it must return real numbers of "
                "that shape. Write it elementwise, with NumPy's functions."
            )
        values = np.broadcast_to(values, r.shape).astype(np.float64)
        bad = ~np.isfinite(values)
        if bad.any():
            at = tuple(int(i) for i in np.argwhere(bad)[0])
            raise ValueError(
                f"f({r[at]:.6g}, {s[at]:.6g}, {cos[at]:.6g}) of RotationInvariant is "
                f"{values[at]}, but a kernel is finite: define f there, or scale the rows into "
                "its domain (a row of zeros has norm 0 and cosine 0)."
            )
        return values

    def matrix(self, rows: Any, others: Any) -> Array:
        """Return the user's function at all pairs of rows."""
        norm_x = row_norms(rows)
        norm_y = norm_x if others is None else row_norms(others)
        values = self.profile(norm_x[:, None], norm_y, cosines(rows, others))
        return values.astype(rows.dtype, copy=False)

    def diagonal(self, norms: FloatArray) -> FloatArray:
        """Return the user's function where both points are one."""
        # A row of zeros has no angle; its cosine counts as zero, as in the matrix.
        return self.profile(norms, norms, (norms > 0).astype(np.float64))
