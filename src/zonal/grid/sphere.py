"""Models of places that take numbers as they come, given points of the sphere."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Self

from sklearn.base import clone
from sklearn.pipeline import Pipeline
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from .._typing import Array
from ..features import SphereEncoder, TableEncoder
from ..rows.kinds import is_many

__all__ = ["SphereModel", "on_sphere"]


def _last_has(name: str) -> Callable[[Any], bool]:
    return lambda model: hasattr(model.steps[-1][1], name)


class SphereModel(Pipeline):
    """An encoder of places and a regressor, with all that the regressor says of its predictions.

    Parameters
    ----------
    steps : list of (name, estimator)
        Two of them: the encoder and the regressor.
    memory, transform_input, verbose
        As in scikit-learn's Pipeline.

    Examples
    --------
    >>> import numpy as np, pandas as pd, zonal
    >>> from zonal.grid.sphere import on_sphere
    >>> lon = np.arange(-180.0, 180, 5)
    >>> places = pd.DataFrame({"latitude": 0.0, "longitude": lon})
    >>> model = on_sphere(zonal.NeighborKriging()).fit(places, np.cos(np.radians(lon)))
    >>> sides = pd.DataFrame({"latitude": [0.0, 0.0], "longitude": [-179.99, 179.99]})
    >>> west, east = model.predict(sides)
    >>> bool(abs(west - east) < 1e-6)
    True
    """

    def fit(self, X: Any, y: Any = None, *, queries: Any = None, **params: Any) -> Self:
        """Fit to rows, or to blocks (X, y) of them where the regressor takes these.

        Rows that will be asked, `queries`, are encoded like X for a regressor that takes them.
        """
        if not is_many(X):
            if queries is not None and has_fit_parameter(self.steps[-1][1], "queries"):
                name = f"{self.steps[-1][0]}__queries"
                params[name] = clone(self.steps[0][1]).fit(X, y).transform(queries)
            return super().fit(X, y, **params)
        encoder, learner = (step for _, step in self.steps)
        encoder.fit(X)
        learner.fit(_Encoded(X, encoder.transform), None, **params)
        return self

    @property
    def n_rows_(self) -> int:
        """The number of rows of the fit, where the regressor tells."""
        return int(self.steps[-1][1].n_rows_)

    @available_if(_last_has("predict_interval"))  # type: ignore[untyped-decorator]
    def predict_interval(self, X: Any, coverage: float = 0.9) -> tuple[Array, Array]:
        """Predict intervals that hold a share of new observations, as the regressor does."""
        check_is_fitted(self)
        return self.steps[-1][1].predict_interval(self[:-1].transform(X), coverage)

    @available_if(_last_has("predict_quantiles"))  # type: ignore[untyped-decorator]
    def predict_quantiles(self, X: Any, q: Any = (0.05, 0.5, 0.95)) -> Array:
        """Predict quantiles of new observations, as the regressor does."""
        check_is_fitted(self)
        return self.steps[-1][1].predict_quantiles(self[:-1].transform(X), q)


@dataclass(frozen=True)
class _Encoded:
    """Blocks whose rows go through a function; they can be walked over again."""

    blocks: Any
    encode: Callable[[Any], Any]

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        for X, *others in self.blocks:
            yield (self.encode(X), *others)


def on_sphere(model: Any, words: bool = False) -> Any:
    """Return a copy of a model to which latitude and longitude are a place on the sphere.

    A model that chooses its features finds them by their names, and so do a `SphereEncoder` and a
    `TableEncoder` anywhere inside a model: these stay as they are. Any other, such as
    `NeighborKriging` and those of scikit-learn, would take degrees for a plane, and gets a
    `SphereEncoder` before it, or a `TableEncoder`.

    Parameters
    ----------
    model : regressor
        Not fitted.
    words : bool
        Whether some columns hold words or dates.
    """
    copy = clone(model)
    parameters = copy.get_params(deep=True) if hasattr(copy, "get_params") else {}
    parts = [copy, *parameters.values()]
    knows = any(isinstance(part, SphereEncoder | TableEncoder) for part in parts)
    if knows or any(_is_automatic(part) for part in parts):
        return copy
    encoder = TableEncoder() if words else SphereEncoder()
    return SphereModel([("sphere", encoder), ("model", copy)])


def _is_automatic(part: Any) -> bool:
    features = getattr(part, "features", None)
    return isinstance(features, str) and features == "auto"
