"""Fitted models of every public kind: what a file may hold.

`MODELS` has for each a function that makes it and the rows to ask it about. Tests load them in a
fresh process (`test_fresh_process.py`) and damage them (`altered.py`).
"""

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest import mock

import numpy as np
import pandas as pd
import scipy.sparse as sp
from sklearn.base import BaseEstimator, clone
from sklearn.compose import ColumnTransformer
from sklearn.model_selection import KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import zonal
from zonal.features import Standardizer
from zonal.features.columns.place_time_encoder import PlaceTimeEncoder
from zonal.features.columns.ranker import Ranker
from zonal.features.columns.stretcher import Stretcher
from zonal.features.space import FeatureSpace
from zonal.grid.plane import PlaneDecoder
from zonal.grid.sphere import on_sphere
from zonal.kriging.search import Found
from zonal.model.distance_weights import DistanceWeights
from zonal.persistence import save
from zonal.rows import stream as source
from zonal.selection.judge import Candidate
from zonal.selection.ladder import Weighed
from zonal.selection.weighing import Verdict
from zonal.solvers import checkpoint as exact_checkpoint

RNG = np.random.default_rng(0)
N = 90
X = RNG.standard_normal((N, 4))
SPHERE = X[:, :3] / np.linalg.norm(X[:, :3], axis=1, keepdims=True)
SPARSE = sp.csr_array(sp.random(N, 60, density=0.1, random_state=0, format="csr"))
y = np.sin(X[:, 0]) + X[:, 1] * X[:, 2] + 0.1 * RNG.standard_normal(N)
Y = np.column_stack([y, np.cos(X[:, 1])])
LABELS = np.array(["low", "middle", "high"])[np.digitize(y, [-0.5, 0.5])]
MANY = np.random.default_rng(1).standard_normal((330, 3))  # enough for an automatic choice
TARGET = np.sin(2 * MANY[:, 0]) + MANY[:, 1]
PLANE = np.random.default_rng(2).uniform(-1, 1, (500, 2))
NOISE = np.random.default_rng(3).standard_normal(500)
VARYING = np.sin(3 * PLANE[:, 0]) + np.exp(3 * PLANE[:, 1] - 2) * NOISE
SMOOTH = np.sin(3 * PLANE[:, 0])
# Long along the diagonal: places are moved.
ALONG = np.sin(7 * PLANE @ [1.0, -1.0]) + 0.3 * PLANE.sum(axis=1) + 0.05 * NOISE
BALL = np.random.default_rng(11).standard_normal((500, 3))
BALL /= np.linalg.norm(BALL, axis=1, keepdims=True)
LOUD = NOISE * np.exp(2 * BALL[:, 2])
PLANE_TABLE = pd.DataFrame(2 * PLANE, columns=["a", "b"]).assign(kind="only")
SKEW = np.exp(2 * np.sin(6 * PLANE[:, 0]) + 4 * PLANE[:, 1] + 0.1 * NOISE)
TWO_KINDS = np.random.default_rng(5).uniform(-2, 2, (400, 5))
BOTH = np.sin(2 * TWO_KINDS).sum(axis=1) + 0.5 * np.sign(TWO_KINDS[:, 0])
BOTH = BOTH + 0.6 * np.random.default_rng(10).standard_normal(400)
LEVELS = np.random.default_rng(6).integers(6, size=(2, 600))
PAIRS = pd.DataFrame({"a": LEVELS[0], "b": LEVELS[1]}).map("w{}".format)
CROSSED = np.random.default_rng(4).standard_normal((6, 6))[tuple(LEVELS)]
MONTHLY = np.column_stack([np.tile(PLANE[:60], (6, 1)), np.repeat(np.arange(6.0), 60)])
SEASON = np.sin(3 * MONTHLY[:, 0]) + np.cos(MONTHLY[:, 2]) * MONTHLY[:, 1]
GLOBE = np.column_stack([RNG.uniform(-90, 90, N), RNG.uniform(-180, 180, N), X[:, 0]])


