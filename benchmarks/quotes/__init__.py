"""The figures that README and docs quote, and where they come from.

`python -m benchmarks.quotes` compares every quoted figure with its source in `benchmarks/results`,
and fails where they differ or where a figure has no source; `--write` puts the new figures in.

A page says where a figure comes from in a comment, which readers of the page do not see:

- after a number, the way to a cell: `15<!-- scale.md > 10,000,000 > fit --> s`, a file, headings
  or cells of the row, and the column. The number is the cell's, rounded to the digits shown.
  `least of` and `most of` before the way allow for several cells, `a; b` in it for either, and two
  ways with ` ÷ ` between them are a ratio;
- around a table, `<!-- table: speed -->` to `<!-- end -->`: made by a function of `tables.py`;
- before a paragraph or table, `<!-- from which.md, ntk.md -->`: its numbers are in these files;
- before a paragraph or table, `<!-- given -->`: settings, counts and definitions, nothing measured.
"""
