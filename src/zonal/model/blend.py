"""A weighted mean of models, as a model: it answers what its parts answer."""

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from .._typing import Array, FloatArray
from ..calibration.classes import ClassCalibration
from ..calibration.intervals import Calibration
from ..calibration.quantiles import MeanQuantiles
from ..features.chain_rule import features_gradient
from ..features.columns.table.encoding import SplitTable
from ..features.space import FeatureSpace
from ..kriging.process import LocalProcess
from ..moments.folds import Splits
from ..rows import Block
from ..rows.block import take
from .blend_calibration import calibrate_mixture, mixture, same_places
from .cells import Cells
from .distance_weights import DistanceWeights
from .drawing import normals
from .first_part import FirstPart
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

    def with_errors(
        self, errors: Any, X: Any = None, y: Any = None, precision: Any = None
    ) -> "BlendStart":
        """Return the same for known errors (see `Start.with_errors`)."""
        return self._each([part.with_errors(errors, X, y, precision) for part in self.parts])

    def with_cells(self, cells: Cells) -> "BlendStart":
        """Return the same for other cells."""
        return self._each([part.with_cells(cells) for part in self.parts])

    def asking(self, rows: Any) -> "BlendStart":
        """Return the same, where it is known what will be asked (see `Start.asking`)."""
        return self._each([part.asking(rows) for part in self.parts])

    def _each(self, parts: list[Start]) -> "BlendStart":
        others = tuple(
            replace(share, recipe=part.recipe)
            for share, part in zip(self.recipe.others, parts[1:], strict=True)
        )
        names = ("spread", "weighing", "records")
        kept = {name: getattr(self.recipe, name) for name in names}
        return BlendStart(replace(parts[0].recipe, others=others, **kept), tuple(parts))

    def _blend(self, found: list[Any]) -> "Blend":
        recipe = self.recipe
        return Blend(tuple(found), recipe.weights, recipe.spread, recipe.weighing)


