"""What every feature map shares: validation, what it learns from data, rows in blocks."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from .._suggestions import Hinting
from .._typing import Array, FloatArray
from .._validation import canonical, check_count, row_norms, valid_rows
from ..kernels import Kernel, as_kernel
from ..kernels.slopes import check_coef, dense
from ..rows.dispatch import blockwise, sampled
from ..rows.threads import map_rows
from .training_sample import TrainingSample

__all__ = ["KernelFeatures"]

# Methods that decide what the columns are; a narrower form of the same columns belongs to them.
FORMULA = {"evaluator", "transform", "transform_into", "_prepared"}


class KernelFeatures(
    Hinting, ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator, ABC
):
    """Base class of feature maps: a transformer whose output Z has Z Zᵀ ≈ K.

    Subclasses define `_fit(sample, seed)`, which learns and freezes the map,
    `evaluator(dtype)`, which returns a function that fills the features of one block of rows, and
    `scratch_width`. A map answers for itself: learners ask `thread_safe`, `narrow_form`,
    `residual_variance` and `sent_state`.
    """

    #: Whether it can be fitted many times over, as a search for a width does.
    quick = True

    #: Whether several threads may transform rows at once.
    thread_safe: bool = True

    kernel: Any
    n_components: int
    random_state: Any

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if FORMULA & vars(cls).keys() and "narrow_form" not in vars(cls):
            cls.narrow_form = KernelFeatures.narrow_form  # type: ignore[method-assign]

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn what the parameters leave to the data, and freeze the map.

        Parameters
        ----------
        X : {array-like, CSR matrix} of shape (n_samples, n_features)
            Rows. Whatever is learnt comes from at most 10,000 of them, chosen by row number.
        y : ignored
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the rows; a row of weight 2 counts as two rows (exactly so where samples
            hold all rows: up to 10,000, and up to 2,000 for a median bandwidth).

        Returns
        -------
        self
        """
        self._n_features_out: int | None = None
        X, sample_weight = sampled(X, sample_weight)
        X = canonical(valid_rows(self, X, accept_sparse="csr", dtype=[np.float64, np.float32]))
        check_count("n_components", self.n_components, type(self).__name__)
        seed = int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))
        sample = TrainingSample(X, sample_weight)
        self._resolve_kernel(sample)
        n_columns = self._fit(sample, seed)
        self._check_range(sample)
        self._n_features_out = n_columns
        return self

    def _resolve_kernel(self, sample: TrainingSample) -> None:
        self.kernel_ = as_kernel(self.kernel).resolve(sample.rows, sample.weights)
        self.kernel_.check()

    def _check_range(self, sample: TrainingSample) -> None:
        """Raise ValueError where rows are outside of the kernel's domain, or k(x, x) overflows."""
        if self._bounded or not isinstance(getattr(self, "kernel_", None), Kernel):
            return
        norms = row_norms(self._prepared(sample.rows))
        self.kernel_.check_norms(norms)
        with np.errstate(over="ignore", invalid="ignore"):
            diagonal = self.kernel_.diagonal(norms)
        beyond = ~(diagonal <= np.finfo(sample.dtype).max)
        if beyond.any():
            raise _overflow(
                f"k(x, x) of {self.kernel_!r}", sample.dtype, float(norms[beyond].min())
            )

    @property
    def _bounded(self) -> bool:
        """Whether no row can take the features out of the range of numbers."""
        return bool(getattr(getattr(self, "kernel_", None), "shift_invariant", False))

    @blockwise
    def transform(self, X: Any) -> Array:
        """Return the features of rows.

        Parameters
        ----------
        X : {array-like, CSR matrix} of shape (n_samples, n_features)
            Rows, dense or sparse; float32 stays float32.

        Returns
        -------
        ndarray of shape (n_samples, n_components)
        """
        X = self._valid(X)
        return self._fill(X, np.empty((X.shape[0], self.n_columns), X.dtype))

    def transform_into(self, X: Any, out: Array) -> Array:
        """Write the features of rows into a given array.

        Parameters
        ----------
        X : {array-like, CSR matrix} of shape (n_samples, n_features)
            Rows.
        out : ndarray of shape (n_samples, n_components)
            Where the features go, in the precision of X; it may be a part of a wider matrix.

        Returns
        -------
        ndarray of shape (n_samples, n_components)
            `out`.
        """
        X = self._valid(X)
        if out.shape != (X.shape[0], self.n_columns) or out.dtype != X.dtype:
            raise ValueError(
                f"out has shape {out.shape} and type {out.dtype}; these features need "
                f"{(X.shape[0], self.n_columns)} and {X.dtype}."
            )
        return self._fill(X, out)

    @blockwise
    def kernel_diag(self, X: Any) -> Array:
        """Return k(x, x) of the exact kernel at rows, as the map prepares them: [n_samples]."""
        return self.kernel_.diag(self._valid(X))

    def gradient(self, X: Any) -> Array:
        r"""Return gradients of the features, :math:`\partial z_c(x_i)/\partial x`.

        In closed form, for the very functions that `transform` computes. A map that was fitted to
        rows of one norm only does not depend on the norm, and its gradients are tangential.

        Parameters
        ----------
        X : {array-like, CSR matrix} of shape (n_samples, n_features)
            Rows; float32 stays float32.

        Returns
        -------
        ndarray of shape (n_samples, n_components, n_features)
        """
        X = self._valid(X)
        out = np.empty((X.shape[0], self.n_columns, X.shape[1]), X.dtype)

        def block(rows: Any, out: Array) -> None:
            out[:] = self._from_prepared(self._gradients(self._prepared(dense(rows))))

        return map_rows(block, X, out, self.n_columns * X.shape[1])

    def contract_gradient(self, X: Any, coef: npt.ArrayLike) -> Array:
        r"""Return gradients of linear functions, :math:`\sum_c \beta_c \nabla z_c(x_i)`.

        Without all the numbers of `gradient`: rows are taken in blocks.

        Parameters
        ----------
        X : {array-like, CSR matrix} of shape (n_samples, n_features)
            Rows; float32 stays float32.
        coef : array-like of shape (n_components,) or (n_components, t)
            The coefficients β of one function, or of t.

        Returns
        -------
        ndarray of shape (n_samples, n_features) or (n_samples, t, n_features)
        """
        X = self._valid(X)
        weights = check_coef(coef, self.n_columns, "column of the features")
        out = np.empty((X.shape[0], weights.shape[1], X.shape[1]), X.dtype)

        def block(rows: Any, out: Array) -> None:
            out[:] = self._from_prepared(self._contracted(self._prepared(dense(rows)), weights))

        map_rows(block, X, out, self._contracted_width)
        return out[:, 0] if np.ndim(coef) == 1 else out

    def residual_variance(self, X: Any, squares: Array) -> Array:
        r"""Return the variance that the features leave out of the kernel.

        .. math:: \max(0,\; k(x, x) - \|z(x)\|^2)

        Parameters
        ----------
        X : {array-like, CSR matrix} of shape (n_samples, n_features)
            Rows.
        squares : ndarray of shape (n_samples,)
            ‖z(x)‖² of these rows, which whoever asks has at hand.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        return np.maximum(self.kernel_diag(X) - squares, 0)

    def narrow_form(self) -> Any:
        """Return a narrower map that spans the same functions, or None.

        Returns
        -------
        KernelFeatures or None
            A fitted map H with an attribute ``mixing``, a matrix G [n_columns of H, n_columns] such
            that Z = H G. By default None. A subclass with a formula of its own (`evaluator`) does
            not inherit the form of another formula.
        """
        return None

    def sent_state(self) -> dict[str, Any]:
        """Return what a worker needs to make the same map again: by default everything."""
        return dict(vars(self))

    @classmethod
    def receive_state(cls, state: dict[str, Any]) -> Self:
        """Return the map of which `sent_state` returned the state."""
        features = cls.__new__(cls)
        features.restore_state(state)
        return features

    def restore_state(self, state: dict[str, Any]) -> None:
        """Take over a state, and make what was not sent of it."""
        self.__dict__.update(state)

    def _prepared(self, rows: Any) -> Any:
        """Return rows as the map's formula takes them: centred, reduced or as they are."""
        return rows

    def _from_prepared(self, gradients: FloatArray) -> FloatArray:
        """Turn gradients [..., d] with respect to prepared rows into those with respect to rows."""
        return gradients

    def _gradients(self, rows: FloatArray) -> FloatArray:
        """Return gradients of all columns at prepared rows in float64: [b, n_columns, d]."""
        raise NotImplementedError(
            f"{type(self).__name__} has no gradients: use GegenbauerFeatures, HarmonicFeatures, "
            "FourierFeatures or NystroemFeatures."
        )

    def _contracted(self, rows: FloatArray, coef: FloatArray) -> FloatArray:
        """Return sums over the columns with coefficients [n_columns, t]: [b, t, d]."""
        return np.asarray(coef.T @ self._gradients(rows))

    @property
    def _contracted_width(self) -> int:
        """Intermediate numbers a row of `_contracted`."""
        return self.n_columns * self.n_features_in_

    def _fill(self, X: Any, out: Array) -> Array:
        evaluate = self.evaluator(X.dtype)
        block = evaluate if self._bounded else self._checked(evaluate)
        return map_rows(block, X, out, self.scratch_width)

    def _checked(self, evaluate: Callable[[Any, Array], None]) -> Callable[[Any, Array], None]:
        """Return a function that fills features and raises ValueError where they overflow."""

        def block(rows: Any, out: Array) -> None:
            with np.errstate(over="ignore", invalid="ignore"):
                evaluate(rows, out)
                finite = np.isfinite(out.sum())
            if not (finite or np.isfinite(out).all()):
                norms = row_norms(rows)[~np.isfinite(out).all(axis=1)]
                what = f"A feature of {type(self).__name__}({self.kernel_!r})"
                raise _overflow(what, out.dtype, float(norms.min()))

        return block

    def _valid(self, X: Any) -> Any:
        check_is_fitted(self)
        return canonical(
            valid_rows(self, X, accept_sparse="csr", dtype=[np.float64, np.float32], reset=False)
        )

    @property
    def n_columns(self) -> int:
        """The width of the fitted map, whatever `n_components` has been set to since."""
        return int(self._n_features_out or 0)

    def __sklearn_is_fitted__(self) -> bool:
        """Whether `fit` has come to its end."""
        return getattr(self, "_n_features_out", None) is not None

    @property
    @abstractmethod
    def scratch_width(self) -> int:
        """Intermediate numbers a row, which sets the size of a block."""

    @abstractmethod
    def _fit(self, sample: TrainingSample, seed: int) -> int:
        """Learn what is left to the data and freeze the map; return the number of columns."""

    @abstractmethod
    def evaluator(self, dtype: npt.DTypeLike) -> Callable[[Any, Array], None]:
        """Return a function that fills the features [b, n_columns] of a block of rows [b, d]."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def _overflow(what: str, dtype: npt.DTypeLike, norm: float) -> ValueError:
    """Return the error of a number that leaves the range of a type at rows of a norm."""
    kind = np.dtype(dtype)
    wider = ", or pass float64" if kind == np.float32 else ""
    return ValueError(
        f"{what} overflows {kind} at rows of norm {norm:.3g}: scale the rows down{wider}."
    )
