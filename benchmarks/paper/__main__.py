"""Command line: python -m benchmarks.paper {figure1,table1,table2,table3,all} [--quick]."""

import argparse

from . import EXPERIMENTS, main

parser = argparse.ArgumentParser(prog="python -m benchmarks.paper", description=main.__doc__)
parser.add_argument("name", choices=[*EXPERIMENTS, "all"])
parser.add_argument("--quick", action="store_true", help="a minute instead of an hour")
parser.add_argument("--out", help="the folder of the results")
parser.add_argument("--methods", nargs="*", default=[], help="of a table, merged into its results")
parser.add_argument("--known", action="store_true", help="measure nothing: write what is known")
parser.add_argument("--missing", action="store_true", help="only what the results do not have")
arguments = parser.parse_args()
for path in main(
    arguments.name,
    arguments.quick,
    arguments.out,
    arguments.methods,
    not arguments.known,
    arguments.missing,
):
    if path.suffix == ".md":
        print(path.read_text())
