"""What the paper leaves open, measured: fewer dimensions first, and directions by leverage scores.

Writes results/open_questions.md, .json and .png. Run: python -m benchmarks.open_questions
"""

import json
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from sklearn.datasets import load_digits
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.model_selection import train_test_split

import zonal
from zonal.theory.spectral import exact_error

from .measure import table
from .paper.common import Ledger, environment, mean_and_deviation
from .text import PACKAGES, docstrings_of

RESULTS = Path(__file__).parent / "results"
WIDTH, SEEDS = 1024, (0, 1, 2, 3, 4)
WORDS, MOST_ROWS = 300, 2500
DIMS = (2, 4, 8, 16, 32, 64, 128)


def digits() -> tuple[np.ndarray, np.ndarray]:
    """scikit-learn's handwritten digits: 1,797 rows of 64 grey values, ten classes."""
    X, y = load_digits(return_X_y=True)
    return X / 16, y


def words() -> tuple[np.ndarray, np.ndarray]:
    """Docstrings as tf-idf of their commonest words, and the package that they come from."""
    texts = {text: package for package in PACKAGES for text in sorted(docstrings_of(package))}
    rng = np.random.default_rng(0)
    chosen = rng.permutation(len(texts))[:MOST_ROWS]
    rows = np.array(sorted(texts))[chosen]
    X = TfidfVectorizer(max_features=WORDS, stop_words="english").fit_transform(rows).toarray()
    return X, np.array([texts[row] for row in rows])


def reductions(d: int) -> Iterator[tuple[str, int | None, dict[str, Any]]]:
    """Names, dimensions and options: none, and both kinds at every dimension below d."""
    yield "none", None, {}
    for kind in ("pca", "jl"):
        for dim in DIMS:
            if dim < d:
                yield kind, dim, {"reduce": kind, "reduced_dim": dim}


def reduced_errors(name: str, X: np.ndarray, y: np.ndarray) -> list[dict[str, Any]]:
    """Error of classes and of the kernel matrix, for every reduction."""
    found = []
    kernel = zonal.Gaussian("median").resolve(X)
    for kind, dim, options in reductions(X.shape[1]):
        wrong, apart = [], []
        for seed in SEEDS:
            train, test, t, u = train_test_split(X, y, test_size=0.25, random_state=seed)
            features = zonal.GegenbauerFeatures(kernel, WIDTH, random_state=seed, **options)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", zonal.TruncationWarning)
                model = zonal.KernelRidgeClassifier(features, local=None, random_state=seed)
                model.fit(train, t)
            wrong.append(1 - model.score(test, u))
            Z, K = model.features_.transform(test), kernel(test)
            apart.append(float(np.linalg.norm(Z @ Z.T - K) / np.linalg.norm(K)))
        row = {"data": name, "reduction": kind, "dim": dim}
        found.append({**row, "wrong": float(np.mean(wrong)), "kernel": float(np.mean(apart))})
        print(f"{name}, {kind} {dim}: {np.mean(wrong):.4f}, {np.mean(apart):.3f}", flush=True)
    return found


def landmarks(name: str, X: np.ndarray, y: np.ndarray) -> dict[str, Any]:
    """The same with Nyström features, which look at the rows."""
    kernel = zonal.Gaussian("median").resolve(X)
    peer = []
    for seed in SEEDS:
        train, test, t, u = train_test_split(X, y, test_size=0.25, random_state=seed)
        features = zonal.NystroemFeatures(kernel, min(WIDTH, len(train)), random_state=seed)
        model = zonal.KernelRidgeClassifier(features, local=None, random_state=seed).fit(train, t)
        peer.append(1 - model.score(test, u))
    row = {"data": name, "reduction": "Nyström", "dim": None}
    return {**row, "wrong": float(np.mean(peer)), "kernel": None}


