"""The columns of a table that options name, and their encoding."""

from collections.abc import Callable
from typing import Any

from sklearn.pipeline import make_pipeline

from .._suggestions import near
from ..features import SphereEncoder, Standardizer, TableEncoder
from ..features.columns.sphere_encoder import DEGREES
from ..grid.plane import PlaneDecoder
from ..tables import Columns, LoadedRows, Table, load_rows
from .errors import ADVICE, CommandError
from .looking import Kinds

__all__ = ["check_place", "encoder", "loaded", "picked", "table_encoder"]


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
    automatic: bool = False,
    crs: str | None = None,
) -> Any:
    """Return what puts the columns on a common scale, or None where the learner does it.

    Parameters
    ----------
    inputs : list of str
        The columns of X.
    lat, lon : str, optional
        Those of latitude and longitude, which become points of the sphere.
    automatic : bool
        Whether the learner chooses its features, and scales the columns itself.
    crs : str, optional
        The projection of `lat` and `lon`, if they are on a plane.
    """
    check_place(inputs, lat, lon)
    if lat is not None and lon is not None:
        places = inputs.index(lat), inputs.index(lon)
        sphere = SphereEncoder(*places)
        return sphere if crs is None else make_pipeline(PlaneDecoder(crs, *places), sphere)
    return None if automatic else Standardizer()


def table_encoder(kinds: Kinds, lat: str | None, lon: str | None) -> TableEncoder:
    """Return the encoder of a table with words, dates or gaps."""
    encoder = TableEncoder(categorical=kinds.categorical, numeric=kinds.numeric)
    return encoder if lat is None else encoder.set_params(latitude=lat, longitude=lon)


def loaded(table: Table, advance: Callable[[int], None], **options: Any) -> LoadedRows:
    """Read the columns that options name into memory; see `picked`."""
    return load_rows(picked(table, **options), advance=advance)
