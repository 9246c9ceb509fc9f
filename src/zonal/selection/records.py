"""The table of what a choice has tried."""

import math
from collections.abc import Sequence
from typing import Any

from ..model.start import Start

__all__ = ["Log", "weighed_records"]


class Log:
    """Lines of a table, one for each trial.

    Parameters
    ----------
    verbose : bool
        Whether each line is printed.

    Attributes
    ----------
    lines : list of dict
    """

    def __init__(self, verbose: bool = False) -> None:
        self.verbose, self.lines = verbose, list[dict[str, Any]]()

    def add(
        self,
        round_: int,
        candidate: str,
        *,
        rows: int = 0,
        columns: int = 0,
        loss: float = math.nan,
        seconds: float = 0.0,
        kernel: str = "none",
        width: float | None = None,
        rest_width: float | None = None,
        metric: bool = False,
        local: str = "none",
    ) -> dict[str, Any]:
        """Add the line of one trial, and return it.

        Parameters
        ----------
        round_ : int
            1 to 4: features on the pilot; 5: all candidates, on rows held out of all rows; 6: what
            there was no time for.
        candidate : str
            The feature map, or what stands in its place.
        rows, columns : int
            Rows and features of the trial.
        loss : float
            The squared error on held-out rows, over that of the mean.
        seconds : float
        kernel, width, rest_width, metric
            Of the features: family, length scale in median distances (beside a sphere: that of the
            other columns), and whether they are in a learned metric.
        local : str
            The local part.
        """
        line = {
            "round": round_,
            "features": candidate,
            "kernel": kernel,
            "width": width,
            "rest_width": rest_width,
            "metric": metric,
            "local": local,
            "rows": rows,
            "columns": columns,
            "error": loss,
            "error_near": math.nan,
            "error_between": math.nan,
            "error_far": math.nan,
            "seconds": seconds,
            "weight": 0.0,
            "weight_near": 0.0,
            "weight_far": 0.0,
            "chosen": False,
        }
        self.lines.append(line)
        if self.verbose:
            name = f"{kernel} {width:.3g}, {candidate}" if width else f"{candidate}, local {local}"
            where = ", learned metric" if metric else ""
            print(f"round {round_}: {name}{where}: error {loss:.4g}, {seconds:.2f} s")
        return line

    def judged(self, line: dict[str, Any], errors: Sequence[float]) -> None:
        """Add to a line what the candidate errs near the rows, in holes, and between.

        Parameters
        ----------
        line : dict
        errors : sequence of float
            Squared errors over those of the mean, from near to far.
        """
        names = ("error_near", "error_between", "error_far")
        line.update(zip(names, map(float, errors), strict=False))
        if self.verbose:
            print(f"{line['features']} at distances: " + ", ".join(f"{e:.4g}" for e in errors))

    @staticmethod
    def choose(line: dict[str, Any], weight: float, near: float, far: float) -> None:
        """Say in a line that its candidate is left, and how much it counts.

        Parameters
        ----------
        line : dict
        weight, near, far : float
            In the mean over distances, near the rows and far from them.
        """
        line.update(chosen=True, weight=weight, weight_near=near, weight_far=far)

    def line_of(self, candidate: str, words: dict[str, Any]) -> dict[str, Any]:
        """Return the last line of a feature map and its kernel."""
        same = {"features": candidate, **words}
        return next(line for line in reversed(self.lines) if same.items() <= line.items())

    def left_out(self, what: list[str]) -> None:
        """Add a line for each thing that there was no time for, once."""
        for name in dict.fromkeys(what):
            self.add(6, f"no time for {name}")


def weighed_records(
    records: Sequence[dict[str, Any]],
    starts: Sequence[Start],
    weights: Sequence[float],
    errors: Sequence[float] | None = None,
) -> tuple[dict[str, Any], ...]:
    """Return the lines of a choice with what fits to all rows have told of its candidates.

    Parameters
    ----------
    records : sequence of dict
        In which candidates are chosen, those of a kind (features, neighbours) in their order.
    starts : sequence of Start
        All that were fitted; one that has no line gets one.
    weights : sequence of float
        Theirs.
    errors : sequence of float, optional
        Theirs; by default those of the lines.
    """
    log = Log()
    log.lines = [{**line, "chosen": False} for line in records]
    chosen = [place for place, line in enumerate(records) if line["chosen"]]
    for line in log.lines:
        line.update(weight=0.0, weight_near=0.0, weight_far=0.0)
    for number, (start, weight) in enumerate(zip(starts, weights, strict=True)):
        alone = start.recipe.local is None
        same = [place for place in chosen if (records[place]["local"] == "none") == alone]
        if same:
            chosen.remove(same[0])
            line = log.lines[same[0]]
        else:
            line = log.add(5, "landmarks", columns=start.n_columns)
        if errors is not None:
            line["error"] = errors[number]
        if weight:
            log.choose(line, weight, weight, weight)
    return tuple(log.lines)
