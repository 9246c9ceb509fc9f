"""Fields in space and time beside peers that have a fair chance: ten datasets, 14 splits.

`python -m benchmarks.fields` runs what is not known and writes results/fields.md.
"""
