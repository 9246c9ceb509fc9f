"""HarmonicFeatures: accuracy beside other maps, speed beside RBFSampler, reduction of columns.

Writes results/harmonic.md. Run: python -m benchmarks.harmonic
"""

import platform
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.kernel_approximation import RBFSampler
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

import zonal
from zonal.polynomials import uniform_sphere

from .measure import seconds, table

RESULT = Path(__file__).parent / "results" / "harmonic.md"
N_SPEED, WIDTH = 64_800, 1024


def spectral(K: Any, Z: Any, lam: float) -> float:
    """‖(K+λ)^{-1/2} (ZZᵀ - K) (K+λ)^{-1/2}‖."""
    values, vectors = np.linalg.eigh(K)
    root = vectors / np.sqrt(np.maximum(values, 0) + lam) @ vectors.T
    return float(np.linalg.norm(root @ (Z @ Z.T - K) @ root, 2))


def frobenius(K: Any, Z: Any) -> float:
    return float(np.linalg.norm(Z @ Z.T - K) / np.linalg.norm(K))


def maps(kernel: Any, width: int) -> dict[str, Any]:
    seeded = {"n_components": width, "random_state": 0}
    return {
        "harmonic": zonal.HarmonicFeatures(kernel, width),
        "Gegenbauer, iid": zonal.GegenbauerFeatures(kernel, directions="iid", **seeded),
        "Gegenbauer": zonal.GegenbauerFeatures(kernel, **seeded),
        "Fourier": zonal.FourierFeatures(kernel, **seeded),
        "Nyström, uniform": zonal.NystroemFeatures(kernel, sampling="uniform", **seeded),
    }


def on_the_sphere() -> str:
    X = uniform_sphere(2000, 3, np.random.default_rng(0))
    rows = []
    for gamma, width in ((10, 1024), (2, 256)):
        kernel = zonal.Gaussian((2 * gamma) ** -0.5)
        K = kernel(X)
        best = np.linalg.eigvalsh(K)[::-1][width]
        errors = [
            f"{spectral(K, f.fit_transform(X), 0.01):.2g}" for f in maps(kernel, width).values()
        ]
        rows.append((f"exp(-{gamma}‖x-y‖²), D = {width}", *errors, f"{best / (best + 0.01):.2g}"))
    return table(rows, ("kernel", *maps("gaussian", 1), "best rank D"))


def in_space() -> str:
    rng = np.random.default_rng(0)
    sphere, space = uniform_sphere(2000, 3, rng), rng.standard_normal((2000, 4))
    wide = 0.5 * rng.standard_normal((2000, 9))
    cases = [
        ("N(0, I), d = 4, Gaussian(1)", zonal.Gaussian(1.0), space, 1024),
        ("N(0, I/4), d = 9, Gaussian(1)", zonal.Gaussian(1.0), wide, 1024),
    ]
    for kernel in (zonal.Matern(1.5), zonal.Laplacian()):
        name = "Matern(3/2)" if isinstance(kernel.get_params().get("nu"), float) else "Laplacian"
        for place, X in (("S²", sphere), ("N(0, I), d = 4", space)):
            cases += [(f"{place}, {name}", kernel, X, width) for width in (256, 1024)]
    rows = []
    for name, kernel, X, width in cases:
        K = kernel(X)
        errors = [f"{frobenius(K, f.fit_transform(X)):.2g}" for f in maps(kernel, width).values()]
        rows.append((name, str(width), *errors))
    return table(rows, ("data and kernel", "D", *maps("gaussian", 1)))


def elevation() -> str:
    data, target = zonal.datasets.load_elevation(return_X_y=True)
    X, y = zonal.datasets.to_sphere(data[:, 0], data[:, 1]), target / 1000
    train, test, y_train, y_test = train_test_split(X, y, test_size=0.1, random_state=0)
    rows = []
    for dtype in (np.float64, np.float32):
        errors = []
        for features in maps(zonal.Gaussian(0.15), WIDTH).values():
            model = zonal.KernelRidge(features).fit(train.astype(dtype), y_train)
            errors.append(f"{np.mean((model.predict(test.astype(dtype)) - y_test) ** 2):.4f}")
        rows.append((np.dtype(dtype).name, *errors))
    return table(rows, ("precision", *maps("gaussian", 1)))