def table(n: int, seed: int = 0) -> pd.DataFrame:
    """Return numbers with gaps, few and many words, dates, times, places and flags."""
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "size": np.where(rng.random(n) < 0.1, np.nan, rng.standard_normal(n)),
            "count": rng.integers(0, 50, n),
            "kind": np.array(["oak", "ash", "elm"], object)[rng.integers(0, 3, n)],
            "station": np.array([f"s{i}" for i in range(20)], object)[rng.integers(0, 20, n)],
            "day": np.datetime64("2020-01-01", "ns")
            + rng.integers(0, 900, n).astype("timedelta64[D]"),
            "latitude": rng.uniform(-90, 90, n),
            "longitude": rng.uniform(-180, 180, n),
            "wet": rng.random(n) < 0.5,
            "clock": [f"{hour:02}:30" for hour in rng.integers(0, 24, n)],
        }
    )


TABLE, LONG_TABLE = table(N), table(330)
DATED = TABLE[["latitude", "longitude", "day"]]


def cauchy(r: Any, s: Any, cosine: Any) -> Any:
    """Return 1 / (1 + |x - y|²): a function of the user's own."""
    return 1 / (1 + np.maximum(r**2 + s**2 - 2 * r * s * cosine, 0))


@dataclass(frozen=True)
class Model:
    """A model that is yet to be fitted, and the rows it answers about."""

    unfitted: Any
    rows: tuple[Any, ...]
    fitted_to: tuple[Any, ...] = ()
    options: dict[str, Any] = field(default_factory=dict)

    def make(self) -> Any:
        """Return the model, fitted unless it is a kernel."""
        model = clone(self.unfitted)
        return model.fit(*self.fitted_to, **self.options) if self.fitted_to else model

    def answers(self, model: Any) -> list[Any]:
        """Return all that the model says of the rows."""
        return [getattr(model, name)(*self.rows, **given) for name, given in calls(model)]


@dataclass(frozen=True)
class InParts(Model):
    """The same, fitted to rows that are sorted into parts."""

    def make(self) -> Any:
        """Return the model, fitted to one block of rows that is not gathered."""
        with mock.patch("zonal.partitions.staying.GATHERED_BYTES", 0):
            return clone(self.unfitted).fit(iter([self.fitted_to]), None)


@dataclass(frozen=True)
class Mean(Model):
    """The same, a weighted mean of two models, whatever held-out rows say."""

    def make(self) -> Any:
        """Return the model."""

        def both(candidates: list[Candidate], *_: Any, **__: Any) -> Weighed:
            return Weighed((candidates[0], candidates[-1]), (0.6, 0.4), 0.9)

        with mock.patch("zonal.selection.ladder.weigh", side_effect=both):
            return super().make()


@dataclass(frozen=True)
class Field(Model):
    """The same, two classes at places as a field of logits, whatever held-out rows say."""

    def make(self) -> Any:
        """Return the model."""

        def worse(local: Any, labelled: Any, parts: Sequence[Any]) -> list[float]:
            return [np.inf] * (1 + len(parts))

        with (
            mock.patch("zonal.model.class_field._kriged_losses", side_effect=worse),
            mock.patch("zonal.learners.classifier.beside_local", return_value=None),
        ):
            return super().make()


@dataclass(frozen=True)
class ByDistance(Model):
    """The same, with two models for places, whose weights change with the distance."""

    def make(self) -> Any:
        """Return the model; held-out rows say that both count."""
        values = np.array([[1.0, 0.0], [0.3, 0.7]])
        weighing = DistanceWeights(np.log([0.1, 1.0]), values, np.array([1.0, 0.9]))
        both = Verdict(np.ones((2, 2)), (0, 1), weighing)
        other = Found(SPACE_TIME, 0.01, 1.0, 0.0)
        with (
            mock.patch("zonal.selection.ladder.verdict", return_value=both),
            mock.patch("zonal.selection.neighbors.find_space_time", return_value=other),
            mock.patch("zonal.selection.neighbors.split_space_time", return_value=other),
        ):
            return super().make()


def calls(model: Any) -> list[tuple[str, dict[str, Any]]]:
    """Return the methods to ask a model by, with their options."""
    found: list[tuple[str, dict[str, Any]]] = []
    if isinstance(model, zonal.GaussianProcess | zonal.NeighborKriging):
        found.append(("predict", {"return_std": True}))
    elif hasattr(model, "predict"):
        found.append(("predict", {}))
    found += [(name, {}) for name in ("predict_proba", "transform") if hasattr(model, name)]
    found += [(name, {}) for name in ("predict_interval", "predict_set") if hasattr(model, name)]
    return found or [("__call__", {})]


