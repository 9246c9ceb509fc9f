"""A weighted mean of models, as a model: it answers what its parts answer."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from .._typing import Array, FloatArray
from ..calibration.classes import ClassCalibration
from ..calibration.intervals import Calibration
from ..calibration.quantiles import MeanQuantiles
from ..features.columns.table.encoding import SplitTable
from ..moments.folds import Splits
from ..rows import Block
from .cells import Cells
from .found_once import found_once
from .recipe import Recipe
from .start import Start

__all__ = ["Blend", "BlendStart", "BlendSums", "start_of"]


def start_of(recipe: Recipe, cells: Cells, X: Any, y: Any, n_folds: int = 1) -> Any:
    """Return the start of a recipe, or of each part of one that is a weighted mean."""
    start = Start.of(replace(recipe, others=()), cells, X, y, n_folds)
    if not recipe.others:
        return start
    others = [Start.of(share.recipe, cells, X, y, n_folds) for share in recipe.others]
    return BlendStart(recipe, (start, *others))


@dataclass(frozen=True)
class BlendSums:
    """What each part has summed or kept of the rows.

    Attributes
    ----------
    parts : tuple of SampledSums or KeptRows
    """

    parts: tuple[Any, ...]

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return int(self.parts[0].n_rows)

    @property
    def moments(self) -> Any:
        """The moments of the first part."""
        return self.parts[0].moments


@dataclass(frozen=True)
class BlendStart:
    """The starts of the parts of a weighted mean.

    Attributes
    ----------
    recipe : Recipe
        With its shares.
    parts : tuple of Start
    """

    recipe: Recipe
    parts: tuple[Start, ...]

    @property
    def n_columns(self) -> int:
        """The number of features of the first part."""
        return self.parts[0].n_columns

    @property
    def block_rows(self) -> int:
        """Rows of a stream's block that keep all threads busy."""
        return min(part.block_rows for part in self.parts)

    def sums(self, block: Block, title: str = "") -> BlendSums:
        """Return what each part sums or keeps of rows."""
        return BlendSums(tuple(part.sums(block, title) for part in self.parts))

    def merged(self, left: BlendSums, right: BlendSums) -> BlendSums:
        """Return the sums over the rows of both."""
        each = zip(self.parts, left.parts, right.parts, strict=True)
        return BlendSums(tuple(part.merged(a, b) for part, a, b in each))

    def solved(self, sums: BlendSums, verbose: bool = False) -> "Blend":
        """Return what follows from the sums for each part."""
        each = zip(self.parts, sums.parts, strict=True)
        return self._blend([part.solved(one, verbose) for part, one in each])

    def solved_by_splits(
        self, block: Block, plan: Splits, table: SplitTable | None, verbose: bool = False
    ) -> "Blend":
        """Return the same for rows that are all here, judged by the splits of a splitter."""
        return self._blend([p.solved_by_splits(block, plan, table, verbose) for p in self.parts])

    def knowing(self, found: "Blend") -> "BlendStart":
        """Return the same with the parameters of local parts that were found before."""
        return self._each([p.knowing(f) for p, f in zip(self.parts, found.parts, strict=True)])

    def keeping(self, found: "Blend") -> "BlendStart":
        """Return the same with everything that was found, the regularisation too."""
        return self._each([p.keeping(f) for p, f in zip(self.parts, found.parts, strict=True)])

    def shrunk_as(self, shrink: Recipe, n_folds: int) -> "BlendStart":
        """Return the same with coefficients that are shrunk as another recipe says."""
        return self._each([part.shrunk_as(shrink, n_folds) for part in self.parts])

    def with_cells(self, cells: Cells) -> "BlendStart":
        """Return the same for other cells."""
        return self._each([part.with_cells(cells) for part in self.parts])

    def _each(self, parts: list[Start]) -> "BlendStart":
        others = tuple(
            replace(share, recipe=part.recipe)
            for share, part in zip(self.recipe.others, parts[1:], strict=True)
        )
        whole = replace(parts[0].recipe, others=others, spread=self.recipe.spread)
        return BlendStart(replace(whole, records=self.recipe.records), tuple(parts))

    def _blend(self, found: list[Any]) -> "Blend":
        weights = self.recipe.weights
        return Blend(tuple(found), weights, self.recipe.spread)


