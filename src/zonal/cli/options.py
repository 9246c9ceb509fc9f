"""Arguments and options that commands share."""

from pathlib import Path
from typing import Annotated

import typer

from ..kernels.names import KERNEL_NAMES
from .models import MAPS, LocalPart
from .responses import LikelihoodName

__all__ = [
    "Alpha",
    "Bandwidth",
    "Budget",
    "Categorical",
    "Coastlines",
    "Crs",
    "Cv",
    "Data",
    "DataOrGrid",
    "DropMissing",
    "Exposure",
    "Extent",
    "Features",
    "Force",
    "GridStep",
    "Ignore",
    "Input",
    "Interval",
    "Json",
    "Keep",
    "Kernel",
    "Lat",
    "Likelihood",
    "Local",
    "Lon",
    "MapRename",
    "MapTime",
    "MapValues",
    "MaxDistance",
    "Numeric",
    "Offset",
    "Seed",
    "TableOrGrid",
    "TimeLimit",
    "Trials",
    "Yes",
]

TABLE, MODEL, RUN = "The table", "The model", "The run"
OUTPUTS, ENGINE, MAP = "The outputs", "More than one process", "The map"

Data = Annotated[
    Path,
    typer.Argument(
        metavar="DATA",
        help="A table: CSV (.csv, .tsv, .csv.gz), Parquet (a file or a folder), Feather, NPZ "
        "or Zarr; - is standard input.",
        show_default=False,
    ),
]
TableOrGrid = Annotated[
    Path,
    typer.Argument(
        metavar="DATA",
        help="A table: CSV (.csv, .tsv, .csv.gz), Parquet (a file or a folder), Feather, NPZ "
        "or Zarr; - is standard input. Or a grid: NetCDF (.nc) or GeoTIFF (.tif), whose cells with "
        "a value are the rows.",
        show_default=False,
    ),
]
DataOrGrid = Annotated[
    Path | None,
    typer.Argument(
        metavar="[DATA]",
        help="A table: CSV, Parquet, Feather, NPZ or Zarr, - is standard input; or a NetCDF or "
        "GeoTIFF file whose grid, with the variables that the model was fitted to, is taken. None "
        "with --grid.",
        show_default=False,
    ),
]
Input = Annotated[
    list[str] | None,
    typer.Option(
        "--input",
        "-i",
        metavar="COL",
        help="A column to learn from; repeat it for more. All but the target if left out.",
        rich_help_panel=TABLE,
        show_default=False,
    ),
]
Ignore = Annotated[
    list[str] | None,
    typer.Option(
        metavar="COL",
        help="A column to leave out, such as an identifier; repeat it for more.",
        rich_help_panel=TABLE,
        show_default=False,
    ),
]
Categorical = Annotated[
    list[str] | None,
    typer.Option(
        metavar="COL",
        help="A column that is words, even if it looks like numbers; repeat it for more.",
        rich_help_panel=TABLE,
        show_default=False,
    ),
]
Numeric = Annotated[
    list[str] | None,
    typer.Option(
        metavar="COL",
        help="A column of numbers; what is none in it is missing. Repeat it for more.",
        rich_help_panel=TABLE,
        show_default=False,
    ),
]
Lat = Annotated[
    str | None,
    typer.Option(
        metavar="COL",
        help="The column of latitudes, in degrees: rows become points of the globe. One whose "
        "name says so is recognised; 'none': take it as any other number.",
        rich_help_panel=TABLE,
        show_default=False,
    ),
]
Lon = Annotated[
    str | None,
    typer.Option(
        metavar="COL",
        help="The column of longitudes.",
        rich_help_panel=TABLE,
        show_default=False,
    ),
]
DropMissing = Annotated[
    bool,
    typer.Option(
        "--drop-missing", help="Leave out rows with missing values.", rich_help_panel=TABLE
    ),
]
Keep = Annotated[
    list[str] | None,
    typer.Option(
        metavar="COL",
        help="A column of DATA to copy to the output; repeat it for more.",
        rich_help_panel=TABLE,
        show_default=False,
    ),
]
Features = Annotated[
    str,
    typer.Option(
        metavar="NAME", help=f"The feature map: auto, {', '.join(MAPS)}.", rich_help_panel=MODEL
    ),
]
Kernel = Annotated[
    str,
    typer.Option(
        metavar="NAME",
        help=f"The kernel of a map that you name: {', '.join(KERNEL_NAMES)}.",
        rich_help_panel=MODEL,
    ),
]
Bandwidth = Annotated[
    str,
    typer.Option(
        metavar="NUMBER",
        help="The bandwidth of that kernel on scaled columns, or 'median' for the median distance.",
        rich_help_panel=MODEL,
    ),
]
Budget = Annotated[
    int,
    typer.Option(min=1, help="The number of features (columns).", rich_help_panel=MODEL),
]
Alpha = Annotated[
    str,
    typer.Option(
        metavar="NUMBER",
        help="The regularisation, or 'cv' to choose it by cross-validation.",
        rich_help_panel=MODEL,
    ),
]
Likelihood = Annotated[
    LikelihoodName | None,
    typer.Option(
        help="What the target is, given the model: counts (poisson, negative_binomial), positive "
        "amounts (gamma), 0 or 1 (bernoulli), successes in --trials (binomial), numbers with "
        "outliers (student). Without it, a number by least squares.",
        rich_help_panel=MODEL,
        show_default=False,
    ),
]
Exposure = Annotated[
    str | None,
    typer.Option(
        metavar="COL",
        help="A column that counts or amounts are in proportion to, such as days. It is no input.",
        rich_help_panel=TABLE,
        show_default=False,
    ),
]
Offset = Annotated[
    str | None,
    typer.Option(
        metavar="COL",
        help="A column that is added to the latent function of --likelihood. It is no input.",
        rich_help_panel=TABLE,
        show_default=False,
    ),
]
Trials = Annotated[
    str | None,
    typer.Option(
        metavar="COL",
        help="A column of numbers of trials, for --likelihood binomial. It is no input.",
        rich_help_panel=TABLE,
        show_default=False,
    ),
]
Seed = Annotated[
    int,
    typer.Option(min=0, max=2**32 - 1, help="The seed of everything random.", rich_help_panel=RUN),
]
Force = Annotated[
    bool, typer.Option("--force", help="Replace outputs that exist.", rich_help_panel=RUN)
]
Json = Annotated[
    bool,
    typer.Option(
        "--json",
        help="Print the result as JSON on stdout; messages go to stderr.",
        rich_help_panel=RUN,
    ),
]
Local = Annotated[
    LocalPart,
    typer.Option(
        help="A local part, kriging on the nearest rows, where it helps (auto), or none.",
        rich_help_panel=MODEL,
    ),
]
Crs = Annotated[
    str | None,
    typer.Option(
        metavar="CODE",
        help="The map projection of --lat (northing) and --lon (easting), or of a grid, such as "
        "EPSG:32633.",
        rich_help_panel=TABLE,
        show_default=False,
    ),
]
Height = Annotated[
    bool,
    typer.Option(
        "--height",
        help="Give the model the height of the ground at each place of the Earth, from a map with "
        "cells of one degree that comes with zonal.",
        rich_help_panel=TABLE,
    ),
]
Time = Annotated[
    str,
    typer.Option(
        metavar="COL",
        help="The column of times, where all others are places: what changes, stays and comes back "
        "is then modelled. auto: a column of dates, or one named like a time; none: no column is.",
        rich_help_panel=TABLE,
    ),
]
Cv = Annotated[
    str | None,
    typer.Option(
        metavar="HOW",
        help="The rows that the model is chosen by: a number of random folds, or blocks on the "
        "globe and in time, for predictions far from the data: block:10deg, block:500km, "
        "block:10deg,year:2; blocks in any columns, in their units: block,x:5000,y:5000.",
        rich_help_panel=RUN,
        show_default=False,
    ),
]
Interval = Annotated[
    float,
    typer.Option(
        min=0.01,
        max=0.999,
        help="The probability of the interval from lower to upper.",
        rich_help_panel=OUTPUTS,
    ),
]
TimeLimit = Annotated[
    float | None,
    typer.Option(
        metavar="SECONDS",
        help="About how long choosing and fitting the model may take: the best found until then "
        "is kept, and the report tells what there was no time for. Predictions come on top.",
        rich_help_panel=RUN,
        show_default=False,
    ),
]
Coastlines = Annotated[
    bool,
    typer.Option(
        "--coastlines",
        help="Draw coasts into a picture (Natural Earth, 1:110 million).",
        rich_help_panel=MAP,
    ),
]
Yes = Annotated[
    bool,
    typer.Option(
        "--yes",
        help="Go on with a map that takes more than ten minutes or a gigabyte.",
        rich_help_panel=RUN,
    ),
]
GridStep = Annotated[
    float | None,
    typer.Option(
        metavar="STEP",
        help="Predict a map with a point every so many degrees, instead of DATA.",
        rich_help_panel=MAP,
        show_default=False,
    ),
]
MaxDistance = Annotated[
    float | None,
    typer.Option(
        metavar="KM",
        help="Leave cells empty that are farther from all data than so many kilometres.",
        rich_help_panel=MAP,
        show_default=False,
    ),
]
Extent = Annotated[
    str | None,
    typer.Option(
        "--extent",
        "--bounds",
        metavar="W,S,E,N",
        help="The region of the map in degrees, or globe; that of the model's data if left out.",
        rich_help_panel=MAP,
        show_default=False,
    ),
]
MapTime = Annotated[
    list[str] | None,
    typer.Option(
        metavar="WHEN",
        help="The time of the map, if the model has one: a date, or a number as in the table; "
        "repeat it for more.",
        rich_help_panel=MAP,
        show_default=False,
    ),
]
MapValues = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="COL=VALUE",
        help="A column of the model that has one value all over the map, such as kind=urban; "
        "repeat it for more.",
        rich_help_panel=MAP,
        show_default=False,
    ),
]
MapRename = Annotated[
    list[str] | None,
    typer.Option(
        metavar="VAR=COL",
        help="A variable of the grid under the name of the model's column, such as "
        "band_1=elevation; repeat it for more.",
        rich_help_panel=MAP,
        show_default=False,
    ),
]
