"""Run every benchmark and print its table."""

from . import features

for benchmark in (features,):
    benchmark.main()
    print()
