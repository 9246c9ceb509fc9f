"""What to fit, as a value."""

from collections.abc import Sized
from dataclasses import dataclass, replace
from typing import Any

from .._typing import FloatArray
from ..kernels import Kernel, as_kernel
from ..kriging.search import Found
from .distance_weights import DistanceWeights

__all__ = ["MIN_ROWS", "Local", "Recipe", "Share", "varies_among"]

#: With fewer rows there is nothing to choose by, and folds leave too much to chance.
MIN_ROWS = 300


def varies_among(places: Sized) -> bool:
    """Tell whether there are enough places to ask whether a field is the same everywhere."""
    return len(places) >= MIN_ROWS


@dataclass(frozen=True)
class Local:
    """The local part of a recipe.

    Attributes
    ----------
    kernel : Kernel or None
        None: by evidence.
    noise : float or None
        None: by evidence.
    n_neighbors : int
        Rows that a prediction uses.
    fit_neighbors : int or None
        Earlier rows that a row is conditioned on in the fit; None: as many.
    found : Found or None
        Kernel, noise and ratio of the parts, where they are known already.
    seed : int
        Of the order of the rows.
    required : bool
        Whether the model must have a local part.
    n_features : int
        How many features may carry the low degrees of its kernel, where there are no others.
    seconds : float or None
        About how long the search for its parameters may take; None: as long as it takes.
    periods : tuple of float or None
        Where the last column is a time: seasons that are tried; None: it is a column as any other.
    varies : bool
        Whether the standard deviation may vary with place, where the evidence wants it.
    warps : bool
        Whether places may be moved, where the evidence wants it.
    """

    kernel: Kernel | None = None
    noise: float | None = None
    n_neighbors: int = 32
    fit_neighbors: int | None = None
    found: Found | None = None
    seed: int = 0
    required: bool = False
    n_features: int = 256
    seconds: float | None = None
    periods: tuple[float, ...] | None = None
    varies: bool = True
    warps: bool = False

    @classmethod
    def of(cls, part: Any) -> "Local":
        """Return the local part that the parameters of a `NeighborKriging` describe."""
        automatic = isinstance(part.kernel, str) and part.kernel == "auto"
        return cls(
            None if automatic else as_kernel(part.kernel),
            None if isinstance(part.noise, str) else float(part.noise),
            int(part.n_neighbors),
            required=True,
            n_features=int(part.n_features),
            periods=part.periods(),
            varies=part.varies(),
            warps=part.warps(),
        )


@dataclass(frozen=True)
class Recipe:
    """What to fit: the feature map, the local part, and how strongly coefficients are shrunk.

    Attributes
    ----------
    features : transformer or None
        The feature map, alone or last in a pipeline; None: a constant.
    columns : transformer or None
        What comes before the feature map, for the local part; None: nothing.
    local : Local or None
        None: features alone.
    alpha : float, "cv" or "evidence"
        The regularisation, or how it is found.
    alphas : ndarray or None
        What is tried by cross-validation; None: the default path.
    noise : float or None
        The variance of the noise, where the whole prior is given.
    fit_intercept : bool
        Whether there is a constant (with a local part there always is one).
    records : tuple of dict
        What the choice has tried.
    others : tuple of Share
        Recipes whose predictions are averaged with those of this one, and their weights.
    spread : float
        The error of the average over the average of the errors.
    weighing : DistanceWeights or None
        How the weights change with the distance to the nearest rows, in units of the length scales
        of this recipe's local part; None: they do not. Those of the shares are means over distances
        then.
    """

    features: Any = None
    columns: Any = None
    local: Local | None = None
    alpha: float | str = "cv"
    alphas: FloatArray | None = None
    noise: float | None = None
    fit_intercept: bool = True
    records: tuple[dict[str, Any], ...] = ()
    others: tuple["Share", ...] = ()
    spread: float = 1.0
    weighing: DistanceWeights | None = None

    @property
    def weights(self) -> tuple[float, ...]:
        """The weight of this recipe, and those of the others; their sum is one."""
        shares = [share.weight for share in self.others]
        return (1 - sum(shares), *shares)

    def shrunk_as(self, other: "Recipe") -> "Recipe":
        """Return the same with coefficients that are shrunk as another recipe says."""
        return replace(
            self,
            alpha=other.alpha,
            alphas=other.alphas,
            noise=other.noise,
            fit_intercept=other.fit_intercept,
            others=tuple(
                Share(share.weight, share.recipe.shrunk_as(other)) for share in self.others
            ),
        )

    def __str__(self) -> str:
        """Say it in five lines, and in five more for each other recipe of a weighted mean."""
        local = self.local
        part = "none"
        if local is not None:
            found = local.found
            kernel, noise = (
                (local.kernel, local.noise) if found is None else (found.kernel, found.noise)
            )
            part = f"{kernel or 'kernel by evidence'}, {local.n_neighbors} neighbours"
            part += ", noise by evidence" if noise is None else f", noise {noise:.3g}"
            if found is not None:
                part += ", places are moved" * (found.warp is not None)
                part += ", an amplitude varies" * (found.amplitude is not None)
        shrink = f"{self.alpha:.3g}" if not isinstance(self.alpha, str) else f"by {self.alpha}"
        chosen = f"among {len(self.records)}" if self.records else "by the user"
        shares = [f"{weight:.2f}" for weight in self.weights]
        if self.weighing is not None:
            near, far = self.weighing.values[0], self.weighing.values[-1]
            shares = [f"{a:.2f} near, {b:.2f} far" for a, b in zip(near, far, strict=True)]
        if self.others:
            chosen += f", with the weight {shares[0]} beside the following"
        return "\n".join(
            [
                f"columns    {_one_line(self.columns) or 'as they are'}",
                f"features   {_one_line(self.features) or 'a constant'}",
                f"local part {_one_line(part)}",
                f"alpha      {shrink if self.noise is None else f'the given noise {self.noise:g}'}",
                f"chosen     {chosen}",
                *(
                    f"weight {weight}\n{share.recipe}"
                    for weight, share in zip(shares[1:], self.others, strict=True)
                ),
            ]
        )


@dataclass(frozen=True)
class Share:
    """A recipe that takes part in a weighted mean.

    Attributes
    ----------
    weight : float
        Between zero and one.
    recipe : Recipe
    """

    weight: float
    recipe: Recipe


def _one_line(value: Any) -> str:
    return "" if value is None else " ".join(str(value).split())
