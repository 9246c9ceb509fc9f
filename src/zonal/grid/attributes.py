"""CF attributes of what is predicted on a grid."""

import datetime
from typing import Any

from .._version import __version__

__all__ = ["describe", "describe_axis", "with_own_name"]

# Attributes that describe the values as they were packed in a file, or their history.
OF_THE_FILE = {
    "_FillValue", "missing_value", "scale_factor", "add_offset", "valid_min", "valid_max",
    "valid_range", "actual_range", "history", "cell_methods", "ancillary_variables", "flag_values",
    "flag_meanings", "STATISTICS_MAXIMUM", "STATISTICS_MEAN", "STATISTICS_MINIMUM",
    "STATISTICS_STDDEV",
}  # fmt: skip


def describe(result: Any, name: str, attrs: dict[str, Any], coverage: float, what: str) -> Any:
    """Give a Dataset of predictions its CF attributes.

    Parameters
    ----------
    result : xarray.Dataset
        With some of the variables prediction, std, lower and upper.
    name : str
        The name of the variable that is predicted.
    attrs : dict
        Its attributes.
    coverage : float
        The probability of the interval.
    what : str
        What was done, for the history.
    """
    own = {key: value for key, value in attrs.items() if key not in OF_THE_FILE}
    title = str(own.pop("long_name", name))
    standard = own.pop("standard_name", None)
    units = {"units": own["units"]} if "units" in own else {}
    names = {
        "prediction": title,
        "std": f"standard deviation of {title}",
        "lower": f"lower end of the {coverage:.3g} prediction interval of {title}",
        "upper": f"upper end of the {coverage:.3g} prediction interval of {title}",
    }
    for key in result.data_vars:
        if str(key).startswith("probability_"):
            label = str(key).removeprefix("probability_")
            result[key].attrs = {"units": "1", "long_name": f"probability that {title} is {label}"}
            continue
        result[key].attrs = {**(own if key == "prediction" else units), "long_name": names[key]}
    if standard:
        result["prediction"].attrs["standard_name"] = standard
        if "std" in result:
            result["std"].attrs["standard_name"] = f"{standard} standard_error"
    others = " ".join(str(key) for key in result.data_vars if key != "prediction")
    if others:
        result["prediction"].attrs["ancillary_variables"] = others
    stamp = datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    older = result.attrs.get("history")
    line = f"{stamp} zonal {__version__}: {what}"
    result.attrs["history"] = f"{line}\n{older}" if older else line
    result.attrs["Conventions"] = "CF-1.11"
    return result


def with_own_name(result: Any, name: str) -> Any:
    """Return predictions under the variable's own name: sst, sst_std, sst_lower, sst_upper.

    Parameters
    ----------
    result : xarray.Dataset
        As `describe` leaves it.
    name : str
        The variable that was predicted.
    """
    names = {
        key: name if key == "prediction" else f"{name}_{key}" for key in map(str, result.data_vars)
    }
    clash = sorted(set(names.values()) & set(map(str, result.coords)))
    if clash:
        raise ValueError(
            f"The name {clash[0]!r} is that of a coordinate: leave keep_name out, and the "
            "variables are called prediction, std, lower and upper."
        )
    renamed = result.rename(names)
    others = [new for new in names.values() if new != name]
    if others:
        renamed[name].attrs["ancillary_variables"] = " ".join(others)
    return renamed


def describe_axis(axis: str) -> dict[str, str]:
    """Return the CF attributes of a latitude or longitude in degrees."""
    way = {"latitude": ("degrees_north", "Y"), "longitude": ("degrees_east", "X")}[axis]
    return {"standard_name": axis, "long_name": axis, "units": way[0], "axis": way[1]}
