"""What the properties are tried on: rows, kernels, maps, learners and tables, drawn at random.

A case says in its repr all that it takes to make it again: the arrays come from a seed.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp
from hypothesis import strategies as st

import zonal
from zonal.features import Standardizer

SHAPES = ("normal", "heavy", "sphere", "whole", "offset")
LAYOUTS = ("C", "F", "strided", "csr")
WORDS = ("", "low", "high", "=1+1", "-3", "é😀", "a,b", 'quote"d', "nan", " x ", "<b>")


@dataclass(frozen=True)
class Rows:
    """How rows are made.

    Attributes
    ----------
    n, dim, seed : int
    shape : str
        Normal; heavy-tailed (Student's t of 1.5 degrees of freedom); of one norm; whole numbers
        from -2 to 2 (many rows twice, some zero); ten standard deviations away from zero.
    exponent : int
        The rows are multiplied by 10 to this power.
    constant, repeated : bool
        Whether the first column is constant, and whether every row is there twice.
    dtype, layout : str
        Their type, and how they lie in memory.
    """

    n: int = 20
    dim: int = 3
    shape: str = "normal"
    exponent: int = 0
    constant: bool = False
    repeated: bool = False
    dtype: str = "float64"
    layout: str = "C"
    seed: int = 0

    @property
    def scale(self) -> float:
        return 10.0**self.exponent

    def dense(self, n: int | None = None, seed: int | None = None) -> np.ndarray:
        """Return the rows in C order, or as many others of their kind."""
        rng = np.random.default_rng(self.seed if seed is None else seed)
        size = (self.n if n is None else n, self.dim)
        if self.shape == "heavy":
            X = rng.standard_t(1.5, size)
        elif self.shape == "whole":
            X = rng.integers(-2, 3, size).astype(float)
        else:
            X = rng.standard_normal(size)
        if self.shape == "sphere":
            X /= np.linalg.norm(X, axis=1, keepdims=True)
        if self.shape == "offset":
            X += 10
        if self.layout == "csr":
            X *= rng.random(size) < 0.4
        if self.constant and self.shape != "sphere":
            X[:, 0] = 1
        if self.repeated:
            X[1::2] = X[: len(X) - 1 : 2]
        return (self.scale * X).astype(self.dtype)

    def make(self, **kwargs: Any) -> Any:
        return laid_out(self.dense(**kwargs), self.layout)

    def target(self, n_targets: int = 1) -> np.ndarray:
        """Return smooth functions of the rows, with noise."""
        X = self.dense().astype(float) / self.scale
        rng = np.random.default_rng(self.seed + 1)
        Y = np.sin(X @ rng.standard_normal((self.dim, n_targets)) / np.sqrt(self.dim))
        Y += 0.1 * rng.standard_normal(Y.shape)
        return Y[:, 0] if n_targets == 1 else Y

    def labels(self, n_classes: int = 3) -> np.ndarray:
        """Return words for classes, each of which is there as often as rows allow."""
        order = np.argsort(np.argsort(self.target()))
        names = np.array(["low", "middle", "zenith", "é"])[:n_classes]
        return names[order * n_classes // len(order)]


def laid_out(X: np.ndarray, layout: str) -> Any:
    """Return the same rows in another layout."""
    if layout == "csr":
        return sp.csr_array(X)
    if layout == "strided":
        wide = np.full((2 * X.shape[0], 2 * X.shape[1]), np.nan, X.dtype)
        wide[::2, ::2] = X
        return wide[::2, ::2]
    return np.asarray(X, order=layout)


COUNTS, DIMENSIONS = st.integers(1, 300), st.integers(1, 40)


@st.composite
def rows(
    draw: Any,
    n: Any = COUNTS,
    dim: Any = DIMENSIONS,
    layouts: Any = LAYOUTS,
    most: int = 12,
) -> Rows:
    """Draw rows, of scales from 10^-most to 10^most."""
    return Rows(
        n=draw(n),
        dim=draw(dim),
        shape=draw(st.sampled_from(SHAPES)),
        exponent=draw(st.integers(-most, most)),
        constant=draw(st.booleans()),
        repeated=draw(st.booleans()),
        dtype=draw(st.sampled_from(["float64", "float32"])),
        layout=draw(st.sampled_from(layouts)),
        seed=draw(st.integers(0, 2**16)),
    )


def cauchy(r: Any, s: Any, cosine: Any) -> Any:
    """Return 1 / (1 + |x - y|²), a function of norms and cosine as RotationInvariant takes it."""
    return 1 / (1 + np.maximum(r**2 + s**2 - 2 * r * s * cosine, 0))


SHIFT_INVARIANT = ("gaussian", "matern", "laplacian", "rational_quadratic")
DOT_PRODUCT = ("exponential", "polynomial", "dot_product")
HOMOGENEOUS = ("arc_cosine", "ntk")
OTHER = ("sum", "product", "multiple", "zonal", "rotation_invariant")


@st.composite
def kernels(draw: Any, on: Rows, kinds: Any = None) -> Any:
    """Draw a kernel for these rows: of their scale, of the median, now and then of scale one."""
    if kinds is None:
        kinds = (*SHIFT_INVARIANT, *DOT_PRODUCT, *HOMOGENEOUS, *OTHER)
    if on.exponent or on.shape != "sphere" or on.layout == "csr":
        kinds = [kind for kind in kinds if kind != "zonal"]
    if on.exponent:
        kinds = [kind for kind in kinds if kind not in ("rotation_invariant", "dot_product")]
    kind = draw(st.sampled_from(kinds))
    if kind in ("sum", "product", "multiple"):
        parts = kernels(on, (*SHIFT_INVARIANT, "polynomial", "arc_cosine"))
        first = draw(parts)
        return {"sum": lambda: first + draw(parts), "product": lambda: first * draw(parts)}.get(
            kind, lambda: 2.5 * first
        )()
    size = on.scale * np.sqrt(on.dim)
    length = draw(st.sampled_from([0.3 * size, size, 3 * size, "median", 1.0]))
    number = size if length == "median" else length
    return {
        "gaussian": lambda: zonal.Gaussian(length),
        "matern": lambda: zonal.Matern(draw(st.sampled_from([1.5, 2.5, 0.8])), length),
        "laplacian": lambda: zonal.Laplacian(length),
        "rational_quadratic": lambda: zonal.RationalQuadratic(length, draw(st.floats(0.5, 4))),
        "exponential": lambda: zonal.Exponential(number),
        "polynomial": lambda: zonal.Polynomial(
            draw(st.integers(1, 4)), 1 / number**2, draw(st.sampled_from([0.0, 1.0]))
        ),
        "dot_product": lambda: zonal.DotProduct(np.cosh),
        "arc_cosine": lambda: zonal.ArcCosine(draw(st.integers(0, 2))),
        "ntk": lambda: zonal.NTK(draw(st.integers(1, 3))),
        "zonal": lambda: zonal.Zonal(np.exp),
        "rotation_invariant": lambda: zonal.RotationInvariant(cauchy),
    }[kind]()


# Which kernels a map takes; maps that are not here take all of them.
TAKES = {
    zonal.FourierFeatures: SHIFT_INVARIANT,
    zonal.FastFoodFeatures: SHIFT_INVARIANT,
    zonal.ModifiedFourierFeatures: ("gaussian",),
    zonal.MaclaurinFeatures: ("gaussian", *DOT_PRODUCT),
    zonal.PolySketchFeatures: ("gaussian", *DOT_PRODUCT),
    zonal.TensorSketchFeatures: ("gaussian", *DOT_PRODUCT),
    zonal.AdaptiveSketchFeatures: ("gaussian", *DOT_PRODUCT),
    zonal.SphericalFeatures: ("polynomial", "exponential"),
    zonal.ReLUFeatures: ("arc_cosine",),
    zonal.NTKFeatures: ("ntk",),
    zonal.HashingFeatures: ("laplacian", "matern"),
}
MAPS = (
    zonal.GegenbauerFeatures,
    zonal.HarmonicFeatures,
    zonal.NystroemFeatures,
    zonal.ProductFeatures,
    zonal.SumFeatures,
    *TAKES,
)
# Maps that learn from rows only what does not depend on their order and repetition.
UNORDERED = (
    zonal.GegenbauerFeatures,
    zonal.HarmonicFeatures,
    zonal.FourierFeatures,
    zonal.FastFoodFeatures,
    zonal.ModifiedFourierFeatures,
)


@st.composite
def maps(draw: Any, on: Rows, kinds: Any = MAPS) -> Any:
    """Draw a feature map that takes these rows."""
    kind = draw(st.sampled_from(kinds))
    width = draw(st.integers(1, 64))
    if kind in (zonal.ProductFeatures, zonal.SumFeatures):
        if on.dim == 1:
            kind = zonal.HarmonicFeatures
        else:
            cut = draw(st.integers(1, on.dim - 1))
            groups = [list(range(cut)), list(range(cut, on.dim))]
            kernel = draw(kernels(on, SHIFT_INVARIANT))
            return kind([(group, zonal.HarmonicFeatures(kernel)) for group in groups], width)
    kernel = draw(kernels(on, TAKES.get(kind)))
    seed = draw(st.integers(0, 99))
    options = {}
    if kind is zonal.GegenbauerFeatures and draw(st.booleans()):
        options = {"max_degree": draw(st.integers(0, 8)), "n_radial": 1}
        options["directions"] = draw(st.sampled_from(["iid", "orthogonal", "sobol"]))
    elif kind is zonal.NystroemFeatures:
        options["sampling"] = draw(st.sampled_from(["recursive", "uniform", "rpcholesky"]))
    elif kind is zonal.FourierFeatures:
        options["orthogonal"] = draw(st.booleans())
    elif kind is zonal.HashingFeatures:
        options["sparse_output"] = False
    return kind(kernel, width, random_state=seed, **options)


def oblivious(on: Rows, width: int, seed: int) -> Any:
    """Return a map that learns nothing from rows, so that chunks share it."""
    return zonal.FourierFeatures(
        zonal.Gaussian(on.scale * np.sqrt(on.dim)), width, random_state=seed
    )


def local_part(on: Rows) -> zonal.NeighborKriging:
    return zonal.NeighborKriging(
        zonal.Matern(1.5, on.scale * np.sqrt(on.dim)), 8, noise=0.1, random_state=0
    )


@dataclass(frozen=True)
class MapCase:
    """Rows and a map."""

    rows: Rows
    features: Any
    automatic = False


@dataclass(frozen=True)
class LearnerCase:
    """Rows and a learner; which target it has follows from its class."""

    rows: Rows
    learner: Any

    @property
    def automatic(self) -> bool:
        """Whether the learner chooses its features."""
        return isinstance(getattr(self.learner, "features", None), str)

    @property
    def y(self) -> Any:
        if isinstance(self.learner, zonal.KernelRidgeClassifier):
            return self.rows.labels()
        if isinstance(self.learner, zonal.KernelCCA):
            return self.rows.target(2)
        if isinstance(self.learner, zonal.KernelPCA | zonal.KernelKMeans):
            return None
        return self.rows.target()


@st.composite
def map_cases(draw: Any, kinds: Any = MAPS, **limits: Any) -> MapCase:
    on = draw(rows(**limits))
    return MapCase(on, draw(maps(on, kinds)))


LEARNERS = (
    "ridge",
    "classifier",
    "process",
    "components",
    "clusters",
    "correlations",
    "kriging",
    "exact",
)


@st.composite
def learner_cases(
    draw: Any, kinds: Any = LEARNERS, features: Any = None, alphas: Any = None, **limits: Any
) -> LearnerCase:
    """Draw a learner on explicit features, of rows that are enough for it."""
    kind = draw(st.sampled_from(kinds))
    limits = {"n": st.integers(6, 300), "most": 6, **limits}
    if kind == "kriging":
        limits["layouts"] = LAYOUTS[:3]
    on = draw(rows(**limits))
    if features is None:
        map_ = draw(maps(on, UNORDERED if draw(st.booleans()) else MAPS))
    else:
        map_ = draw(features(on))
    seeds = {"random_state": draw(st.integers(0, 99))}
    alpha = draw(st.sampled_from(alphas or ["cv", 1e-3, 1.0]))
    local = {"local": None}
    if on.layout != "csr" and kind in ("ridge", "classifier", "process"):
        local["local"] = draw(st.sampled_from([None, None, local_part(on)]))
    learner = {
        "ridge": lambda: zonal.KernelRidge(map_, alpha, target=None, **local, **seeds),
        "classifier": lambda: zonal.KernelRidgeClassifier(map_, alpha, **local, **seeds),
        "process": lambda: zonal.GaussianProcess(
            map_, draw(st.sampled_from(["evidence", 0.1])), **local, **seeds
        ),
        "components": lambda: zonal.KernelPCA(map_, 1, **seeds),
        "clusters": lambda: zonal.KernelKMeans(map_, 2, n_init=1, **seeds),
        "correlations": lambda: zonal.KernelCCA(
            (map_, zonal.HarmonicFeatures(n_components=8)), 1, **seeds
        ),
        "kriging": lambda: local_part(on),
        "exact": lambda: zonal.ExactKernelRidge(
            draw(kernels(on, SHIFT_INVARIANT)), 0.1 if alpha == "cv" else alpha, **seeds
        ),
    }[kind]()
    return LearnerCase(on, learner)


@st.composite
def automatic_cases(draw: Any, kinds: Any = LEARNERS[:3]) -> LearnerCase:
    """Draw a learner that chooses its features and its local part, of rows that are enough."""
    on = draw(rows(n=st.integers(300, 340), dim=st.integers(1, 8), most=6))
    given = {"budget": draw(st.integers(8, 48)), "random_state": draw(st.integers(0, 99))}
    learner = {
        "ridge": zonal.KernelRidge(target=None, **given),
        "classifier": zonal.KernelRidgeClassifier(**given),
        "process": zonal.GaussianProcess(**given),
    }[draw(st.sampled_from(kinds))]
    return LearnerCase(on, learner)


@dataclass(frozen=True)
class Table:
    """A table of words, numbers, dates and gaps, and what makes numbers of it."""

    n: int
    kinds: tuple[str, ...]
    gaps: bool
    exponent: int
    seed: int
    encoder: Any

    def frame(self) -> pd.DataFrame:
        """Return the table itself."""
        rng = np.random.default_rng(self.seed)
        columns: dict[str, Any] = {}
        for number, kind in enumerate(self.kinds):
            if kind == "number":
                column: Any = 10.0**self.exponent * rng.standard_t(2, self.n)
            elif kind == "whole":
                column = rng.integers(-3, 4, self.n)
            elif kind == "word":
                column = np.array(WORDS, object)[rng.integers(0, len(WORDS), self.n)]
            elif kind == "date":
                column = np.datetime64("2020-01-01", "ns") + rng.integers(0, 900, self.n).astype(
                    "timedelta64[D]"
                )
            elif kind == "flag":
                column = rng.random(self.n) < 0.5
            else:
                column = np.full(self.n, 3.0)
            series = pd.Series(column)
            if self.gaps and kind != "constant":
                series = series.mask(rng.random(self.n) < 0.2)
            columns[f"{kind} {number}"] = series
        return pd.DataFrame(columns)

    def globe(self) -> np.ndarray:
        """Return latitude, longitude and one more column of numbers."""
        rng = np.random.default_rng(self.seed)
        angles = rng.uniform([-90, -180], [90, 180], (self.n, 2))
        angles[: self.n // 8] = [90, 17]  # poles have every longitude
        return np.column_stack([angles, 10.0**self.exponent * rng.standard_normal(self.n)])

    def make(self) -> Any:
        """Return what the encoder is for."""
        return self.frame() if isinstance(self.encoder, zonal.TableEncoder) else self.globe()

    @property
    def y(self) -> np.ndarray:
        return np.random.default_rng(self.seed + 1).standard_normal(self.n)


ENCODERS = (
    zonal.TableEncoder(),
    zonal.TableEncoder(numbers="normal", max_levels=3),
    zonal.SphereEncoder(0, 1),
    zonal.SphereEncoder(0, 1, rest="interval"),
    Standardizer(),
    zonal.LearnedMetric(zonal.Gaussian("median"), n_iterations=1, random_state=0),
)


@st.composite
def tables(draw: Any, encoders: Any = ENCODERS) -> Table:
    """Draw a table and an encoder."""
    kind = st.sampled_from(["number", "whole", "word", "date", "flag", "constant"])
    return Table(
        n=draw(st.integers(4, 120)),
        kinds=tuple(draw(st.lists(kind, min_size=1, max_size=5))),
        gaps=draw(st.booleans()),
        exponent=draw(st.integers(-6, 6)),
        seed=draw(st.integers(0, 2**16)),
        encoder=draw(st.sampled_from(encoders)),
    )
