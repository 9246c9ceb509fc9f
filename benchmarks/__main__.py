"""Run every benchmark and print its table."""

from . import baselines, features, learners

for benchmark in (features, learners, baselines):
    benchmark.main()
    print()
