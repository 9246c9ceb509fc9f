"""Which directions are best in which dimension: the table behind ``directions="auto"``.

Relative Frobenius error of Z Zᵀ against the kernel matrix, mean over seeds, D = 1,024, for points
on the sphere and for Gaussian points, whose norms differ. Run: python benchmarks/directions.py
"""

import warnings

import numpy as np

import zonal


def error(X: np.ndarray, kernel: object, directions: str, seed: int) -> float:
    features = zonal.GegenbauerFeatures(kernel, 1024, directions=directions, random_state=seed)
    Z = features.fit_transform(X)
    K = features.kernel_(X - features.center_)
    return float(np.linalg.norm(Z @ Z.T - K) / np.linalg.norm(K))


def main() -> None:
    schemes = ("iid", "orthogonal", "sobol", "fibonacci")
    print(f"{'d':>4} {'points':8} {'kernel':22}" + "".join(f"{s:>12}" for s in schemes))
    warnings.simplefilter("ignore", zonal.TruncationWarning)
    for dim in (2, 3, 4, 6, 9, 16, 30, 64, 128, 256, 784):
        gaussian = np.random.default_rng(dim).standard_normal((500, dim))
        sphere = gaussian / np.linalg.norm(gaussian, axis=1, keepdims=True)
        for name, X in (("sphere", sphere), ("gaussian", gaussian)):
            for kernel in (zonal.Gaussian("median"), zonal.ArcCosine(0), zonal.NTK(2)):
                row = ""
                for scheme in schemes:
                    if scheme == "fibonacci" and dim != 3:
                        row += f"{'':>12}"
                        continue
                    errors = [error(X, kernel, scheme, seed) for seed in range(5)]
                    row += f"{np.mean(errors):12.5f}"
                print(f"{dim:4} {name:8} {kernel!r:22}{row}", flush=True)


if __name__ == "__main__":
    main()
