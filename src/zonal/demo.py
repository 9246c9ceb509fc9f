"""The demo: the Earth's elevation from latitude and longitude, beside scikit-learn.

Run it with ``make demo`` or ``python -m zonal.demo``.
"""

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.kernel_approximation import Nystroem, RBFSampler
from sklearn.model_selection import train_test_split

from ._typing import Array
from .datasets import load_elevation, to_sphere
from .features import GegenbauerFeatures
from .kernels import Gaussian
from .learners import KernelRidge

__all__ = ["main"]

WIDTH, BANDWIDTH, SEED = 1024, 0.15, 0
PICTURE = Path("elevation.png")


@dataclass
class Result:
    """One method: its test error, the seconds of its fit and its prediction of the whole grid."""

    name: str
    mse: float
    seconds: float
    prediction: Array


def _methods() -> list[tuple[str, Any]]:
    gamma = 1 / (2 * BANDWIDTH**2)
    kwargs: dict[str, Any] = {"n_components": WIDTH, "random_state": SEED}
    return [
        ("zonal GegenbauerFeatures", GegenbauerFeatures(Gaussian(BANDWIDTH), **kwargs)),
        ("scikit-learn RBFSampler", RBFSampler(gamma=gamma, **kwargs)),
        ("scikit-learn Nystroem", Nystroem(gamma=gamma, **kwargs)),
    ]


def _run(name: str, features: Any, X: Array, y: Array, train: Array, test: Array) -> Result:
    start = time.perf_counter()
    model = KernelRidge(features).fit(X[train], y[train])
    seconds = time.perf_counter() - start
    prediction = model.predict(X)
    mse = float(np.mean((prediction[test] - y[test]) ** 2))
    return Result(name, mse, seconds, prediction)


def _table(results: list[Result]) -> str:
    header = f"{'features':<26}{'test MSE, km²':>15}{'fit, s':>10}"
    rows = [f"{r.name:<26}{r.mse:>15.3f}{r.seconds:>10.2f}" for r in results]
    return "\n".join([header, "-" * len(header), *rows])


def _draw(result: Result, grid: Array, y: Array, path: Path) -> None:
    """True elevation, prediction and error, as maps."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    lat, lon = np.unique(grid[:, 0]), np.unique(grid[:, 1])
    order = np.lexsort((grid[:, 1], grid[:, 0]))

    def as_map(values: Array) -> Array:
        return values[order].reshape(len(lat), len(lon))

    panels = [
        ("Elevation (one-degree cells)", y, "terrain", (-6, 6)),
        (f"Prediction from {WIDTH:,} features", result.prediction, "terrain", (-6, 6)),
        ("Prediction minus elevation", result.prediction - y, "RdBu_r", (-2, 2)),
    ]
    figure, axes = plt.subplots(3, 1, figsize=(7, 10.5), layout="constrained")
    for axis, (title, values, colours, limits) in zip(axes, panels, strict=True):
        image = axis.imshow(
            as_map(values),
            origin="lower",
            extent=(-180, 180, -90, 90),
            cmap=colours,
            vmin=limits[0],
            vmax=limits[1],
        )
        axis.set(title=title, xticks=range(-180, 181, 60), yticks=range(-90, 91, 30))
        figure.colorbar(image, ax=axis, label="km", shrink=0.85)
    figure.savefig(path, dpi=110)
    plt.close(figure)


def main() -> None:
    """Fit, print the table and save the map."""
    try:
        import matplotlib  # noqa: F401, needed at the end: better to know now
        from tqdm import tqdm
    except ImportError as error:
        raise SystemExit(
            "The demo needs tqdm and matplotlib: pip install 'zonal[plot,progress]'."
        ) from error

    data = load_elevation()
    X = to_sphere(*data.data.T.astype(np.float64))
    y = data.target.astype(np.float64) / 1000
    train, test = train_test_split(np.arange(len(y)), test_size=0.1, random_state=SEED)
    print(
        f"Earth elevation, {len(y):,} points: Gaussian kernel of bandwidth {BANDWIDTH} on the "
        f"sphere,\n{WIDTH:,} features, kernel ridge with alpha by 2-fold cross-validation, 10 % "
        "test.\n"
    )
    # Compile before the clock starts.
    _run(
        "", GegenbauerFeatures(n_components=8), X[:100], y[:100], np.arange(90), np.arange(90, 100)
    )
    results = []
    with tqdm(_methods(), unit="method") as progress:
        for name, features in progress:
            progress.set_description(name)
            results.append(_run(name, features, X, y, train, test))
    print("\n" + _table(results))
    _draw(results[0], data.data, y, PICTURE)
    print(f"\nMap: {PICTURE}")


if __name__ == "__main__":
    main()
