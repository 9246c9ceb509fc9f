"""Fields in space and time beside peers that have a fair chance: eleven datasets, 16 questions.

`python -m benchmarks.fields` runs what is not known and writes results/fields.md.
"""
