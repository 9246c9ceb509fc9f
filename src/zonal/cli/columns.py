"""The columns of a table that options name, and their encoding."""

from typing import Any

from sklearn.pipeline import make_pipeline

from .._suggestions import near
from ..features import SphereEncoder, Standardizer, TableEncoder
from ..features.columns.sphere_encoder import DEGREES
from ..grid.plane import PlaneDecoder
from ..tables import Columns, LoadedRows, Table, load_rows
from ..tables.frames import FrameStream
from .console import Screen
from .errors import ADVICE, CommandError
from .looking import Kinds, look_at

__all__ = ["check_place", "encodable", "encoder", "picked"]


def picked(
    table: Table,
    *,
    lat: str | None = None,
    lon: str | None = None,
    crs: str | None = None,
    **options: Any,
) -> Columns:
    """Return the columns that options name; latitudes and longitudes are checked in every row.

    Parameters
    ----------
    table : Table
    lat, lon : str, optional
        The columns of latitude and longitude.
    crs : str, optional
        The projection of these columns, if they are on a plane.
    **options
        As `Columns.of` takes them.
    """
    angles = {
        name: (angle, *DEGREES[angle])
        for name, angle in ((lat, "latitude"), (lon, "longitude"))
        if name is not None and crs is None
    }
    found = Columns.of(table, limits=angles, advice=ADVICE, **options)
    check_place(found.inputs, lat, lon)
    return found


def check_place(inputs: list[str], lat: str | None, lon: str | None) -> None:
    """Raise an error unless latitude and longitude are both given or both left out."""
    if (lat is None) != (lon is None):
        raise CommandError("--lat and --lon go together: give both or neither.")
    for name in (lat, lon):
        if name is not None and name not in inputs:
            raise CommandError(
                f"{name!r} is not among the inputs {', '.join(map(repr, inputs))}."
                f"{near(name, inputs)}"
            )


def encoder(
    inputs: list[str],
    lat: str | None,
    lon: str | None,
    *,
    mixed: Kinds | None = None,
    automatic: bool = False,
    crs: str | None = None,
    height: bool = False,
) -> Any:
    """Return what makes rows of numbers of the columns: the `encoder` of a learner.

    Parameters
    ----------
    inputs : list of str
        The columns of X.
    lat, lon : str, optional
        Those of latitude and longitude, which become points of the sphere.
    mixed : Kinds, optional
        What is said of columns, for a table with words, dates or gaps. None: all are numbers.
    automatic : bool
        Whether the learner chooses its features, and scales numbers itself.
    crs : str, optional
        The projection of `lat` and `lon`, if they are on a plane.
    height : bool
        Whether the height of the ground becomes a column.
    """
    check_place(inputs, lat, lon)
    if height and (mixed is not None or lat is None):
        raise CommandError(
            "--height takes rows of numbers with a latitude and a longitude: name these columns "
            "with --lat and --lon, and leave out words and dates with --ignore, rows with gaps "
            "with --drop-missing."
        )
    if mixed is not None:
        table = TableEncoder(categorical=mixed.categorical, numeric=mixed.numeric)
        return table if lat is None else table.set_params(latitude=lat, longitude=lon)
    if lat is not None and lon is not None:
        places = inputs.index(lat), inputs.index(lon)
        sphere = SphereEncoder(*places, height=height)
        return sphere if crs is None else make_pipeline(PlaneDecoder(crs, *places), sphere)
    return Standardizer(keep=tuple(range(len(inputs))) if automatic else ())


def encodable(
    table: Table,
    screen: Screen,
    *,
    lat: str | None,
    lon: str | None,
    **options: Any,
) -> tuple[LoadedRows, Any]:
    """Read the columns that options name into memory, whatever they hold, and find their encoder.

    Parameters
    ----------
    table : Table
    screen : Screen
    lat, lon
        As `encoder` takes them.
    **options
        As `picked` takes them.

    Returns
    -------
    rows : LoadedRows
        Frames.
    encoder : transformer
        Not fitted.
    """
    columns = picked(table, lat=lat, lon=lon, **options)
    look = look_at(columns, Kinds(), screen, suggests=False)
    with screen.stage("Reading rows", table.n_rows) as advance:
        rows = load_rows(FrameStream(columns, look.survey), advance=advance)
    mixed = Kinds() if look.mixed else None
    return rows, encoder(columns.inputs, lat, lon, mixed=mixed)
