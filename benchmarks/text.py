"""python -m benchmarks.text: sketches of sparse text by number of columns, in results/text.md.

The text is at hand wherever the library is developed: the docstrings of installed packages.
"""

import ast
import time
import warnings
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer
from sklearn.preprocessing import normalize

import zonal
from zonal.theory.spectral import exact_error

from .measure import table

RESULTS = Path(__file__).parent / "results" / "text.md"
PACKAGES = ("numpy", "scipy", "sklearn", "pandas", "matplotlib", "dask")
N_ROWS, WIDTHS, SEEDS = 1000, (256, 1024, 4096), (0, 1)
# λ is the eigenvalue of this number.
RANK = 20
MAPS = {
    "PolySketch": zonal.PolySketchFeatures,
    "TensorSketch": zonal.TensorSketchFeatures,
    "Adaptive Sketch": zonal.AdaptiveSketchFeatures,
    "Nyström": zonal.NystroemFeatures,
}


def docstrings_of(package: str) -> set[str]:
    """The different docstrings of at least fifty words in a package."""
    found = set()
    spec = find_spec(package)
    assert spec is not None
    assert spec.origin is not None
    for path in sorted(Path(spec.origin).parent.rglob("*.py")):
        if "tests" in path.parts:
            continue
        for node in ast.walk(ast.parse(path.read_text(errors="replace"))):
            if isinstance(node, ast.FunctionDef | ast.ClassDef | ast.Module):
                text = ast.get_docstring(node)
                if text and len(text.split()) >= 50:
                    found.add(text)
    return found


def docstrings() -> list[str]:
    """The different docstrings of at least fifty words in all packages."""
    return sorted(set().union(*map(docstrings_of, PACKAGES)))


def rows() -> tuple[dict[str, Any], str]:
    """Word counts and their weights by rarity, of unit rows; and what they are made of."""
    texts = docstrings()
    chosen = np.random.default_rng(0).permutation(len(texts))[:N_ROWS]
    counts = CountVectorizer(min_df=2).fit_transform(texts)[chosen].astype(np.float64)
    made = {
        "counts": sp.csr_array(normalize(counts)),
        "tf-idf": sp.csr_array(TfidfTransformer().fit_transform(counts)),
    }
    about = (
        f"{N_ROWS:,} of {len(texts):,} docstrings of {', '.join(PACKAGES)} as they are installed, "
        f"{counts.shape[1]:,} words that occur twice or more, {counts.nnz / N_ROWS:.0f} of them in "
        "a row"
    )
    return made, about


def line(label: str, kernel: Any, X: Any, K: np.ndarray, lam: float, width: int) -> tuple[str, ...]:
    """Errors and seconds of one map, means over the seeds."""
    found = []
    for seed in SEEDS:
        start = time.process_time()
        Z = MAPS[label](kernel, width, random_state=seed).fit_transform(X)
        seconds = time.process_time() - start
        error = np.linalg.norm(Z @ Z.T - K) / np.linalg.norm(K)
        found.append((error, exact_error(K, Z, lam), seconds))
    error, spectral, seconds = np.mean(found, axis=0)
    return label, f"{width:,}", f"{error:.3g}", f"{spectral:.3g}", f"{seconds:.2f}"


def main() -> None:
    """Measure and write the table."""
    warnings.simplefilter("ignore")
    made, about = rows()
    parts = [
        f"# Sketches of sparse text\n\n`python -m benchmarks.text`: {about}. Rows have norm one. "
        f"Kernel error ‖Z Zᵀ - K‖ / ‖K‖ (Frobenius); spectral error ε at the λ of the {RANK}th "
        "eigenvalue; fit and transform, seconds of one core's time. Means over "
        f"{len(SEEDS)} seeds."
    ]
    square = zonal.Polynomial(2, gamma=1.0, coef0=0.0)
    for name, kernel in (("counts", square), ("counts", zonal.Gaussian(1.0)), ("tf-idf", square)):
        X = made[name]
        K = np.asarray(kernel(X))
        values = np.linalg.eigvalsh(K)[::-1]
        lam = float(values[RANK - 1])
        for label in MAPS:  # compiles
            MAPS[label](kernel, 64, random_state=0).fit_transform(X[:200])
        lines = []
        for label in MAPS:
            for width in WIDTHS:
                if label == "Nyström" and width >= len(K):
                    continue  # all rows: exact
                lines.append(line(label, kernel, X, K, lam, width))
                print(name, kernel, *lines[-1], sep=" | ", flush=True)
        s_lam = float((values / (values + lam)).sum())
        header = ("map", "columns", "kernel error", "spectral error", "s")
        parts.append(f"## {name}, {kernel}: s_λ = {s_lam:.0f}\n\n{table(lines, header)}")
        RESULTS.write_text("\n\n".join(parts) + "\n")


if __name__ == "__main__":
    main()
