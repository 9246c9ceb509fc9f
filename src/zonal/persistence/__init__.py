"""Saving and loading models without pickle: nothing in a file can run code.

- `models`: `save` and `load`;
- `archive`: the bytes of a file, its checksum and its size;
- `types`: the closed list of types that a file may hold;
- `functions`: a user's own Python functions, which are not saved;
- `folders`: models that are folders, with files that are read lazily.
"""

from .functions import MissingFunction, user_functions
from .models import FORMAT, load, save

__all__ = ["FORMAT", "MissingFunction", "load", "save", "user_functions"]
