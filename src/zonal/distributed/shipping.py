"""Models on their way to workers: what a seed gives again is not sent."""

import io
import pickle
from typing import Any

from ..features import GegenbauerFeatures

__all__ = ["Shipped"]

# Tables that `_draw` makes of the seed.
DRAWN = ("directions_", "_groups")


class Shipped:
    """Holds a model or a function; directions are left out of its pickle and drawn anew.

    Attributes
    ----------
    value : object
    """

    def __init__(self, value: Any) -> None:
        self.value = value

    def __reduce__(self) -> tuple[Any, tuple[bytes]]:
        return _received, (_pickled(self.value),)


def _pickled(value: Any) -> bytes:
    import cloudpickle  # comes with Dask, and takes functions of the user's own

    class Pickler(cloudpickle.Pickler):
        def reducer_override(self, obj: Any) -> Any:
            if isinstance(obj, GegenbauerFeatures) and hasattr(obj, "_drawn_by"):
                rest = {name: part for name, part in vars(obj).items() if name not in DRAWN}
                return _redrawn, (type(obj), rest)
            return super().reducer_override(obj)

    buffer = io.BytesIO()
    Pickler(buffer, protocol=pickle.HIGHEST_PROTOCOL).dump(value)
    return buffer.getvalue()


def _received(content: bytes) -> Shipped:
    return Shipped(pickle.loads(content))


def _redrawn(kind: type[GegenbauerFeatures], state: dict[str, Any]) -> GegenbauerFeatures:
    features = kind.__new__(kind)
    features.__dict__.update(state)
    features._draw()
    return features
