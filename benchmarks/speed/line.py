"""One line of the table: what was measured, beside what, and how far from the ideal."""

from dataclasses import dataclass

__all__ = ["HEADER", "Line"]

HEADER = ("what", "ours", "peer", "ratio", "goal", "met", "bound", "share of ideal")


@dataclass(frozen=True)
class Line:
    """A measured time, judged by its ratio to a peer's, or as it is where there is no peer.

    Attributes
    ----------
    what, peer : str
        What was timed, and beside what.
    ours, theirs : float
        Seconds; `theirs` is None where there is no peer.
    goal : float, optional
        The largest ratio (or number of seconds, without a peer) that meets the goal.
    ideal : float, optional
        Seconds that the hardware needs at least; `bound` says for what.
    rest : str
        Where the time beyond the ideal goes.
    """

    what: str
    peer: str
    ours: float
    theirs: float | None = None
    goal: float | None = None
    ideal: float | None = None
    bound: str = ""
    rest: str = ""

    @property
    def judged(self) -> float:
        """What the goal is about: the ratio, or the seconds."""
        return self.ours if self.theirs is None else self.ours / self.theirs

    @property
    def met(self) -> bool | None:
        return None if self.goal is None else self.judged <= self.goal

    def cells(self) -> tuple[str, ...]:
        """The cells below `HEADER`."""
        unit = " s" if self.theirs is None else ""
        return (
            self.what,
            f"{self.ours:.3f} s",
            f"{self.peer}, {self.theirs:.3f} s" if self.theirs is not None else self.peer,
            "" if self.theirs is None else f"{self.judged:.2f}",
            "" if self.goal is None else f"≤ {self.goal:g}{unit}",
            {None: "", True: "yes", False: "no"}[self.met],
            "" if self.ideal is None else f"{self.ideal:.3f} s, {self.bound}",
            "" if self.ideal is None else f"{self.ideal / self.ours:.0%}",
        )