def features(**options: Any) -> Any:
    usual = {"kernel": zonal.Gaussian(2.0), "n_components": 30, "max_degree": 5, "random_state": 0}
    return zonal.GegenbauerFeatures(**(usual | options))


def fourier() -> Any:
    return zonal.FourierFeatures(zonal.Gaussian(2.0), 24, random_state=0)


SPACE_TIME = zonal.SpaceTime(zonal.Matern(1.5, 1.0), zonal.Periodic(2.0), 0.2) + zonal.SpaceTime(
    zonal.Matern(0.5, 2.0), None
)


def local() -> Any:
    return zonal.NeighborKriging(zonal.Matern(1.5, 1.0), 8, noise=0.1, random_state=0)


KERNELS = [
    zonal.Anova(0.7, 2.0),
    zonal.Anova(0.7, [0.0, 2.0, 1.0], [[0, -1.0, 0.5], [0, 0.5, 1.0]]),
    zonal.Gaussian(2.0),
    zonal.Matern(0.8, 2.0),
    zonal.SpaceTime(zonal.Matern(1.5, [1.0, 2.0]), zonal.Cauchy(2.0, 1.5, 0.5), 0.3),
    zonal.SpaceTime(zonal.Matern(1.5, 1.0), None, velocity=(0.5, 0.1)),
    zonal.Cauchy(2.0, 1.5, 0.5),
    zonal.Laplacian(2.0),
    zonal.RationalQuadratic(2.0, 1.5),
    zonal.Exponential(2.0),
    zonal.Polynomial(3, gamma=0.5),
    zonal.DotProduct(np.cosh),
    zonal.ArcCosine(1),
    zonal.NTK(2),
    zonal.NNGP(2),
    zonal.NetworkKernel("gelu", 2),
    zonal.Zonal(np.exp),
    zonal.RotationInvariant(cauchy),
    zonal.Gaussian(2.0) + zonal.NTK(1),
    zonal.Gaussian(2.0) * zonal.Polynomial(2),
    0.5 * zonal.Exponential(3.0),
    zonal.Gaussian(2.0).expand(dim=3, max_degree=5, n_radial=3),
    zonal.Gaussian(2.0).expand(dim=3, max_degree=5, n_radial=2) + zonal.Gaussian(1.0),
    (zonal.Gaussian(2.0) + zonal.NTK(1)).expand(dim=3, max_degree=5),
]
EXPANSION = zonal.Gaussian(2.0).expand(dim=4, max_degree=5, n_radial=4)
MAPS = [
    features(),
    features(kernel=zonal.ArcCosine(1)),
    features(kernel=zonal.Gaussian(2.0) + zonal.NTK(1)),
    features(kernel=EXPANSION + zonal.Gaussian(1.0)),
    features(kernel=EXPANSION + zonal.Gaussian(1.0), n_radial=9),
    zonal.HarmonicFeatures(EXPANSION + zonal.Gaussian(1.0), 20),
    features(kernel=zonal.Gaussian(2.0) + zonal.NTK(1), n_radial=9),
    features(directions="iid", n_radial=2),
    features(directions="leverage", n_radial=2),
    features(directions="sobol", n_components=41, center=True),
    features(reduce="pca", reduced_dim=2),
    zonal.HarmonicFeatures(zonal.Matern(1.5), 40),
    zonal.HarmonicFeatures(zonal.SpaceTime(zonal.Gaussian(1.0), zonal.Gaussian(2.0), 0.5), 24),
    zonal.HarmonicFeatures(2.0 * zonal.SpaceTime(zonal.Matern(), None), 24),
    zonal.HarmonicFeatures(zonal.Gaussian(2.0), 30, reduce="pca", reduced_dim=2),
    fourier(),
    zonal.FourierFeatures(zonal.Matern(1.5), 9, orthogonal=True, random_state=0),
    zonal.ModifiedFourierFeatures(n_components=8, random_state=0),
    zonal.FastFoodFeatures(n_components=20, random_state=0),
    zonal.MaclaurinFeatures(n_components=16, random_state=0),
    zonal.PolySketchFeatures(zonal.Polynomial(4), 30, base_sketch="srht", random_state=0),
    zonal.PolySketchFeatures(zonal.Gaussian(3.0), 40, base_sketch="osnap", random_state=0),
    zonal.TensorSketchFeatures(n_components=40, random_state=0),
    zonal.AdaptiveSketchFeatures(zonal.Gaussian(2.0), 20, random_state=0),
    zonal.SphericalFeatures(zonal.Polynomial(2), 20, random_state=0),
    zonal.ReLUFeatures(zonal.ArcCosine(1), 20, random_state=0),
    zonal.NTKFeatures(zonal.NTK(2), 20, random_state=0),
    zonal.HashingFeatures(zonal.Laplacian(2.0), 20, random_state=0),
    zonal.HashingFeatures(zonal.Laplacian(2.0), 20, sparse_output=False, random_state=0),
    zonal.NystroemFeatures(n_components=8, random_state=0),
    zonal.NystroemFeatures(zonal.NTK(), 8, sampling="rpcholesky", random_state=0),
    zonal.ProductFeatures([([0, 1], zonal.HarmonicFeatures()), ([2], fourier())], 24),
    zonal.SumFeatures([([0, 1], zonal.HarmonicFeatures()), ([2], zonal.HarmonicFeatures())], 24),
    Standardizer(),
    Stretcher([0.2, 1.0, 1.0, 1.0], [0, 1], n_components=40),
    Ranker(),
    zonal.LearnedMetric(n_components=40, random_state=0),
    make_pipeline(StandardScaler(), features()),
]
SPARSE_MAPS = [
    zonal.PolySketchFeatures(zonal.Polynomial(3), 50, base_sketch="count", random_state=0),
    zonal.PolySketchFeatures(zonal.Gaussian(8.0), 50, base_sketch="osnap", random_state=0),
    zonal.TensorSketchFeatures(zonal.Polynomial(2), 20, random_state=0),
    zonal.AdaptiveSketchFeatures(zonal.Polynomial(2), 20, random_state=0),
    zonal.NystroemFeatures(zonal.Gaussian(8.0), 20, random_state=0),
    zonal.FourierFeatures(zonal.Gaussian(8.0), 20, random_state=0),
]
BLOCKS = zonal.BlockKFold(3, 60, latitude=0, longitude=1)
LEARNERS: list[tuple[Any, Any, Any]] = [
    (zonal.KernelRidge(features(), 0.1), X, y),
    (zonal.KernelRidge(features(), cv=KFold(3)), X, Y),
    (zonal.KernelRidge(zonal.HarmonicFeatures(zonal.Matern(1.5), 30), local=None), X, y),
    (zonal.KernelRidge(features(), 0.1, local=local()), X, y),
    (zonal.KernelRidge(budget=32, random_state=0), MANY, TARGET),
    (zonal.KernelRidge(fourier(), local=local()), PLANE, VARYING),  # of varying noise
    (zonal.KernelRidge(budget=24, random_state=0), PLANE_TABLE, SKEW),  # of its logarithm
    (zonal.KernelRidge(fourier(), cv=BLOCKS), GLOBE, y),
    (zonal.KernelRidge(fourier(), cv=BLOCKS, local=local()), GLOBE, y),
    (zonal.KernelRidge(budget=24, cv=BLOCKS, random_state=0), GLOBE, y),
    (zonal.KernelRidge(fourier(), cv=BLOCKS, local=local()), GLOBE, y),
    (zonal.KernelRidge(fourier(), cv=zonal.ForwardKFold(3)), GLOBE, y),
    (zonal.KernelRidge(fourier(), cv=zonal.DistanceMatchedKFold(X[:20] + 1, 3)), X, y),
    (zonal.KernelRidge(make_pipeline(zonal.SphereEncoder(0, 1), features())), GLOBE, y),
    (
        on_sphere(zonal.NeighborKriging(zonal.Matern(), 8, noise=0.1)),
        TABLE[["latitude", "longitude"]],
        y,
    ),
    (zonal.KernelRidge(make_pipeline(zonal.LearnedMetric(random_state=0), fourier())), X, y),
    (zonal.KernelRidge(fourier(), encoder=zonal.TableEncoder(numbers="normal")), TABLE, y),
    (zonal.KernelRidge(budget=24, random_state=0), LONG_TABLE, np.exp(TARGET)),
    (
        zonal.KernelRidge(
            ColumnTransformer(
                [("f", features(), ["latitude", "longitude"]), ("k", OneHotEncoder(), ["kind"])]
            ),
            0.1,
        ),
        TABLE,
        y,
    ),
    (make_pipeline(zonal.TableEncoder(), zonal.KernelRidge(fourier())), TABLE, y),
    (zonal.KernelRidgeClassifier(features()), X, LABELS),
    (zonal.KernelRidgeClassifier(features(), loss="log"), X, LABELS),
    (zonal.KernelGLM("poisson", features()), X, np.round(np.exp(y))),
    (zonal.KernelGLM("negative_binomial", features(), alpha=1.0), X, np.round(np.exp(y))),
    (zonal.KernelGLM("gamma", fourier()), X, np.exp(y)),
    (zonal.KernelGLM("bernoulli", fourier(), local=local()), X, (y > 0).astype(float)),
    (zonal.KernelGLM(zonal.likelihoods.Student(4.0, 0.3), fourier()), X, y),
    (zonal.KernelRidgeClassifier(budget=32, random_state=0), MANY, (TARGET > 0).astype(int)),
    (zonal.KernelRidgeClassifier(budget=32, random_state=0), TWO_KINDS, (BOTH > 0).astype(int)),
    (zonal.KernelRidgeClassifier(fourier(), local=local()), X, LABELS),
    (zonal.KernelRidgeClassifier(fourier(), encoder=zonal.TableEncoder()), TABLE, LABELS),
    (zonal.GaussianProcess(features()), X, y),
    (zonal.GaussianProcess(zonal.HarmonicFeatures(zonal.Gaussian(2.0), 30), 0.1), X, Y),
    (zonal.GaussianProcess(fourier(), local=local()), X, y),
    (zonal.GaussianProcess(budget=32, random_state=0), MANY, TARGET),
    (zonal.NeighborKriging(random_state=0), X, y),
    (zonal.NeighborKriging(zonal.Matern(1.5, 3.0), 8, noise=0.01, n_features=20), SPHERE, y),
    (zonal.NeighborKriging(zonal.Matern(1.5, 3.0), 8, noise=0.01, n_features=20), PLANE, VARYING),
    (zonal.NeighborKriging(zonal.RationalQuadratic(1.0, 2.0), 8, noise=0.1), X, Y),
    # What varies with place.
    (zonal.NeighborKriging(), PLANE, VARYING),
    (zonal.NeighborKriging(), BALL, LOUD),
    (zonal.NeighborKriging(warp="auto"), PLANE, ALONG),
    (zonal.NeighborKriging(SPACE_TIME, 8, noise=0.1, n_features=0), SPHERE, y),
    # A kernel that is far too rough: deviations have a factor that changes with the distance.
    (zonal.NeighborKriging(zonal.Matern(0.5, 0.2), 8, noise=1e-3, n_features=0), PLANE, SMOOTH),
    (zonal.CoKriging(zonal.Matern(1.5, 1.0), 4, n_features=0), X, np.where(Y > 2, np.nan, Y)),
    (zonal.KernelKMeans(features(), 3, random_state=0), X, None),
    (zonal.KernelPCA(features(), 3), X, None),
    (zonal.ExactKernelRidge(zonal.Gaussian(2.0), 0.1, random_state=0), X, y),
    (zonal.ExactKernelRidge(zonal.Matern(1.5, 2.0), 0.1, centers=20, random_state=0), X, Y),
    (zonal.ExactKernelRidge(zonal.NTK(1), "cv", fit_intercept=True, random_state=0), X, y),
]


