"""Features of sums of kernels on groups of columns: a function of each column, and one of all."""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from .._typing import Array, FloatArray
from ..kernels.expansion.mercer import NEGLIGIBLE
from .groups import GroupedFeatures
from .training_sample import TrainingSample

__all__ = ["SumFeatures"]


class SumFeatures(GroupedFeatures):
    r"""Features of several groups of columns side by side.

    For a sum of kernels on groups of columns g,

    .. math::

        k(x, y) = \sum_g k_g(x_g, y_g), \qquad z(x) = (z_1(x_1), z_2(x_2), \dots),

    the functions are sums :math:`f(x) = \sum_g f_g(x_g)`: with one column in each group additive
    models, as splines make them; with groups of pairs, or of all columns, models with interactions.
    Of a noisy table such sums tell more than one kernel of all columns does, for which rows that
    differ in any column are far from each other. Groups may have columns in common.

    Parameters
    ----------
    groups : list of (columns, features)
        For each group its columns (numbers, names if X has names, a slice or a mask) and a feature
        map of this library. The variance of a group is that of its kernel: ``0.1 * zonal.Matern()``
        has a tenth.
    n_components : int, default=1024
        The largest number of columns D. Where the groups have more, those with the largest mean
        squares stay.

    Attributes
    ----------
    features_ : list of KernelFeatures
        The fitted map of each group.
    columns_ : list of ndarrays
        The numbers of each group's columns.
    eigenvalues_ : ndarray of shape (n_columns,)
        The mean square of each column over the rows, its eigenvalue if it is an eigenfunction.
    kept_ : list of ndarrays
        The columns of each group's features that are used, in ascending order.
    n_features_in_ : int
        d.

    See Also
    --------
    ProductFeatures : Products of features of groups of columns.

    Examples
    --------
    A function of each column, and a tenth of a function of both:

    >>> import numpy as np
    >>> import zonal
    >>> X = np.random.default_rng(0).standard_normal((100, 2))
    >>> one, both = zonal.Gaussian(1.0), 0.1 * zonal.Gaussian(2.0)
    >>> features = zonal.SumFeatures(
    ...     [
    ...         ([0], zonal.HarmonicFeatures(one, 32)),
    ...         ([1], zonal.HarmonicFeatures(one, 32)),
    ...         ([0, 1], zonal.HarmonicFeatures(both, 128)),
    ...     ]
    ... )
    >>> Z = features.fit_transform(X)
    >>> K = one(X[:, :1]) + one(X[:, 1:]) + both(X)
    >>> bool(np.linalg.norm(Z @ Z.T - K) < 1e-4 * np.linalg.norm(K))
    True
    """

    def _combine(self, sample: TrainingSample) -> None:
        spectra = self._squares(sample)
        everything = np.concatenate(spectra)
        largest = np.argsort(-everything, kind="stable")[: self.n_components]
        # One at least, even if all are zero.
        n_kept = int((everything[largest] > NEGLIGIBLE * everything.max(initial=0.0)).sum())
        kept = np.sort(largest[: max(n_kept, 1)])
        self.eigenvalues_ = everything[kept]
        ends = np.cumsum([len(spectrum) for spectrum in spectra])
        parts = np.split(kept, np.searchsorted(kept, ends[:-1]))
        starts = [0, *ends[:-1]]
        self.kept_ = [part - start for part, start in zip(parts, starts, strict=True)]

    def kernel_diag(self, X: Any) -> Array:
        """Return k(x, x) of the sum of the exact kernels: [n_samples]."""
        return np.asarray(np.sum(self._diagonals(X), axis=0))

    def evaluator(self, dtype: npt.DTypeLike) -> Callable[[Any, Array], None]:
        """Return a function that fills the groups' columns, one group after the other."""
        parts_of = self._parts(dtype)

        def block(rows: Any, out: Array) -> None:
            start = 0
            for part, kept in zip(parts_of(rows), self.kept_, strict=True):
                out[:, start : start + len(kept)] = part[:, kept]
                start += len(kept)

        return block

    def _contracted(self, rows: FloatArray, coef: FloatArray) -> FloatArray:
        found = np.zeros((len(rows), coef.shape[1], rows.shape[1]))
        start = 0
        for features, columns, kept in zip(self.features_, self.columns_, self.kept_, strict=True):
            weights = np.zeros((features.n_columns, coef.shape[1]))
            weights[kept] = coef[start : start + len(kept)]
            found[:, :, columns] += features.contract_gradient(rows[:, columns], weights)
            start += len(kept)
        return found

    def _gradients(self, rows: FloatArray) -> FloatArray:
        return self._contracted(rows, np.eye(self.n_columns))
