"""Models on their way to workers: what a seed gives again is not sent.

An object with the methods ``sent_state()`` and (of its class) ``receive_state(state)`` decides
itself what travels and how the rest comes back; everything else is pickled as usual.
"""

import io
import pickle
from typing import Any

__all__ = ["Shipped"]


class Shipped:
    """Holds a model or a function whose pickle leaves out what can be made anew.

    Attributes
    ----------
    value : object
    """

    def __init__(self, value: Any) -> None:
        self.value = value

    def __reduce__(self) -> tuple[Any, tuple[bytes]]:
        return _received, (pickled(self.value),)


def pickled(value: Any) -> bytes:
    """Pickle a value in the form in which it is sent."""
    import cloudpickle  # comes with Dask, and takes functions of the user's own

    class Pickler(cloudpickle.Pickler):
        def reducer_override(self, obj: Any) -> Any:
            if hasattr(type(obj), "sent_state"):
                return _rebuilt, (type(obj), obj.sent_state())
            return super().reducer_override(obj)

    buffer = io.BytesIO()
    Pickler(buffer, protocol=pickle.HIGHEST_PROTOCOL).dump(value)
    return buffer.getvalue()


def _received(content: bytes) -> Shipped:
    # Whoever can send this to a worker can run any code there anyway: so Dask is made.
    return Shipped(pickle.loads(content))  # noqa: S301


def _rebuilt(kind: Any, state: dict[str, Any]) -> Any:
    return kind.receive_state(state)
