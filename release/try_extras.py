"""Install the wheel into fresh environments, without extras and with each, and use it.

Run: python release/try_extras.py dist [extra ...]; without names, all of them, and none.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

BASE = """
import numpy as np, zonal
X = np.random.default_rng(0).uniform(-2, 2, (400, 2))
y = np.sin(X[:, 0]) * X[:, 1]
model = zonal.KernelRidge(budget=64, random_state=0).fit(X, y)
assert model.score(X, y) > 0.9, model.score(X, y)
"""
# What each extra is for; `none` must say what to install.
CHECKS = {
    "none": BASE
    + """
import subprocess, sys
calls = [lambda: zonal.save(model, "m.zonal"), lambda: zonal.predict_grid(model, resolution=30)]
for call in calls:
    try:
        call()
    except ImportError as error:
        assert "pip install" in str(error), error
    else:
        raise AssertionError("an extra is here that was not asked for")
zonal.KernelRidge(budget=16, verbose=True, random_state=0).fit(X[:100], y[:100])
done = subprocess.run([sys.executable, "-c", "from zonal_command import main; main()"],
                      capture_output=True, text=True)
assert done.returncode and "zonal[cli]" in done.stderr, done.stderr
""",
    "plot": BASE + "import matplotlib\n",
    "progress": BASE + "zonal.KernelRidge(verbose=True, alpha=1.0).fit(X[:100], y[:100])\n",
    "save": BASE
    + "zonal.save(model, 'm.zonal'); again = zonal.load('m.zonal')\n"
    + "assert np.array_equal(again.predict(X), model.predict(X))\n",
    "frames": BASE
    + "import pandas as pd, polars as pl\n"
    + "for frame in (pd.DataFrame(X, columns=['a', 'b']), pl.DataFrame(X, schema=['a', 'b'])):\n"
    + "    zonal.KernelRidge(budget=32, local=None, random_state=0).fit(frame, y).predict(frame)\n",
    "stream": BASE
    + "import pyarrow as pa, pyarrow.parquet as pq\n"
    + "pq.write_table(pa.table({'a': X[:, 0], 'b': X[:, 1], 'y': y}), 't.parquet')\n"
    + "zonal.KernelRidge(budget=32, random_state=0).fit(zonal.stream('t.parquet', target='y'))\n",
    "dask": BASE
    + "import dask.array as da\n"
    + "chunks = (100, 2)\n"
    + "model = zonal.KernelRidge(budget=32, local=None, random_state=0)\n"
    + "model.fit(da.from_array(X, chunks), da.from_array(y, 100))\n",
    "geo": BASE
    + "import xarray as xr\n"
    + "lat, lon = np.arange(-85, 86, 10.0), np.arange(-175, 180, 10.0)\n"
    + "field = np.cos(np.radians(lat))[:, None] * np.sin(np.radians(lon))\n"
    + "field[3:6, 4:9] = np.nan\n"
    + "grid = xr.DataArray(field, {'lat': lat, 'lon': lon}, ('lat', 'lon'), 'f')\n"
    + "filled = zonal.fill(grid)\n"
    + "assert not filled['prediction'].isnull().any()\n"
    + "zonal.grid.draw(filled)\n",
    "cli": BASE
    + "import subprocess, sys\n"
    + "np.savetxt('t.csv', np.column_stack([X, y]), delimiter=',', header='a,b,y', comments='')\n"
    + "start = [sys.executable, '-c', 'from zonal_command import main; main()']\n"
    + "words = ['fit', 't.csv', '--target', 'y', '--budget', '32', '--out', 'm.zonal']\n"
    + "subprocess.run([*start, *words, '--report', 'r.html'], check=True)\n"
    + "subprocess.run([*start, 'predict', 'm.zonal', 't.csv', '--out', 'p.csv'], check=True)\n",
}
# With all of them, all that each is for.
CHECKS["all"] = "\n".join(check for extra, check in CHECKS.items() if extra != "none")


def attempt(wheel: Path, extra: str) -> bool:
    """Install into a fresh environment, run the check there; tell whether it went well."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        python = Path(folder) / "bin" / "python"
        wanted = str(wheel) if extra == "none" else f"{wheel}[{extra}]"
        install = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", wanted]
        done = subprocess.run(install, capture_output=True, text=True)
        if done.returncode == 0:
            run = [python, "-c", CHECKS[extra]]
            done = subprocess.run(run, capture_output=True, text=True, cwd=folder)
    print(f"{extra}: {'well' if done.returncode == 0 else done.stderr[-2000:]}", flush=True)
    return done.returncode == 0


def main() -> int:
    (wheel,) = Path(sys.argv[1]).resolve().glob("*.whl")
    tried = [attempt(wheel, extra) for extra in sys.argv[2:] or CHECKS]
    return not all(tried)


if __name__ == "__main__":
    sys.exit(main())