def caps(n: int, dim: int, width: float, seed: int = 0) -> np.ndarray:
    """Rows on the sphere: around five random centres, or anywhere if the width is infinite."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, dim))
    if np.isfinite(width):
        centres = rng.standard_normal((5, dim))
        centres /= np.linalg.norm(centres, axis=1, keepdims=True)
        X = centres[rng.integers(5, size=n)] + width * X
    return X / np.linalg.norm(X, axis=1, keepdims=True)


def leverage_errors() -> list[dict[str, Any]]:
    """Spectral errors of uniform directions and of those drawn by leverage."""
    n, found = 500, []
    for dim in (3, 5):
        for spread in (0.05, 0.2, np.inf):
            X = caps(n, dim, spread)
            kernel = zonal.Gaussian(0.5)
            K, lam = kernel(X), n / 1000
            for width in (128, 512):
                for directions in ("iid", "leverage", "auto"):
                    errors = []
                    for seed in SEEDS:
                        features = zonal.GegenbauerFeatures(
                            kernel, width, directions=directions, center=False, random_state=seed
                        )
                        with warnings.catch_warnings():
                            warnings.simplefilter("ignore", zonal.TruncationWarning)
                            errors.append(exact_error(K, features.fit_transform(X), lam))
                    row = {"d": dim, "spread": spread, "D": width, "directions": directions}
                    found.append({**row, "errors": errors})
    return found


def main() -> None:
    """Measure both, and write the page."""
    ledger = Ledger(RESULTS / "open_questions.partial.jsonl")
    reduced: list[dict[str, Any]] = []
    for name, load in DATA.items():
        reduced += ledger.get((name,), lambda: reduced_errors(name, *load()))  # noqa: B023
        reduced.append(ledger.get((name, "Nyström"), lambda: landmarks(name, *load())))  # noqa: B023
    leverage = ledger.get(("leverage",), leverage_errors)
    record = {**environment(), "reduction": reduced, "leverage": leverage}
    text = json.dumps(record, indent=1, ensure_ascii=False).replace("Infinity", '"anywhere"')
    (RESULTS / "open_questions.json").write_text(text + "\n")
    (RESULTS / "open_questions.md").write_text(page(reduced, leverage))
    draw(reduced).savefig(RESULTS / "open_questions.png", dpi=110)
    (RESULTS / "open_questions.partial.jsonl").unlink(missing_ok=True)


DATA = {"digits": digits, "docstrings": words}


def _shown(values: list[float], places: int = 3) -> str:
    mean, deviation = mean_and_deviation(values)
    return f"{mean:.{places}f} ± {deviation:.{places}f}"


def page(reduced: list[dict[str, Any]], leverage: list[dict[str, Any]]) -> str:
    """The results as Markdown."""
    parts = [
        "# What the paper leaves open\n\nMade by `python -m benchmarks.open_questions`; mean ± "
        f"standard deviation of {len(SEEDS)} seeds, or their mean.\n\n## Fewer dimensions first\n\n"
        f"{WIDTH:,} Gegenbauer features of the Gaussian kernel of median bandwidth after a "
        "projection on principal axes (PCA) or a random one (JL); share of wrong classes on a "
        "quarter of the rows, and error of the kernel matrix of these relative to its norm."
    ]
    for name in DATA:
        chosen = [row for row in reduced if row["data"] == name]
        lines = [
            (
                row["reduction"],
                "–" if row["dim"] is None else str(row["dim"]),
                f"{row['wrong']:.3f}",
                "–" if row["kernel"] is None else f"{row['kernel']:.3f}",
            )
            for row in chosen
        ]
        parts += [f"### {name}", table(lines, ("reduction", "dimensions", "wrong", "kernel error"))]
    parts += [
        "![Errors over the reduced dimension](open_questions.png)",
        "## Directions by leverage scores\n\nSpectral error (equation (1), λ = n/1000) of 500 rows "
        "on the sphere, around five centres or anywhere; Gaussian kernel of bandwidth 0.5. iid "
        "directions are the paper's, auto is what the library takes.",
    ]
    keys = sorted({(row["d"], row["spread"], row["D"]) for row in leverage})
    lines = []
    for d, spread, width in keys:
        cells = {
            row["directions"]: _shown(row["errors"])
            for row in leverage
            if (row["d"], row["spread"], row["D"]) == (d, spread, width)
        }
        place = "anywhere" if np.isinf(spread) else f"caps of {spread:g}"
        lines.append((str(d), place, f"{width:,}", *cells.values()))
    parts.append(table(lines, ("d", "rows", "D", "iid", "leverage", "auto")))
    return "\n\n".join(parts) + "\n"


def draw(reduced: list[dict[str, Any]]) -> Figure:
    """Errors over the reduced dimension."""
    figure = Figure(figsize=(9, 3.6), layout="constrained")
    for axis, name in zip(figure.subplots(1, 2), DATA, strict=True):
        chosen = [row for row in reduced if row["data"] == name]
        for kind, style in (("pca", "C0.-"), ("jl", "C1.-")):
            rows = [row for row in chosen if row["reduction"] == kind]
            axis.plot([r["dim"] for r in rows], [r["wrong"] for r in rows], style, label=kind)
        for kind, style in (("none", "k:"), ("Nyström", "C2:")):
            level = next(row["wrong"] for row in chosen if row["reduction"] == kind)
            axis.axhline(level, color=style[:-1] or "k", ls=style[-1], label=kind)
        axis.set(xscale="log", yscale="log", title=name, xlabel="dimensions", ylabel="wrong")
        axis.grid(alpha=0.3)
    axis.legend(fontsize=8)
    return figure


if __name__ == "__main__":
    main()
