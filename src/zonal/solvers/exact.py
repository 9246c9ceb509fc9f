"""From rows to the exact solution: all rows or fewer centres, and α by rows that are held out."""

import operator
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from numbers import Integral
from typing import Any

import numpy as np

from .._typing import Array, FloatArray
from .._validation import check_count
from ..features.landmarks import distinct_rows
from ..kernels import Kernel
from ..moments.folds import Splits
from ..moments.held_out import summary
from ..rows import Block
from .on_dask import precisions_on_cluster
from .preconditioner import preconditioner_features
from .products import KernelProduct
from .ridge import CenterSums, Found, Settings, solve_centers, solve_rows
from .systems import precisions

__all__ = ["ExactProblem", "draw_centers"]

# Alphas are compared by errors, which need no more accuracy than this.
CV_TOL = 1e-2


@dataclass(frozen=True)
class ExactProblem:
    """What is solved for, apart from rows, targets and α.

    Attributes
    ----------
    kernel : Kernel
        With all parameters resolved to numbers.
    centers : ndarray or CSR matrix of shape (M, d), or None
        The points that have a coefficient; None: the rows themselves.
    preconditioner : "auto", feature map or None
    settings : Settings
    """

    kernel: Kernel
    centers: Any
    preconditioner: Any
    settings: Settings

    def on_rows(self, block: Block, alphas: FloatArray, on_cluster: bool = False) -> Found:
        """Solve for the coefficients of all rows; targets are [n, p], one α for each."""
        make = precisions_on_cluster if on_cluster else precisions
        features = None
        if self.preconditioner is not None:
            seed = self.settings.seed
            features = partial(
                preconditioner_features, self.preconditioner, self.kernel, block, seed
            )
        product: Callable[[bool], Any] = make(self.kernel, block.X)
        return solve_rows(product, block.y, alphas, block.weight, features, self.settings)

    def sums(self, walk: Callable[..., Any]) -> CenterSums:
        """Return what all rows give to the right-hand side of the centres' system.

        Parameters
        ----------
        walk : callable
            ``walk(function, merge)`` merges what a function makes of the blocks of rows.
        """
        found: CenterSums = walk(self.cross, operator.add)
        return found

    def on_centers(self, walk: Callable[..., Any], sums: CenterSums, alphas: FloatArray) -> Found:
        """Solve for the coefficients of the centres, with a walk over all rows an iteration."""

        def gram(vectors: FloatArray, precise: bool) -> FloatArray:
            products = partial(self.gram, vectors=vectors, precise=precise)
            return np.asarray(walk(products, operator.add))

        preconditioned = self.preconditioner is not None
        return solve_centers(
            gram, sums, self.kernel, self.centers, alphas, preconditioned, self.settings
        )

    def cross(self, block: Block) -> CenterSums:
        """Return what the rows of a block give to the right-hand side."""
        Y = np.asarray(block.y, np.float64).reshape(len(block), -1)
        targets = np.column_stack([Y, np.ones(len(block))])
        if block.weight is not None:
            targets *= block.weight[:, None]
        product = KernelProduct(self.kernel, block.X, self.centers, np.float64)
        return CenterSums(product.transposed(targets), targets.sum(axis=0))

    def gram(self, block: Block, vectors: FloatArray, precise: bool) -> FloatArray:
        """Return K_bMᵀ W K_bM V of the rows of a block."""
        dtype = np.float64 if precise else np.float32
        return KernelProduct(self.kernel, block.X, self.centers, dtype).gram(vectors, block.weight)

    def cross_validated(self, block: Block, alphas: FloatArray, plan: Splits) -> dict[str, Array]:
        """Return the errors of every α on the test rows of every split."""
        rough = replace(self.settings, tol=max(self.settings.tol, CV_TOL))
        quick = replace(self, settings=rough)
        errors = []
        for split in plan.splits:
            train, test = (np.flatnonzero(np.isin(plan.labels, part)) for part in split)
            errors.append(quick.path_errors(block.rows(train), block.rows(test), alphas))
        return summary(alphas, np.array(errors))

    def path_errors(self, train: Block, test: Block, alphas: FloatArray) -> FloatArray:
        """Return the mean squared error of every α on test rows, all solved together."""
        n_targets = train.y.shape[1]
        each = Block(train.X, np.repeat(train.y, len(alphas), axis=1), train.weight)
        ridges = np.tile(alphas, n_targets)
        if self.centers is None:
            found, points = self.on_rows(each, ridges), train.X
        else:

            def walk(function: Callable[[Block], Any], merge: Any) -> Any:
                return function(each)

            found, points = self.on_centers(walk, self.sums(walk), ridges), self.centers
        product = KernelProduct(self.kernel, test.X, points, np.float32)
        errors = product @ found.coef + found.intercept
        errors -= np.repeat(test.y, len(alphas), axis=1)
        squares = np.average(errors**2, axis=0, weights=test.weight)
        return np.asarray(squares.reshape(n_targets, len(alphas)).mean(axis=0))


def draw_centers(n_centers: Any, X: Any, weight: FloatArray | None, seed: int, owner: str) -> Any:
    """Draw centres among the distinct rows of a sample, fewer where there are fewer."""
    assert isinstance(n_centers, Integral)
    check_count("centers", n_centers, owner)
    distinct, _ = distinct_rows(X, np.ones(X.shape[0]) if weight is None else weight)
    rng = np.random.default_rng(seed)
    size = min(int(n_centers), len(distinct))
    return X[np.sort(rng.choice(distinct, size, replace=False))]