def _named(found: list[Model]) -> dict[str, Model]:
    """Return models by the names of their classes, with a number."""
    return {f"{i:02}-{type(one.unfitted).__name__}": one for i, one in enumerate(found)}


#: Everything that a user fits and saves.
MODELS = _named(
    [
        *(Model(kernel, (SPHERE[:9],)) for kernel in KERNELS),
        Model(zonal.Periodic(2.0, 0.5), (X[:9, :1],)),
        *(Model(map_, (X[:9],), (X, y)) for map_ in MAPS),
        *(Model(map_, (SPARSE[:9],), (SPARSE,)) for map_ in SPARSE_MAPS),
        Model(zonal.SphereEncoder(0, 1, rest="interval"), (GLOBE[:9],), (GLOBE,)),
        Model(zonal.TableEncoder(max_levels=5), (TABLE[:9],), (TABLE, y)),
        Model(zonal.TableEncoder(max_levels=2), (PAIRS[:9],), (PAIRS, CROSSED)),  # combinations
        Model(PlaceTimeEncoder(), (DATED[:9],), (DATED,)),
        *(Model(learner, (rows[:9],), (rows, target)) for learner, rows, target in LEARNERS),
        *(
            Model(one, (X[:9],), (X, y), {"noise_variance": 0.1 + X[:, 0] ** 2})
            for one in (local(), zonal.GaussianProcess(fourier(), local=None))
        ),
        Model(
            zonal.KernelGLM("binomial", fourier()),
            (X[:9],),
            (X, np.clip(np.round(y + 2), 0, 5)),
            {"trials": np.full(N, 5.0)},
        ),
        InParts(zonal.NeighborKriging(zonal.Matern(1.5, 1.0), 8, noise=0.1), (X[:9],), (X, y)),
        Mean(zonal.KernelRidge(budget=48, random_state=0), (TWO_KINDS[:9],), (TWO_KINDS, BOTH)),
        Field(zonal.KernelRidgeClassifier(), (PLANE[:9],), (PLANE[:320], SMOOTH[:320] > -0.3)),
        ByDistance(zonal.KernelRidge(), (MONTHLY[:9],), (MONTHLY, SEASON)),
        Model(PlaneDecoder("EPSG:32633", y=1, x=0), (GLOBE[:9],), (GLOBE,)),
        Model(zonal.KernelCCA(features(), 2), (X[:9], X[:9, :2] ** 2), (X, X[:, :2] ** 2)),
    ]
)


