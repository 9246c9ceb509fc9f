"""Features of product kernels on groups of columns: a sphere times time, space times depth."""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from .._loaded import check_array
from .._typing import Array, FloatArray
from ..engines.products import multiply_columns
from ..kernels import Kernel, SpaceTime
from ..kernels.base import Product
from ..kernels.expansion.mercer import NEGLIGIBLE
from .base import KernelFeatures
from .groups import GroupedFeatures
from .harmonic import HarmonicFeatures
from .training_sample import TrainingSample

__all__ = ["ProductFeatures"]


class ProductFeatures(GroupedFeatures):
    r"""The largest products of features of several groups of columns.

    For a product kernel on groups of columns g,

    .. math::

        k(x, y) = \prod_g k_g(x_g, y_g), \qquad
        z_{c_1, c_2, \dots}(x) = \prod_g z_{g,c_g}(x_g),

    the products of the groups' eigenfunctions are the eigenfunctions of the whole, and their
    eigenvalues are the products :math:`\prod_g \lambda_{g,c_g}`: the `n_components` largest are
    used. Rotations act on each group for itself, so that a direction on the globe and a time never
    mix.

    Parameters
    ----------
    groups : list of (columns, features), or SpaceTime
        For each group its columns (numbers, names if X has names, a slice or a mask) and a feature
        map: `HarmonicFeatures`, whose eigenvalues are known, or any other of this library, whose
        columns' mean squares stand in for them. A separable kernel of space and time stands for
        `HarmonicFeatures` of its kernel of space, for all columns but the last, and of its kernel
        of time for the last, or of each factor of that.
    n_components : int, default=1024
        The largest number of columns D; fewer, where there are not so many products above 1e-15
        of the largest.

    Attributes
    ----------
    features_ : list of KernelFeatures
        The fitted map of each group.
    columns_ : list of ndarrays
        The numbers of each group's columns.
    eigenvalues_ : ndarray of shape (n_columns,)
        The product of eigenvalues of each column, in descending order.
    indices_ : ndarray of shape (n_columns, n_groups)
        The columns of the groups' features that each column is the product of.
    n_features_in_ : int
        d.

    Examples
    --------
    Points on the globe, with a time:

    >>> import numpy as np
    >>> import zonal
    >>> rng = np.random.default_rng(0)
    >>> place = zonal.datasets.to_sphere(rng.uniform(-90, 90, 100), rng.uniform(-180, 180, 100))
    >>> X = np.column_stack([place, rng.random(100)])
    >>> space, time = zonal.Gaussian(0.8), zonal.Matern(2.5, 0.5)
    >>> features = zonal.ProductFeatures(
    ...     [
    ...         ([0, 1, 2], zonal.HarmonicFeatures(space)),
    ...         ([3], zonal.HarmonicFeatures(time)),
    ...     ],
    ...     n_components=512,
    ... )
    >>> Z = features.fit_transform(X)
    >>> K = space(X[:, :3]) * time(X[:, 3:])
    >>> bool(np.linalg.norm(Z @ Z.T - K) < 0.01 * np.linalg.norm(K))
    True
    """

    def _checked_groups(self) -> list[tuple[Any, KernelFeatures]]:
        kernel = self.groups
        if not isinstance(kernel, SpaceTime):
            return super()._checked_groups()
        kernel.check()
        kernel.check_width(self.n_features_in_)
        if kernel.interaction or kernel.time is None or np.any(kernel.velocity):
            raise ValueError(
                f"{kernel!r} is not a product of kernels of space and of time: ProductFeatures "
                "need interaction=0, no velocity and a kernel of time. HarmonicFeatures take it as "
                "it is, but for a velocity, and can be one of several groups here."
            )
        time = self.n_features_in_ - 1
        return [
            (list(range(time)), HarmonicFeatures(kernel.space, self.n_components)),
            *(([time], HarmonicFeatures(one, self.n_components)) for one in _factors(kernel.time)),
        ]

    def _combine(self, sample: TrainingSample) -> None:
        spectra = [
            getattr(features, "eigenvalues_", squares)
            for features, squares in zip(self.features_, self._squares(sample), strict=True)
        ]
        self.eigenvalues_, self._stages = _largest_products(spectra, self.n_components)
        self.indices_ = _indices(self._stages)

    def _check_loaded(self) -> None:
        for pairs in getattr(self, "_stages", []):
            check_array(self, "_stages", "i", (2, None), 0, value=pairs)

    def kernel_diag(self, X: Any) -> Array:
        """Return k(x, x) of the product of the exact kernels: [n_samples]."""
        return np.asarray(np.prod(self._diagonals(X), axis=0))

    def evaluator(self, dtype: npt.DTypeLike) -> Callable[[Any, Array], None]:
        """Return a function that fills products of the groups' columns."""
        parts_of = self._parts(dtype)

        def block(rows: Any, out: Array) -> None:
            parts = list(parts_of(rows))
            product = np.ones((rows.shape[0], 1), dtype)
            for number, (pairs, part) in enumerate(zip(self._stages, parts, strict=True)):
                last = number == len(parts) - 1
                target = out if last else np.empty((rows.shape[0], pairs.shape[1]), dtype)
                multiply_columns(product, part, pairs, target)
                product = target

        return block


def _factors(kernel: Kernel) -> list[Kernel]:
    """Return the factors of a product of kernels: a season that changes from year to year."""
    if not isinstance(kernel, Product):
        return [kernel]
    return [*_factors(kernel.k1), *_factors(kernel.k2)]


def _largest_products(
    spectra: list[FloatArray], n_largest: int
) -> tuple[FloatArray, list[npt.NDArray[np.int64]]]:
    """Find the largest products of one value of each spectrum, a spectrum at a time.

    A product among the n largest of all has a part among the n largest of the first few.

    Returns
    -------
    values : ndarray of shape (at most n_largest,)
        In descending order.
    stages : list of ndarrays of shape (2, n_products)
        For each spectrum, which of the products so far is multiplied with which of its values.
    """
    values, stages = np.ones(1), []
    for spectrum in spectra:
        outer = np.multiply.outer(values, spectrum).ravel()
        order = np.argsort(-outer, kind="stable")[:n_largest]
        # One at least, even if all are zero.
        order = order[: max(1, int((outer[order] > NEGLIGIBLE * outer.max(initial=0.0)).sum()))]
        stages.append(np.array(np.divmod(order, len(spectrum)), np.int64))
        values = outer[order]
    return values, stages


def _indices(stages: list[npt.NDArray[np.int64]]) -> npt.NDArray[np.int64]:
    """Return which value of each spectrum a product is made of: [n_products, n_spectra]."""
    indices = np.zeros((1, 0), np.int64)
    for before, value in stages:
        indices = np.column_stack([indices[before], value])
    return indices
