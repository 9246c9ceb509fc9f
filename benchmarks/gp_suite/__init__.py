"""The Gaussian-process community's own suite: six datasets on fixed splits, beside other libraries.

`python -m benchmarks.gp_suite` runs what is not known and writes results/gp_suite.md.
"""
