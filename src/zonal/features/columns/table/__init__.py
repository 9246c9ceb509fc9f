"""The parts of `TableEncoder`: reading cells, and one kind of column in each file."""