def speed() -> str:
    rows = []
    for dim, kernel, goal in ((3, zonal.Gaussian(0.15), 0.5), (9, zonal.Gaussian(1.0), 1.0)):
        X = np.random.default_rng(0).standard_normal((N_SPEED, dim)).astype(np.float32)
        if dim == 3:
            X /= np.linalg.norm(X, axis=1, keepdims=True)
        else:
            X /= 2
        ours = zonal.HarmonicFeatures(kernel, WIDTH).fit(X)
        peer = RBFSampler(n_components=WIDTH, random_state=0).fit(X)

        def transform(X: Any = X, ours: Any = ours) -> Any:
            return ours.transform(X)

        def theirs(X: Any = X, peer: Any = peer) -> Any:
            return peer.transform(X)

        mine, other = seconds(transform, theirs, repeats=7)
        rows.append((str(dim), f"{mine:.3f}", f"{other:.3f}", f"{mine / other:.2f}", f"≤ {goal}"))
    return table(rows, ("d", "HarmonicFeatures, s", "RBFSampler, s", "ratio", "goal"))


def reduction() -> str:
    rows = []
    for name in ("connect4", "mushroom"):
        X, _ = getattr(zonal.datasets, f"load_{name}")(return_X_y=True)
        X = StandardScaler().fit_transform(np.asarray(X, dtype=np.float64))
        X = X[np.random.default_rng(0).permutation(len(X))[:6000]]
        train, test = X[:-1000], X[-1000:]
        median = zonal.Gaussian("median").resolve(train).bandwidth
        for factor in (1.0, 0.5):
            kernel = zonal.Gaussian(factor * median)
            K = kernel(test)
            cells = []
            for cls in (zonal.HarmonicFeatures, zonal.GegenbauerFeatures):
                for reduce in (None, "pca", "jl"):
                    features = cls(kernel, WIDTH, reduce=reduce, random_state=0).fit(train)
                    chosen = features.reduction_
                    dims = "" if chosen is None else f" ({chosen.shape[1]})"
                    cells.append(f"{frobenius(K, features.transform(test)):.3f}{dims}")
            fourier = zonal.FourierFeatures(kernel, WIDTH, orthogonal=True, random_state=0)
            nystroem = zonal.NystroemFeatures(kernel, WIDTH, sampling="uniform", random_state=0)
            for features in (fourier, nystroem):
                cells.append(f"{frobenius(K, features.fit(train).transform(test)):.3f}")
            rows.append((f"{name} ({X.shape[1]})", f"{factor} × median", *cells))
    header = ("harmonic", "harmonic, pca", "harmonic, jl", "Gegenbauer", "Gegenbauer, pca")
    return table(
        rows,
        ("data (d)", "bandwidth", *header, "Gegenbauer, jl", "Fourier, orthogonal", "Nyström"),
    )


def main() -> None:
    sections = [
        ("Spectral error on S², n = 2,000, λ = 0.01", on_the_sphere),
        ("Relative Frobenius error, n = 2,000", in_space),
        ("Elevation, test MSE in km², D = 1,024, bandwidth 0.15, alpha by 2-fold CV", elevation),
        ("Transform, float32, n = 64,800, D = 1,024, median of 7", speed),
        ("Fewer columns first, D = 1,024, Frobenius error (reduced dimension)", reduction),
    ]
    parts = [
        "# Harmonic features",
        f"`python -m benchmarks.harmonic`, {platform.machine()}, two cores, seed 0.",
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", zonal.TruncationWarning)  # the tables show what they say
        for title, section in sections:
            parts += [f"## {title}", section()]
            print(parts[-2], parts[-1], sep="\n\n", end="\n\n")
    RESULT.write_text("\n\n".join(parts) + "\n")


if __name__ == "__main__":
    main()
