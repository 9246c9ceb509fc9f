"""Kernels of several widths, and the maps that can carry them."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from .._typing import FloatArray
from .._validation import is_sparse
from ..features import (
    FourierFeatures,
    GegenbauerFeatures,
    HarmonicFeatures,
    NystroemFeatures,
    ProductFeatures,
)
from ..kernels import Gaussian, Kernel, Laplacian, Matern
from ..kernels.bandwidth import median_distance
from ..polynomials import harmonic_dimension
from .sums import SUMS, Columns

__all__ = ["LANDMARKS", "Kernelized", "Scales", "flat_list", "maps_for", "scout_for"]

#: The map that any kernel and any rows have.
LANDMARKS = "nystroem, uniform"


@dataclass(frozen=True)
class Scales:
    """The median distances of the whole rows, and of a sphere and the other columns.

    `columns` tells which of the columns belong together.
    """

    whole: float
    sphere: float = 1.0
    rest: float = 1.0
    columns: "Columns" = field(default_factory=lambda: Columns((), ()))

    @classmethod
    def of(
        cls, rows: Any, weights: FloatArray, sphere: npt.NDArray[np.intp] | None = None
    ) -> "Scales":
        """Measure rows of a pilot."""
        found = cls(median_distance(rows, weights), columns=Columns.of(rows))
        if sphere is None or rows.shape[1] == 3:
            return found
        rest = np.setdiff1d(np.arange(rows.shape[1]), sphere)
        places, others = (median_distance(rows[:, part], weights) for part in (sphere, rest))
        return replace(found, sphere=places, rest=others)


@dataclass(frozen=True)
class Kernelized:
    """Features of a kernel: its family, its length scale and the map that carries it.

    Attributes
    ----------
    family : str
        The kernel family.
    width : float
        The length scale in units of the median distance.
    map : str
        The feature map.
    rest_width : float or None
        For products: the length scale of the columns beside the sphere.
    metric : bool
        Whether the columns are first mapped by a learned metric.
    """

    family: str
    width: float
    map: str
    rest_width: float | None = None
    metric: bool = False

    def on(self, name: str) -> "Kernelized":
        """Return the same kernel on another map."""
        return replace(self, map=name)

    def words(self) -> dict[str, Any]:
        """Return what a table of candidates says of the kernel."""
        return {
            "kernel": self.family,
            "width": self.width,
            "rest_width": self.rest_width,
            "metric": self.metric,
        }

    def neighbours(self) -> Iterator["Kernelized"]:
        """Yield the same with a length scale that is a little smaller or larger."""
        for factor in (2**-0.5, 2**0.5):
            yield replace(self, width=_rounded(self.width * factor))
            if self.rest_width is not None:
                yield replace(self, rest_width=_rounded(self.rest_width * factor))

    def features(
        self,
        n_components: int,
        scales: Scales,
        sphere: npt.NDArray[np.intp] | None,
        dim: int,
        seed: int,
    ) -> Any:
        """Return the feature map, not fitted."""
        if self.map == "product":
            assert sphere is not None
            assert self.rest_width is not None
            rest = np.setdiff1d(np.arange(dim), sphere)
            groups = [
                (sphere.tolist(), _kernel(self.family, self.width * scales.sphere)),
                (rest.tolist(), _kernel(self.family, self.rest_width * scales.rest)),
            ]
            return ProductFeatures(
                [(columns, HarmonicFeatures(kernel, n_components)) for columns, kernel in groups],
                n_components,
            )
        kernel = _kernel(self.family, self.width * scales.whole)
        seeded: dict[str, Any] = {"n_components": n_components, "random_state": seed}
        if self.map == "harmonic":
            return HarmonicFeatures(kernel, n_components)
        if self.map == "gegenbauer":
            return GegenbauerFeatures(kernel, **seeded)
        if self.map == "fourier":
            return FourierFeatures(kernel, orthogonal=True, **seeded)
        if self.map in SUMS:
            return scales.columns.features(SUMS[self.map], kernel, n_components, seed)
        sampling = "uniform" if self.map == "nystroem, uniform" else "recursive"
        return NystroemFeatures(kernel, sampling=sampling, **seeded)


def _rounded(width: float) -> float:
    """Four digits, so that two steps there and back are known to meet."""
    return float(f"{width:.4g}")


def _kernel(family: str, length_scale: float) -> Kernel:
    if family == "gaussian":
        return Gaussian(length_scale)
    if family == "laplacian":
        return Laplacian(length_scale)
    return Matern({"matern 5/2": 2.5, "matern 3/2": 1.5}[family], length_scale)


def flat_list(scout: str, sums: bool, sphere: bool) -> list[Kernelized]:
    """Return the kernels that are compared, on a map that is cheap.

    Parameters
    ----------
    scout : str
        The map.
    sums : bool
        Whether there are single columns to make sums of.
    sphere : bool
        Whether there are unit vectors and other columns beside: products of kernels of both.
    """
    found = [
        Kernelized(family, width, scout)
        for family in ("gaussian", "matern 3/2", "laplacian")
        for width in (2.0, 1.0, 0.5)
    ]
    if sums:
        found += [Kernelized("matern 3/2", 2.0, name) for name in SUMS]
    if sphere:
        found += [
            Kernelized(family, width, "product", rest_width)
            for family in ("gaussian", "matern 3/2")
            for width in (1.0, 0.5, 0.25, 0.12, 0.06)
            for rest_width in (2.0, 0.7, 0.25)
        ]
    return found


def scout_for(dim: int, n_components: int) -> str:
    """Return the cheap map that stands for all others while kernels are compared.

    Harmonics, where at least degree 4 fits; else landmarks.
    """
    fits = sum(harmonic_dimension(ell, dim) for ell in range(5)) <= n_components
    return "harmonic" if fits else "nystroem, uniform"


def maps_for(rows: Any, n_components: int) -> list[str]:
    """Return the maps that are tried at full width."""
    dim = rows.shape[1]
    maps = ["nystroem, uniform", "fourier"]
    if dim + 1 <= n_components and not is_sparse(rows):
        maps.append("harmonic")
        if dim <= 12:
            maps.append("gegenbauer")
    return maps
