"""``zonal cluster``: groups of rows."""

from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from sklearn.pipeline import make_pipeline

from ...features import GegenbauerFeatures
from ...learners import KernelKMeans
from ...persistence import save
from ...tables import open_table
from .. import options as opt
from ..columns import encodable
from ..console import Screen
from ..models import feature_map, kinds_of, remember_table
from ..outputs import outputs
from ..standard import spooled
from ..writing import check_table_name, write_columns

__all__ = ["cluster"]


def cluster(
    data: opt.Data,
    clusters: Annotated[
        int, typer.Option("--clusters", "-k", min=1, help="The number of clusters.")
    ] = 8,
    out: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Where the clusters of the rows go: .parquet or .csv."),
    ] = None,
    model: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Where the model goes, for zonal predict on other rows."),
    ] = None,
    keep: opt.Keep = None,
    inputs: opt.Input = None,
    ignore: opt.Ignore = None,
    lat: opt.Lat = None,
    lon: opt.Lon = None,
    drop_missing: opt.DropMissing = False,
    features: opt.Features = "auto",
    kernel: opt.Kernel = "gaussian",
    bandwidth: opt.Bandwidth = "median",
    budget: opt.Budget = 256,
    seed: opt.Seed = 0,
    force: opt.Force = False,
    as_json: opt.Json = False,
) -> None:
    """Group the rows of a table by kernel k-means.

    The output has the column `cluster`, counted from 0, for every row of DATA.

    For example:

    - `zonal cluster houses.csv --ignore id -k 5 --out houses.parquet --keep id`
    """
    screen = Screen(as_json)
    chosen = feature_map(features, kernel, bandwidth, budget)
    if out is not None:
        check_table_name(out)
    with outputs(out, model, force=force) as (out_path, model_path):
        table = open_table(spooled(data))
        rows, encoder = encodable(
            table, screen, lat=lat, lon=lon, inputs=inputs, ignore=ignore, drop_missing=drop_missing
        )
        own = GegenbauerFeatures(n_components=budget) if features == "auto" else chosen
        learner = KernelKMeans(make_pipeline(encoder, own), clusters, random_state=seed)
        with screen.stage("Clustering"):
            learner.fit(rows.X)
        remember_table(learner, rows.columns, None)
        if out is not None:
            with screen.stage("Writing", table.n_rows) as advance:
                write_columns(
                    out_path,
                    table,
                    {name: name for name in rows.columns},
                    keep or [],
                    lambda X: {"cluster": learner.predict(X)},
                    advance,
                    kinds=kinds_of(learner),
                    drop_missing=drop_missing,
                )
        if model is not None:
            with screen.stage("Saving"):
                save(learner, model_path)
    sizes = np.bincount(learner.labels_, minlength=clusters)
    screen.table(
        f"{clusters} clusters of {len(rows.X):,} rows",
        ("cluster", "rows"),
        [(str(number), int(size)) for number, size in enumerate(sizes)],
    )
    screen.note(f"Mean squared kernel distance to the centres: {learner.objective_:.4g}")
    for what, path in (("Clusters", out), ("Model", model)):
        if path is not None:
            screen.note(f"{what}: {path}")
    screen.finish(
        {
            "data": data,
            "inputs": rows.columns,
            "rows": len(rows.X),
            "rows_dropped": rows.n_dropped,
            "sizes": sizes,
            "objective": learner.objective_,
            "rounds": learner.n_iter_,
            "out": out,
            "model": model,
        }
    )
