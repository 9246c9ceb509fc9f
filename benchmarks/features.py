"""GegenbauerFeatures.transform: seconds beside RBFSampler, growth with n, peak memory.

float32, n = 64,800, d = 3, D = 1,024, degree 20. Run: python -m benchmarks.features
"""

import numpy as np
from sklearn.kernel_approximation import RBFSampler

import zonal

from .measure import peak_memory, seconds, table

N, DIM, WIDTH, DEGREE = 64_800, 3, 1024, 20


def main() -> None:
    X = np.random.default_rng(0).standard_normal((N, DIM)).astype(np.float32)
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    ours = zonal.GegenbauerFeatures(
        zonal.Gaussian(0.5), WIDTH, max_degree=DEGREE, random_state=0
    ).fit(X)
    peer = RBFSampler(gamma=2.0, n_components=WIDTH, random_state=0).fit(X)
    half, whole, rbf = seconds(
        lambda: ours.transform(X[: N // 2]), lambda: ours.transform(X), lambda: peer.transform(X)
    )
    output = N * WIDTH * 4
    extra = peak_memory(lambda: ours.transform(X)) - output
    many = zonal.GegenbauerFeatures(
        zonal.Gaussian(0.5), WIDTH, max_degree=DEGREE, n_radial=26, center=False, random_state=0
    ).fit(2 * np.random.default_rng(1).standard_normal((N, DIM)).astype(np.float32))
    extra_many = peak_memory(lambda: many.transform(X)) - output
    rows = [
        ("GegenbauerFeatures.transform", f"{whole:.3f} s", "", ""),
        ("RBFSampler.transform", f"{rbf:.3f} s", "", ""),
        verdict("ratio", whole / rbf, 1.0, ""),
        ("growth when n doubles", f"{whole / half:.2f}", "2", ""),
        verdict("peak memory beyond the output", extra / 1e6, 200, " MB"),
        verdict("the same with 26 radial functions", extra_many / 1e6, 200, " MB"),
    ]
    print(f"Features: float32, n = {N:,}, d = {DIM}, D = {WIDTH:,}, degree {DEGREE}, s = 1\n")
    print(table(rows, ("what", "measured", "goal", "met")))


def verdict(what: str, value: float, goal: float, unit: str) -> tuple[str, str, str, str]:
    return what, f"{value:.2f}{unit}", f"≤ {goal:g}{unit}", "yes" if value <= goal else "no"


if __name__ == "__main__":
    main()