def narrow_form() -> Any:
    """Return features in another form, which belongs to no learner but can be saved."""
    return features(n_components=400, max_degree=2).fit(SPHERE, y).narrow_form()


class InterruptedFitError(Exception):
    """What ends a fit before its time."""


def checkpoints() -> Iterator[BaseEstimator]:
    """Yield what the checkpoints of interrupted fits hold."""

    def stream() -> Iterator[tuple[Any, Any]]:
        for start in range(0, N, 10):
            if start == 60:
                raise InterruptedFitError
            yield X[start : start + 10], y[start : start + 10]

    learners = [
        zonal.KernelRidge(features(), 0.1, local=None),
        zonal.KernelRidge(fourier(), cv=3),
        zonal.GaussianProcess(fourier()),
        zonal.KernelPCA(fourier(), 2),
    ]
    with (
        TemporaryDirectory() as folder,
        # All of so few rows would be read for the sample, before any is summed.
        mock.patch.object(source, "LEARN_ROWS", 20),
        mock.patch.object(FeatureSpace, "block_rows", 10),
    ):
        for number, learner in enumerate(learners):
            path = Path(folder) / f"{number}.zonal"
            with contextlib.suppress(InterruptedFitError):
                learner.fit(stream(), checkpoint=zonal.Checkpoint(path, every=1))
            yield zonal.load(path)
    with TemporaryDirectory() as folder:
        path = Path(folder) / "exact.zonal"
        exact = zonal.ExactKernelRidge(zonal.Gaussian(2.0), 1e-3, tol=1e-12, random_state=0)

        def stop(*_: Any) -> None:
            save(*_)
            raise InterruptedFitError

        with (
            mock.patch.object(exact_checkpoint, "save", stop),
            contextlib.suppress(InterruptedFitError),
        ):
            exact.fit(X, y, checkpoint=zonal.Checkpoint(path, every=1))
        yield zonal.load(path)
