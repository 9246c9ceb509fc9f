"""``zonal size``: how many features the theory recommends, and how many are enough."""

from dataclasses import asdict
from typing import Annotated

import typer

from ...tables import open_table
from ...theory import recommend
from .. import options as opt
from ..columns import encodable
from ..console import Screen
from ..models import kernel_named
from ..standard import spooled

__all__ = ["size"]


def size(
    data: opt.Data,
    lam: Annotated[
        float | None,
        typer.Option(
            help="The ridge λ (alpha of zonal fit); a thousandth of the rows if left out.",
            show_default=False,
        ),
    ] = None,
    eps: Annotated[
        float,
        typer.Option(help="ε: ZZᵀ + λI must lie between (K + λI)/(1 + ε) and (K + λI)/(1 - ε)."),
    ] = 0.5,
    delta: Annotated[float, typer.Option(help="δ: the probability that it does not.")] = 0.1,
    kernel: opt.Kernel = "gaussian",
    bandwidth: opt.Bandwidth = "median",
    inputs: opt.Input = None,
    ignore: opt.Ignore = None,
    lat: opt.Lat = None,
    lon: opt.Lon = None,
    drop_missing: opt.DropMissing = False,
    seed: opt.Seed = 0,
    as_json: opt.Json = False,
) -> None:
    """Say how many features a kernel needs on a table: by theorem, and measured.

    The paper's theorem states one number; what is proved, enough for any data of that size, is
    another. Both are usually enormous; the measured ones are enough here, on a sample of rows.

    For example:

    - `zonal size heights.parquet --ignore height --lat lat --lon lon --lam 10 --eps 0.5`
    """
    screen = Screen(as_json)
    wanted = kernel_named(kernel, bandwidth)
    table = open_table(spooled(data))
    rows, encoder = encodable(
        table, screen, lat=lat, lon=lon, inputs=inputs, ignore=ignore, drop_missing=drop_missing
    )
    X = encoder.fit_transform(rows.X)
    ridge = len(X) / 1000 if lam is None else lam
    with screen.stage("Measuring"):
        found = recommend(wanted, X, lam=ridge, eps=eps, delta=delta, random_state=seed)
    if not as_json:
        print(found)
    screen.finish(
        {
            "data": data,
            "inputs": rows.columns,
            "kernel": repr(found.kernel),
            "rows": found.n,
            "dimensions": found.dim,
            "radius": found.radius,
            "lam": found.lam,
            "eps": found.eps,
            "delta": found.delta,
            "statistical_dimension": float(found.statistical_dimension),
            "theorem": {
                "max_degree": found.max_degree,
                "n_radial": found.n_radial,
                "features": found.theorem_features,
                "proved": found.proved_features,
                "note": found.theorem_note,
            },
            "measured": [asdict(item) for item in found.measurements],
        }
    )
