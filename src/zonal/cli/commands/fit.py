"""``zonal fit``: a model and a report from a table."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from ...evaluation import Split
from ...grid.files import is_grid_file
from ...learners import KernelGLM, KernelRidge, KernelRidgeClassifier
from ...persistence import save
from ...tables import Columns
from ...tables.frames import FrameStream
from .. import options as opt
from ..columns import encoder, picked
from ..console import Screen
from ..errors import CommandError
from ..grids import check_numbers_only, open_rows, whereabouts
from ..looking import Kinds, are_places_and_dates, look_at
from ..models import LocalPart, feature_map, number_or
from ..noise import NoiseKind
from ..outputs import check_outputs, outputs
from ..processes import Engine, check_engine, check_numbers, rows_of
from ..queries import read_queries
from ..report.fit_page import draw_fit, show_fit
from ..responses import response_of
from ..standard import spooled
from ..training import judge_model, train
from ..validation import Validation, parse_cv, validation_of

__all__ = ["fit"]


def fit(
    data: opt.TableOrGrid,
    target: Annotated[
        str,
        typer.Option(metavar="COL", help="The column to predict.", rich_help_panel=opt.TABLE),
    ],
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Where the model goes, by habit model.zonal.",
            rich_help_panel=opt.OUTPUTS,
        ),
    ] = None,
    report: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Where the HTML report goes.", rich_help_panel=opt.OUTPUTS
        ),
    ] = None,
    classify: Annotated[
        bool,
        typer.Option(
            "--classify", help="The target is a class, not a number.", rich_help_panel=opt.TABLE
        ),
    ] = False,
    balanced: Annotated[
        bool,
        typer.Option(
            "--balanced",
            help="Weigh classes so that all count alike (class_weight='balanced').",
            rich_help_panel=opt.TABLE,
        ),
    ] = False,
    inputs: opt.Input = None,
    ignore: opt.Ignore = None,
    categorical: opt.Categorical = None,
    numeric: opt.Numeric = None,
    lat: opt.Lat = None,
    lon: opt.Lon = None,
    crs: opt.Crs = None,
    height: opt.Height = False,
    time: opt.Time = "auto",
    group: Annotated[
        str | None,
        typer.Option(
            metavar="COL",
            help="A column of groups, such as stations: the model is chosen and judged on whole "
            "groups. It is no input.",
            rich_help_panel=opt.TABLE,
            show_default=False,
        ),
    ] = None,
    noise_column: Annotated[
        str | None,
        typer.Option(
            metavar="COL",
            help="A column with the error of each row's target, in its units (see --noise-kind). "
            "It is no input.",
            rich_help_panel=opt.TABLE,
            show_default=False,
        ),
    ] = None,
    noise_kind: Annotated[
        NoiseKind,
        typer.Option(
            help="What --noise-column holds: standard deviations, or variances.",
            rich_help_panel=opt.TABLE,
        ),
    ] = NoiseKind.STD,
    exposure: opt.Exposure = None,
    offset: opt.Offset = None,
    trials: opt.Trials = None,
    queries: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="A table of rows that will be asked, with the columns of the inputs: intervals "
            "are made for as far from DATA as these are.",
            rich_help_panel=opt.TABLE,
            show_default=False,
        ),
    ] = None,
    drop_missing: opt.DropMissing = False,
    likelihood: opt.Likelihood = None,
    features: opt.Features = "auto",
    kernel: opt.Kernel = "gaussian",
    bandwidth: opt.Bandwidth = "median",
    budget: opt.Budget = 1024,
    alpha: opt.Alpha = "cv",
    local: opt.Local = LocalPart.AUTO,
    test_fraction: Annotated[
        float,
        typer.Option(
            min=0.0, max=0.9, help="The share of rows kept for the test.", rich_help_panel=opt.RUN
        ),
    ] = 0.1,
    cv: opt.Cv = None,
    time_limit: opt.TimeLimit = None,
    seed: opt.Seed = 0,
    force: opt.Force = False,
    as_json: opt.Json = False,
    engine: Annotated[
        Engine,
        typer.Option(
            help="Who reads and sums the rows: this process, or the processes of a Dask cluster.",
            rich_help_panel=opt.ENGINE,
        ),
    ] = Engine.LOCAL,
    scheduler: Annotated[
        str | None,
        typer.Option(
            metavar="ADDRESS",
            help="The Dask scheduler, such as tcp://10.0.0.1:8786. Its workers must reach DATA "
            "under the same path. Without it, a cluster on this machine is started and ended.",
            rich_help_panel=opt.ENGINE,
            show_default=False,
        ),
    ] = None,
    workers: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Processes of the cluster on this machine; as many as cores if left out.",
            rich_help_panel=opt.ENGINE,
            show_default=False,
        ),
    ] = None,
) -> None:
    """Fit a kernel model to a table; save it and a report.

    Columns may be numbers, words or dates, with gaps; what was done with each is shown. They are
    put on a common scale, the regularisation is chosen by cross-validation, and the model is
    judged on rows that it has not seen. Rows without a target are left out. DATA is read block by
    block, several times, and may be larger than memory (but for NPZ). The result depends neither
    on blocks nor on workers, up to rounding.

    For example:

    - `zonal fit houses.csv --target price --out houses.zonal --report houses.html`

    - `zonal fit heights.parquet --target height --lat lat --lon lon --out heights.zonal`

    - `zonal fit sst.nc --target sst --cv block:10deg --out sst.zonal --report sst.html`

    - `zonal fit parts/ --target y --engine dask --workers 8 --out model.zonal`

    - `zonal fit birds.csv --target seen --likelihood poisson --exposure days --out birds.zonal`
    """
    screen = Screen(as_json)
    chosen = feature_map(features, kernel, bandwidth, budget)
    regularisation = number_or("--alpha", alpha, "cv")
    if out is None and report is None:
        screen.note(
            "Neither --out nor --report is given: the result is shown, and nothing is kept."
        )
    check_engine(engine, scheduler, workers)
    if balanced and not classify:
        raise CommandError("--balanced is for classes: add --classify.")
    if engine is Engine.DASK and (categorical or numeric or noise_column):
        raise CommandError("--categorical, --numeric and --noise-column are for --engine local.")
    named = time not in ("auto", "none")
    if named and (engine is Engine.DASK or classify or features != "auto"):
        raise CommandError(
            f"--time {time} is for --engine local, --features auto and targets that are numbers: "
            "leave it out."
        )
    if classify and noise_column:
        raise CommandError("--noise-column is for targets that are numbers: leave it out.")
    response = response_of(likelihood, exposure, offset, trials)
    if response is not None:
        _check_alone(classify, noise_column, cv, group, engine, queries, named)
    beside = noise_column or (response.column if response else None)  # it is no input
    others = [*(inputs or []), *([beside] if beside else [])]
    if queries and (classify or engine is Engine.DASK):
        raise CommandError("--queries is for targets that are numbers and --engine local.")
    check_outputs(out, report, force=force)
    data = spooled(data)
    shown = screen if engine is Engine.LOCAL else None
    wanted = others if is_grid_file(data) else inputs
    left = [*(ignore or []), *([beside] if beside else [])]
    table, place = open_rows(data, target, wanted, lat, lon, crs, shown, left)
    columns = picked(
        table,
        inputs=place.inputs,
        ignore=[*(ignore or []), *([group] if group else [])],
        target=target,
        weight=beside,
        labels=classify,
        drop_missing=drop_missing,
        lat=place.lat,
        lon=place.lon,
        crs=place.crs,
    )
    validation = validation_of(parse_cv(cv), group, table, columns.inputs, place)
    kinds, mixed = Kinds(tuple(categorical or ()), tuple(numeric or ())), None
    given: Columns | FrameStream = columns
    asked = None
    if engine is Engine.LOCAL:
        look = look_at(columns, kinds, screen, place.crs is None, suggests=response is None)
        given = FrameStream(columns, look.survey, kinds.categorical)
        if queries is not None:
            asked = read_queries(queries, columns, look.survey, kinds)
        if look.mixed:
            check_numbers_only(place)
            mixed = kinds
    else:
        check_numbers(columns)
        validation = validation.without_rows()
    how: dict[str, Any] = {
        "features": chosen,
        "alpha": regularisation,
        "local": None if local is LocalPart.NONE else "auto",
        "encoder": encoder(
            columns.inputs,
            place.lat,
            place.lon,
            mixed=mixed,
            automatic=features == "auto",
            crs=place.crs,
            height=height,
        ),
        "budget": budget,
        "time_limit": time_limit,
        "random_state": seed,
    }
    learner: Any
    if response is None:
        learner = (KernelRidgeClassifier if classify else KernelRidge)(**how)
    else:
        given_alpha = "evidence" if regularisation == "cv" else regularisation
        learner = KernelGLM(response.likelihood, **{**how, "alpha": given_alpha})
        validation = Validation()
    if balanced:
        learner.set_params(class_weight="balanced")
    if response is None and not classify:
        learner.set_params(time=_column_of_times(time, columns.inputs))
        # Of places and dates and nothing else, which its names tell, a model of space and time.
        if mixed == Kinds() and features == "auto" and are_places_and_dates(columns.inputs, look):
            learner.set_params(encoder="auto")
    where = None if place.crs else place.columns(columns.inputs)
    split = Split(test_fraction, seed)
    noise = noise_kind if noise_column else None
    with rows_of(given, split, scheduler, workers, screen, noise, response) as rows:
        region, places = whereabouts(rows, place, columns.inputs)
        validation = validation.sized(region)
        known = {} if region is None else {"extent": region, "places": places}
        notes = place.notes() | known | (response.notes if response else {})
        # The model is in its place before it is judged: whatever happens then, it is not lost.
        with outputs(out, force=force) as (model_path,):
            trained = train(
                learner, rows, screen, validation, target=target, notes=notes, queries=asked
            )
            if out is not None:
                with screen.stage("Saving"):
                    save(learner, model_path)
        with _telling(out, screen), outputs(report, force=force) as (report_path,):
            result, sample = judge_model(learner, rows, trained, screen, validation, where=where)
            result = {"data": str(data), **result}
            if response is None and engine is Engine.LOCAL and not classify:
                result["suggestions"] = look.suggestions
            if report is not None:
                with screen.stage("Drawing"):
                    draw_fit(learner, result, sample, screen).write(report_path)
    show_fit(screen, result)
    for what, path in (("Model", out), ("Report", report)):
        if path is not None:
            screen.note(f"{what}: {path}")
    screen.finish({**result, "model": out, "report": report})


def _check_alone(
    classify: bool,
    noise_column: str | None,
    cv: str | None,
    group: str | None,
    engine: Engine,
    queries: Path | None,
    time: bool,
) -> None:
    """Raise an error for options that do not go with a likelihood."""
    for name, value in (
        ("--classify", classify),
        ("--noise-column", noise_column),
        ("--cv", cv),
        ("--group", group),
        ("--engine dask", engine is Engine.DASK),
        ("--queries", queries),
        ("--time", time),
    ):
        if value:
            raise CommandError(
                f"{name} does not go with --likelihood, which finds the noise and the "
                "regularisation by evidence, in this process: leave one of them out."
            )


def _column_of_times(name: str, inputs: list[str]) -> str | None:
    if name == "none":
        return None
    if name != "auto" and name not in inputs:
        raise CommandError(
            f"--time {name!r} is no input column: use one of {', '.join(inputs)}, auto or none."
        )
    return name


@contextmanager
def _telling(model: Path | None, screen: Screen) -> Iterator[None]:
    """Say that a model is saved, if judging it fails or is interrupted."""
    try:
        yield
    except BaseException:
        if model is not None:
            screen.note(f"Model: {model}. It is whole, but was not judged to the end.")
        raise
