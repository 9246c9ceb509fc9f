"""``zonal size``: how many features are enough, and what a fit of many rows takes."""

import math
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from ...partitions.plan import Plan
from ...tables import open_table
from ...theory import recommend
from .. import options as opt
from ..columns import encodable
from ..console import Screen
from ..errors import CommandError
from ..models import kernel_named
from ..standard import spooled

__all__ = ["size"]


def size(
    data: Annotated[
        Path | None,
        typer.Argument(
            metavar="[DATA]",
            help="A table, as for zonal fit; left out with --rows.",
            show_default=False,
        ),
    ] = None,
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
    rows: Annotated[
        float | None,
        typer.Option(
            help="Say what a fit of so many rows with the local part takes, such as 1e9.",
            show_default=False,
        ),
    ] = None,
    columns: Annotated[int, typer.Option(help="Columns of these rows.", min=1)] = 3,
    workers: Annotated[int, typer.Option(help="Workers, of one core each.", min=1)] = 1,
    features: Annotated[
        int, typer.Option(help="Features beside the local part, which need all rows.", min=0)
    ] = 0,
    as_json: opt.Json = False,
) -> None:
    """Say how many features a kernel needs on a table: by theorem, and measured.

    The paper's theorem states one number; what is proved, enough for any data of that size, is
    another. Both are usually enormous; the measured ones are enough here, on a sample of rows.

    For example:

    - `zonal size heights.parquet --ignore height --lat lat --lon lon --lam 10 --eps 0.5`
    - `zonal size --rows 1e9 --workers 64`
    """
    screen = Screen(as_json)
    if rows is not None:
        _plan(data, rows, columns, workers, features, screen)
        return
    if data is None:
        raise CommandError("Give a table, or --rows, such as: zonal size --rows 1e9 --workers 64.")
    wanted = kernel_named(kernel, bandwidth)
    table = open_table(spooled(data))
    given, encoder = encodable(
        table, screen, lat=lat, lon=lon, inputs=inputs, ignore=ignore, drop_missing=drop_missing
    )
    X = encoder.fit_transform(given.X)
    ridge = len(X) / 1000 if lam is None else lam
    with screen.stage("Measuring"):
        found = recommend(wanted, X, lam=ridge, eps=eps, delta=delta, random_state=seed)
    if not as_json:
        print(found)
    screen.finish(
        {
            "data": data,
            "inputs": given.columns,
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


def _plan(
    data: Path | None, rows: float, columns: int, workers: int, features: int, screen: Screen
) -> None:
    """Print what a fit of many rows takes."""
    if data is not None:
        raise CommandError(f"--rows {rows:g} is for rows that are not there yet: leave out {data}.")
    if not (1 <= rows <= 1e15 and math.isfinite(rows)):
        raise CommandError(f"--rows {rows:g} must be a number from 1 to 1e15, such as 1e9.")
    plan = Plan(int(rows), columns, 1, features, workers)
    if not screen.as_json:
        print(plan)
    screen.finish(
        {
            "rows": plan.n_rows,
            "columns": columns,
            "workers": workers,
            "features": features,
            "stages": [stage._asdict() for stage in plan.stages()],
            "parts": plan.n_cells,
            "slices": plan.n_slices,
            "worker_bytes": plan.worker_bytes,
            "client_bytes": plan.client_bytes,
            "model_bytes": plan.model_bytes,
            "seconds": plan.seconds,
        }
    )
