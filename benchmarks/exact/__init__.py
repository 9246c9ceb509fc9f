"""The exact solution beside its peers, and on all rows of real data."""
