"""Memory, time and the range of numbers: they do not change what a fit finds."""

__all__ = ["BLOCK_ROWS", "EIGENVECTORS", "FEW_CLASSES", "HELD_BYTES", "LARGEST"]

#: Features of more than this many bytes are not held at once: every round computes them again.
HELD_BYTES = 1 << 29
#: Rows of a block: features of these are held at once.
BLOCK_ROWS = 1 << 14
#: How long a few eigenvectors take, in whole eigendecompositions.
EIGENVECTORS = 0.25
#: With more classes a calibration takes much memory, and waits for the first probabilities.
FEW_CLASSES = 50
#: Squares of larger targets, and sums of 1e8 of these, are beyond the range of numbers.
LARGEST = 1e150
