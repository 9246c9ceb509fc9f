"""What comparisons share: cells that are run once and kept, scores, methods and pages.

A comparison is a file of results, `results/NAME.jsonl`, with a line for each cell: dataset, split,
method, scores, seconds, memory, the version of the library and the day, or the reason why there are
no scores. A cell that is there is not run again.
"""
