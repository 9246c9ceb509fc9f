"""Run the benchmark of speed; `make bench` does."""

from .speed.__main__ import main

main()
