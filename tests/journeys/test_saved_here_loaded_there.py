"""Each learner is saved by one process and loaded by another, which has imported zonal alone."""

import pytest

ROWS = """
import numpy as np
import zonal

rng = np.random.default_rng(0)
X = rng.uniform(-2, 2, (320, 2))
y = np.sin(2 * X[:, 0]) + 0.5 * X[:, 1] + 0.1 * rng.standard_normal(320)
"""
SAVE = (
    ROWS
    + """
import pandas as pd

places = pd.DataFrame({"latitude": 40 * X[:, 0], "longitude": 80 * X[:, 1]})
table = places.assign(word=np.where(X[:, 0] > 0, "p", "q"), day=pd.Timestamp("2020-02-01"))
table.loc[::9, "latitude"] = np.nan
harmonic = zonal.HarmonicFeatures(zonal.Matern(1.5, 1.0), n_components=40)
quick = {"budget": 32, "random_state": 0}
gegenbauer = zonal.GegenbauerFeatures(zonal.Gaussian(1.0), 64, random_state=0)
models = {
    "chosen": (zonal.KernelRidge(**quick), X, y),
    "features": (zonal.KernelRidge(gegenbauer), X, y),
    "both": (zonal.KernelRidge(harmonic, local=zonal.NeighborKriging()), X, y),
    "blocks": (zonal.KernelRidge(cv=zonal.BlockKFold(3, size=30.0), **quick), places, y),
    "words": (zonal.KernelRidge(**quick), table, y),
    "classes": (zonal.KernelRidgeClassifier(**quick), table, np.where(y > 0, "up", "down")),
    "process": (zonal.GaussianProcess(**quick), X, y),
    "kriging": (zonal.NeighborKriging(random_state=0), X, y),
    "exact": (zonal.ExactKernelRidge(zonal.Gaussian(1.0), 0.1), X, y),
    "clusters": (zonal.KernelKMeans(n_clusters=3, **quick), X, None),
    "components": (zonal.KernelPCA(n_components=2, **quick), X, None),
    "correlated": (zonal.KernelCCA(n_components=1, **quick), X, X**2),
}
expected = {}
for name, (model, rows, target) in models.items():
    zonal.save(model.fit(rows, target), f"{name}.zonal")
    for method in ("predict", "transform", "predict_interval", "predict_proba"):
        if hasattr(model, method):
            found = np.array(getattr(model, method)(rows[:20]))
            expected[f"{name}.{method}"] = found.astype(str) if found.dtype == object else found
np.savez("expected.npz", X=X[:20], **expected)
places[:20].to_pickle("places.pkl")
table[:20].to_pickle("table.pkl")
"""
)
# In the order of the names: the first thing that this process does is to load a model.
LOAD = """
import zonal

for name in NAMES:
    zonal.load(f"{name}.zonal")

import numpy as np
import pandas as pd

known = np.load("expected.npz")
table, places = pd.read_pickle("table.pkl"), pd.read_pickle("places.pkl")
tried = 0
for name in NAMES:
    model = zonal.load(f"{name}.zonal")
    rows = {"words": table, "classes": table, "blocks": places}.get(name, known["X"])
    for key in known.files:
        if key.startswith(name + "."):
            found = np.array(getattr(model, key.split(".")[1])(rows))
            if found.dtype.kind in "OU":
                assert np.array_equal(found.astype(str), known[key]), key
            else:
                np.testing.assert_allclose(found, known[key], rtol=1e-9, atol=1e-12, err_msg=key)
            tried += 1
print(tried)
"""
NAMES = [
    "blocks", "both", "chosen", "classes", "clusters", "components", "correlated", "exact",
    "features", "kriging", "process", "words",
]  # fmt: skip


@pytest.mark.longest
def test_learners(walk):
    walk.fresh().python(SAVE)
    assert {path.stem for path in walk.folder.glob("*.zonal")} == set(NAMES)
    tried = walk.fresh().python(LOAD.replace("NAMES", repr(NAMES)))
    # Each has a method at least, regressions with a noise have two.
    assert int(tried) >= len(NAMES) + 7


@pytest.mark.slow
@pytest.mark.longest  # tests/persistence/test_fresh_process.py has all of them, of the sources
def test_maps_and_kernels(walk):
    walk.fresh().python(
        ROWS
        + """
kernel = 0.5 * zonal.Gaussian(1.0) + zonal.Matern(1.5, 0.7)
maps = {
    "harmonic": zonal.HarmonicFeatures(kernel, n_components=30),
    "gegenbauer": zonal.GegenbauerFeatures(zonal.Gaussian(1.0), 30, random_state=0),
    "nystroem": zonal.NystroemFeatures(kernel, 30, random_state=0),
    "fourier": zonal.FourierFeatures(zonal.Gaussian(1.0), 30, random_state=0),
    "fastfood": zonal.FastFoodFeatures(zonal.Gaussian(1.0), 30, random_state=0),
    "polysketch": zonal.PolySketchFeatures(zonal.Gaussian(1.0), 30, random_state=0),
}
zonal.save(kernel, "kernel.zonal")
for name, features in maps.items():
    zonal.save(features.fit(X), f"{name}.zonal")
    np.save(f"{name}.npy", features.transform(X[:20]))
np.save("X.npy", X[:20])
"""
    )
    walk.fresh().python(
        """
import glob
import numpy as np
import zonal

X = np.load("X.npy")
print(zonal.load("kernel.zonal")(X))
names = sorted(name[:-6] for name in glob.glob("*.zonal"))
names.remove("kernel")
assert len(names) == 6
for name in names:
    found = zonal.load(f"{name}.zonal").transform(X)
    np.testing.assert_allclose(found, np.load(f"{name}.npy"), atol=1e-12)
"""
    )