@dataclass(frozen=True)
class Blend(FirstPart):
    r"""The weighted mean of models.

    .. math:: \hat y(x) = \sum_c w_c(x) \hat y_c(x), \qquad
        Q_p(x) = \hat y(x) + \kappa(x) \sum_c w_c(x) s_c(x) \sum_c w_c q_{c,p}.

    Standard deviations s are calibrated, and q are quantiles of scores of unit size. So the
    quantiles of observations are about the mean of those of the parts, closer to the prediction by
    the factor κ: errors of the parts that are not the same cancel. On places the weights may change
    with the distance to the nearest rows, and local parts are calibrated as one model, the mixture
    (`blend_calibration`). The latent function has the mean and the variance of the
    mixture, :math:`\sum_c w_c (\sigma_c^2 + (\hat y_c - \hat y)^2)`, and jointly at several rows

    .. math:: f(x) = \hat y(x) + \sum_c \sqrt{w_c(x)}
        \big[f_c(x) - \hat y_c(x) + \varepsilon_c (\hat y_c(x) - \hat y(x))\big],

    with independent f and ε of unit variance: as continuous as the parts and the weights are.

    Attributes
    ----------
    parts : tuple of FromSums or FromRows
        Without distances the one with the largest weight first; what a mean of models does not have
        (coefficients, a local part), the first one tells, and its local part what is near.
    weights : tuple of float
        w, or its mean over distances.
    spread : float
        κ, the error of the mean over the mean of the errors, on held-out rows.
    weighing : DistanceWeights or None
        How w and κ change with the distance to the nearest rows; None: they do not.
    kept : dict
        What intervals need: found when it is first asked for (`found_once`).
    """

    parts: tuple[Any, ...]
    weights: tuple[float, ...]
    spread: float
    weighing: DistanceWeights | None = None
    kept: dict[str, Any] = field(default_factory=dict, compare=False, repr=False)

    @property
    def cv_results(self) -> dict[str, Array]:
        """The errors of a cross-validation of the first part, or nothing."""
        results: dict[str, Array] = self.parts[0].cv_results
        return results

    def mean(self, rows: Any) -> Array:
        """Return predictions at rows: [n, n_targets]."""
        if self.weighing is None:
            return self._weighted([part.mean(rows) for part in self.parts])
        shares = self.weighing.at(self._distance(rows))
        total = np.zeros((len(shares), len(self.intercept)))
        for part, share in zip(self.parts, shares.T, strict=True):
            # A part is asked only where it counts.
            mine = np.flatnonzero(share)
            if len(mine):
                total[mine] += share[mine, None] * part.mean(take(rows, mine))
        return total

    def latent(self, rows: Any) -> tuple[Array, Array]:
        """Return predictions and standard deviations of the mixture of the latent functions."""
        found, shares = [part.latent(rows) for part in self.parts], self._shares(rows)
        mean = self._weighted([m for m, _ in found], shares)
        squares = self._weighted([np.square(s) + np.square(m - mean) for m, s in found], shares)
        return mean, np.sqrt(squares)

    def _distance(self, rows: Any, held_out: bool = False) -> FloatArray:
        """Return the distance to the nearest known row, as the first part sees it: [n]."""
        first = self.parts[0]
        found = first.part.joint.process.distance(first.local_rows(rows), held_out)
        return np.asarray(found)

    def _shares(self, rows: Any) -> list[Any]:
        """Return the weight of each part: a number, or one for each row [n, 1]."""
        return self._shares_at(None if self.weighing is None else self._distance(rows))

    def _shares_at(self, distance: FloatArray | None) -> list[Any]:
        """Return the same at distances to the nearest row."""
        if self.weighing is None or distance is None:
            return list(self.weights)
        return [share[:, None] for share in self.weighing.at(distance).T]

    @property
    def noise(self) -> FloatArray:
        """The mean variance of the noise: [n_targets]."""
        return self._weighted([part.noise for part in self.parts])

    def noise_at(self, rows: Any) -> FloatArray:
        """Return the mean variance of the noise at rows: [n, n_targets]."""
        return self._weighted([part.noise_at(rows) for part in self.parts])

    @property
    def errors(self) -> Any:
        """What the noise of the first part has beside variances that were given."""
        return self.parts[0].errors

    def observed(self, rows: Any, noise: FloatArray | None = None) -> tuple[Array, Array]:
        """Return predictions and standard deviations of observations: [n, n_targets].

        With `noise` [n], of observations whose own errors have these variances.
        """
        shares = self._shares(rows)
        if self._is_mixture:
            first = self.parts[0]
            found = [
                part.part.predict_observations(part.local_rows(rows), part.map, None, noise)
                for part in self.parts
            ]
            mean, std = mixture([m for m, _ in found], [s for _, s in found], shares)
            return mean, std * first.part.factor(first.local_rows(rows), self.calibration())
        found = [part.observed(rows, noise) for part in self.parts]
        sizes = [part.calibration().quantiles.size() for part in self.parts]
        mean = self._weighted([m for m, _ in found], shares)
        std = self._weighted([s * size for (_, s), size in zip(found, sizes, strict=True)], shares)
        spread: Any = self.spread
        if self.weighing is not None:
            spread = self.weighing.spread_at(self._distance(rows))[:, None]
        return mean, np.asarray(spread * std)

    @property
    def _is_mixture(self) -> bool:
        """Whether the parts are calibrated as one: local parts at the same places."""
        return same_places(self.parts)

    @found_once
    def calibration(self) -> Calibration:
        """Return what makes intervals hold: of the mixture, or the mean of the parts' quantiles."""
        if self._is_mixture:
            return calibrate_mixture(self.parts, self._shares_at)
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
        own = [part.gradient(rows, held_out) for part in self.parts]
        if self.weighing is None:
            return self._weighted(own)
        distance, first = self._distance(rows, held_out), self.parts[0]
        before = [] if first.columns is None else FeatureSpace(first.columns, 0).steps
        outward = features_gradient(
            [*before, _Distance(first.part.joint.process, held_out)], rows, np.ones((1, 1))
        )
        shares, slopes = self.weighing.at(distance), self.weighing.slopes(distance)
        total = np.zeros_like(own[0])
        for number, (part, gradient) in enumerate(zip(self.parts, own, strict=True)):
            steeper = part.mean(rows)[:, :, None] * outward
            total += shares[:, number, None, None] * gradient
            total += slopes[:, number, None, None] * steeper
        return total

    def without(self, rows: Any) -> "Blend":
        """Return the model as if some rows were not known."""
        return replace(self, parts=tuple(part.without(rows) for part in self.parts), kept={})

    def draw(self, rows: Any, n_samples: int, seed: int) -> Array:
        """Draw the latent functions jointly at rows: [n, n_targets, n_samples]."""
        roots = [np.sqrt(share) for share in self._shares(rows)]
        means = [part.mean(rows) for part in self.parts]
        mean = self._weighted(means, self._shares(rows))
        total = np.repeat(mean[:, :, None], n_samples, axis=2)
        for number, (part, root, own) in enumerate(zip(self.parts, roots, means, strict=True)):
            other = int(np.random.SeedSequence([seed, number]).generate_state(1)[0])
            sign = np.array([normals(seed, k, 3 + number, (1,))[0] for k in range(n_samples)])
            drawn = part.draw(rows, n_samples, other) - own[:, :, None]
            drawn += (own - mean)[:, :, None] * sign
            total += np.asarray(root)[..., None] * drawn
        return total

    def totals(self, rows: Any, weights: Any) -> tuple[FloatArray, FloatArray]:
        """Return means [r, t] and covariances [r, r, t] of sums over rows, of weights [n, r]."""
        shares, means = self._shares(rows), [part.mean(rows) for part in self.parts]
        mean = self._weighted(means, shares)
        joint: Any = 0.0
        for part, share, own in zip(self.parts, shares, means, strict=True):
            counted = weights.multiply(np.broadcast_to(np.sqrt(share), (len(mean), 1))).tocsr()
            apart = counted.T @ (own - mean)
            joint = joint + part.totals(rows, counted)[1]
            joint = joint + np.einsum("at,bt->abt", apart, apart)
        return np.asarray(weights.T @ mean), np.asarray(joint)

    def light(self) -> "Blend":
        """Return a copy without sums, that keeps what was found by them."""
        parts = tuple(part.light() for part in self.parts)
        return replace(self, parts=parts, kept=dict(self.kept))

    def _weighted(self, values: list[npt.NDArray[Any]], shares: list[Any] | None = None) -> Array:
        shares = list(self.weights) if shares is None else shares
        return np.asarray(sum(w * v for w, v in zip(shares, values, strict=True)))


@dataclass(frozen=True)
class _Distance:
    """The last step of a chain of gradients: the distance to the nearest row."""

    process: LocalProcess
    held_out: bool

    def contract_gradient(self, rows: Array, coef: FloatArray) -> Array:
        """Gradients of the distance at rows: [n, 1, d]."""
        return self.process.distance_gradient(rows, self.held_out)[:, None, :]