@dataclass(frozen=True)
class Blend:
    r"""The weighted mean of models.

    .. math:: \hat y(x) = \sum_c w_c \hat y_c(x), \qquad
        Q_p(x) = \hat y(x) + \kappa \sum_c w_c s_c(x) \sum_c w_c q_{c,p}.

    Standard deviations s are calibrated, and q are quantiles of scores of unit size. So the
    quantiles of observations are about the mean of those of the parts, closer to the prediction by
    the factor κ: errors of the parts that are not the same cancel.

    Attributes
    ----------
    parts : tuple of FromSums or FromRows
        The one with the largest weight first; what a mean of models does not have (coefficients, a
        local part), this one tells.
    weights : tuple of float
        w.
    spread : float
        κ, the error of the mean over the mean of the errors, on held-out rows.
    kept : dict
        What intervals need: found when it is first asked for (`found_once`).
    """

    parts: tuple[Any, ...]
    weights: tuple[float, ...]
    spread: float
    kept: dict[str, Any] = field(default_factory=dict, compare=False, repr=False)

    @property
    def coef(self) -> FloatArray:
        """The coefficients of the first part."""
        return np.asarray(self.parts[0].coef)

    @property
    def intercept(self) -> FloatArray:
        """The constant of the first part."""
        return np.asarray(self.parts[0].intercept)

    @property
    def alpha(self) -> float:
        """The regularisation of the first part."""
        return float(self.parts[0].alpha)

    @property
    def cv_results(self) -> dict[str, Array]:
        """The errors of a cross-validation of the first part, or nothing."""
        results: dict[str, Array] = self.parts[0].cv_results
        return results

    @property
    def part(self) -> Any:
        """The local part of the first part, or None."""
        return self.parts[0].part

    def shares(self) -> dict[str, float]:
        """Return the shares of the targets' variance in the first part."""
        shares: dict[str, float] = self.parts[0].shares()
        return shares

    def mean(self, rows: Any) -> Array:
        """Return predictions at rows: [n, n_targets]."""
        return self._mean(lambda part: part.mean(rows))

    def latent(self, rows: Any) -> tuple[Array, Array]:
        """Return predictions and standard deviations of the mixture of the latent functions."""
        found = [part.latent(rows) for part in self.parts]
        mean = self._weighted([m for m, _ in found])
        squares = self._weighted([np.square(s) + np.square(m - mean) for m, s in found])
        return mean, np.sqrt(squares)

    def observed(self, rows: Any) -> tuple[Array, Array]:
        """Return predictions and standard deviations of observations: [n, n_targets]."""
        found = [part.observed(rows) for part in self.parts]
        sizes = [part.calibration().quantiles.size() for part in self.parts]
        mean = self._weighted([m for m, _ in found])
        std = self._weighted([s * size for (_, s), size in zip(found, sizes, strict=True)])
        return mean, np.asarray(self.spread * std)

    @found_once
    def calibration(self) -> Calibration:
        """Return what makes intervals hold: the mean of the parts' quantiles."""
        found = [part.calibration() for part in self.parts]
        quantiles = MeanQuantiles(tuple(c.quantiles for c in found), self.weights)
        crps, before = (
            self._weighted([getattr(c, name) for c in found]) for name in ("crps", "crps_before")
        )
        return Calibration(quantiles, None, self.spread * crps, before)

    def class_calibration(self) -> ClassCalibration:
        """Refuse: classes are told by one model alone."""
        raise NotImplementedError("A weighted mean of models has no probabilities of classes.")

    def gradient(self, rows: Any, held_out: bool = False) -> Array:
        """Return gradients of the predictions: [n, n_targets, d]."""
        return self._mean(lambda part: part.gradient(rows, held_out))

    def without(self, rows: Any) -> "Blend":
        """Return the model as if some rows were not known."""
        return replace(self, parts=tuple(part.without(rows) for part in self.parts), kept={})

    def draw(self, rows: Any, n_samples: int, rng: np.random.Generator) -> Array:
        """Draw the latent functions at rows, each from one part: [n, n_targets, n_samples]."""
        counts = rng.multinomial(n_samples, self.weights)
        drawn = [
            part.draw(rows, int(count), rng)
            for part, count in zip(self.parts, counts, strict=True)
            if count
        ]
        return np.asarray(rng.permutation(np.concatenate(drawn, axis=2), axis=2))

    def light(self) -> "Blend":
        """Return a copy without sums, that keeps what was found by them."""
        parts = tuple(part.light() for part in self.parts)
        return replace(self, parts=parts, kept=dict(self.kept))

    def _mean(self, answer: Callable[[Any], Array]) -> Array:
        return self._weighted([answer(part) for part in self.parts])

    def _weighted(self, values: list[npt.NDArray[Any]]) -> Array:
        return np.asarray(sum(w * v for w, v in zip(self.weights, values, strict=True)))
