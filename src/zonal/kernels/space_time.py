"""Kernels of space and time: separable, and Gneiting's class, in which both act on each other."""

from numbers import Real
from typing import Any, Self

import numpy as np

from .._typing import FloatArray
from .base import Kernel, Product
from .cauchy import Cauchy
from .differences import DifferenceKernel
from .gaussian import Gaussian
from .matern import Matern
from .periodic import Periodic
from .rational_quadratic import RationalQuadratic
from .variograms import variogram, variogram_slope

__all__ = ["SpaceTime"]

# Kernels of the distance that are mixtures of Gaussians, in any number of columns.
MIXTURES = (Gaussian, Matern, RationalQuadratic, Cauchy)


class SpaceTime(DifferenceKernel):
    r"""Kernel of places and times: the last column is the time, those before it are the place.

    With h the difference of two places in d columns, u that of two times, φ the kernel of space
    and T that of time,

    .. math::

        k(h, u) = T(u)\, \psi(u)^{-d/2}\, \varphi\!\left(\frac{h}{\sqrt{\psi(u)}}\right), \qquad
        \psi(u) = (1 + \gamma(u))^{\beta} .

    For β = 0 it is separable, T(u) φ(h): how places are correlated is the same for all lags in
    time. For β > 0 it is Gneiting's class: the longer the lag, the wider the correlation in space,
    as of a field in which what is small changes faster than what is large. γ is the variogram that
    belongs to T: :math:`(|u|/\ell)^p` for `Cauchy`, :math:`u^2/(2\alpha\ell^2)` for
    `RationalQuadratic` and -log T for all others. φ is a mixture of Gaussians and γ is
    conditionally negative definite, so that k is positive definite, on the plane and on the sphere
    (where h is the chord, and d = 3).

    Of a field that travels with a velocity v, as weather does, h - v u takes the place of h. It is
    the same kernel between places that are moved back, x - v t, hence positive definite too. On the
    sphere v is that of points in space: for regions, of which all places travel alike.

    `HarmonicFeatures` take it at rest: between two times it is rotation-invariant in the place, and
    its harmonics are multiplied with functions of ‖x‖ and the time. For β = 0 there is also
    ``ProductFeatures(kernel)``, harmonics of space times harmonics of time.

    Parameters
    ----------
    space : Kernel
        φ. Any shift-invariant kernel for β = 0; else `Matern`, `Gaussian`, `Laplacian`,
        `RationalQuadratic` or `Cauchy`. Length scales may differ between columns.
    time : Kernel or None
        T, a shift-invariant kernel of one column, as `Periodic` is. For β > 0 one of the five and
        `Periodic`, or a product of these. None: the same at all times, T = 1.
    interaction : float, default=0.0
        β, from 0 to 1.
    velocity : array-like of shape (d,), optional
        v, in units of the place over those of the time. None: zero.

    References
    ----------
    T. Gneiting, "Nonseparable, stationary covariance functions for space-time data", J. Am. Stat.
    Assoc. 97 (2002).

    V. P. Zastavnyi and E. Porcu, "Characterization theorems for the Gneiting class of space-time
    covariances", Bernoulli 17 (2011).

    Examples
    --------
    >>> import zonal
    >>> kernel = zonal.SpaceTime(zonal.Matern(0.5, 1.0), zonal.Cauchy(1.0), interaction=1.0)
    >>> kernel([[0.0, 0.0, 0.0]], [[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [1.0, 0.0, 1.0]]).round(4)
    array([[0.3679, 0.25  , 0.1233]])
    """

    _advice = (
        "HarmonicFeatures take it, and sums of multiples of such kernels, with a time in the last "
        "column; else use NystroemFeatures."
    )

    def __init__(
        self, space: Kernel, time: Kernel | None, interaction: float = 0.0, *, velocity: Any = None
    ) -> None:
        self.space = space
        self.time = time
        self.interaction = interaction
        self.velocity = velocity

    def check(self) -> None:
        """Raise ValueError if a parameter is out of range."""
        for name in ("space", "time"):
            part = getattr(self, name)
            if name == "time" and part is None:
                continue
            if not (isinstance(part, Kernel) and part.shift_invariant):
                raise ValueError(
                    f"{name}={part!r} of SpaceTime must be a shift-invariant kernel, such as "
                    "zonal.Matern() or, for time, zonal.Periodic()."
                )
            part.check()
        try:
            velocity = np.asarray(0.0 if self.velocity is None else self.velocity)
        except ValueError:  # rows of different lengths
            velocity = np.empty((0, 0))
        if velocity.dtype.kind not in "iuf" or velocity.ndim > 1 or not np.isfinite(velocity).all():
            raise ValueError(
                f"velocity={self.velocity!r} of SpaceTime must be None or a finite number for each "
                "column of the place."
            )
        beta = self.interaction
        if not isinstance(beta, Real) or isinstance(beta, bool) or not 0 <= float(beta) <= 1:
            raise ValueError(f"interaction={beta!r} of SpaceTime must be a number from 0 to 1.")
        if beta == 0:
            return
        if not isinstance(self.space, MIXTURES):
            raise ValueError(
                f"space={self.space!r} of SpaceTime must be Matern, Gaussian, Laplacian, "
                "RationalQuadratic or Cauchy where interaction > 0, for positive definiteness."
            )
        if self.time is None or not _has_variogram(self.time):
            raise ValueError(
                f"time={self.time!r} of SpaceTime must be Cauchy, RationalQuadratic, Matern, "
                "Laplacian, Gaussian, Periodic or a product of these where interaction > 0, for "
                "positive definiteness."
            )

    def check_width(self, n_columns: int) -> None:
        """Raise ValueError unless there is a column before the last."""
        if n_columns < 2:
            raise ValueError(
                f"SpaceTime is a kernel of a place and a time, the last column, but the rows have "
                f"{n_columns} column: add the columns of the place, or use the kernel of time."
            )
        if self.velocity is not None and np.shape(self.velocity) != (n_columns - 1,):
            raise ValueError(
                f"velocity={self.velocity!r} of SpaceTime must have a number for each of the "
                f"{n_columns - 1} columns of the place, which are all but the last one."
            )

    def resolve(self, X: Any, sample_weight: Any = None) -> Self:
        """Return a copy of which both kernels are resolved, each by its columns."""
        rows = self.valid_rows(X)
        return type(self)(
            self.space.resolve(rows[:, :-1], sample_weight),
            None if self.time is None else self.time.resolve(rows[:, -1:], sample_weight),
            self.interaction,
            velocity=self.velocity,
        )

    def moved_back(self, rows: FloatArray) -> FloatArray:
        """Return where the places of rows, or of differences, [..., d + 1] come from: [..., d]."""
        places = rows[..., :-1]
        if self.velocity is None:
            return places
        return np.asarray(places - rows[..., -1:] * np.asarray(self.velocity, np.float64))

    def of_differences(self, delta: FloatArray) -> FloatArray:
        """Return the kernel at differences [..., d + 1]: [...]."""
        place, lag = self.moved_back(delta), delta[..., -1:]
        in_time, root = self.over_time(lag, place.shape[-1])
        return np.asarray(in_time * self.space.of_differences(place / root[..., None]))

    def over_time(self, lag: FloatArray, dim: int) -> tuple[FloatArray, FloatArray]:
        r"""Return :math:`T \psi^{-d/2}` and :math:`\sqrt\psi` at lags [..., 1]: [...] each."""
        in_time = np.ones(lag.shape[:-1]) if self.time is None else self.time.of_differences(lag)
        if self.interaction == 0:
            return in_time, np.ones(lag.shape[:-1])
        wider = self._widening(lag)
        return in_time * wider ** (-dim / 2), np.sqrt(wider)

    def difference_slopes(self, delta: FloatArray) -> FloatArray:
        """Return its gradient by the difference: [..., d + 1]."""
        slopes = self._slopes_where_it_comes_from(delta)
        if self.velocity is not None:
            slopes[..., -1] -= slopes[..., :-1] @ np.asarray(self.velocity, np.float64)
        return slopes

    def _slopes_where_it_comes_from(self, delta: FloatArray) -> FloatArray:
        """Return the gradient by h - v u and by the lag, each with the other held."""
        place, lag, dim = self.moved_back(delta), delta[..., -1:], delta.shape[-1] - 1
        if self.time is None:
            return np.append(self.space.difference_slopes(place), np.zeros(lag.shape), axis=-1)
        in_time, beta = self.time.of_differences(lag), float(self.interaction)
        wider = self._widening(lag)
        root, shrunk = np.sqrt(wider), wider ** (-dim / 2)
        narrow = place / root[..., None]
        space, by_place = self.space.of_differences(narrow), self.space.difference_slopes(narrow)
        out = np.empty(np.shape(delta))
        out[..., :-1] = (in_time * shrunk / root)[..., None] * by_place
        by_lag = self.time.difference_slopes(lag)[..., 0] * space
        if beta:
            growth = beta * variogram_slope(self.time, lag) / (1 + variogram(self.time, lag))
            # ψ' = growth · ψ, of which ψ^{-d/2} and the argument of φ depend.
            along = np.einsum("...c,...c->...", by_place, narrow)
            by_lag = by_lag - in_time * growth * (dim * space + along) / 2
        out[..., -1] = shrunk * by_lag
        return out

    def _widening(self, lag: FloatArray) -> FloatArray:
        """ψ(u)."""
        if self.interaction == 0 or self.time is None:
            return np.ones(lag.shape[:-1])
        return np.asarray((1 + variogram(self.time, lag)) ** float(self.interaction))


def _has_variogram(kernel: Kernel) -> bool:
    if isinstance(kernel, Product):
        return _has_variogram(kernel.k1) and _has_variogram(kernel.k2)
    return isinstance(kernel, (Periodic, *MIXTURES))
