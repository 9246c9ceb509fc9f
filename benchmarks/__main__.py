"""Run every benchmark and print its table."""

from . import features, learners

for benchmark in (features, learners):
    benchmark.main()
    print()
