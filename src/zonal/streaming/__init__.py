"""Rows that do not fit into memory: files and iterators, block by block, with checkpoints."""

from .checkpoint import Checkpoint
from .files import Stream, stream
from .sampling import sample_of

__all__ = ["Checkpoint", "Stream", "sample_of", "stream"]
