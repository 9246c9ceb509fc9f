"""What to say where the best alpha is at an end of those that were tried."""

import warnings

__all__ = ["AlphaWarning", "warn_of_end"]


class AlphaWarning(UserWarning):
    """The best alpha is at an end of those that were tried, and the error still falls there."""


def warn_of_end(end: str | None, alpha: float, *, given: bool) -> None:
    """Warn where alphas beyond those that were tried may be better.

    Parameters
    ----------
    end : {"smallest", "largest"} or None
        The end at which the error still falls (`zonal.moments.held_out.falling_end`).
    alpha : float
        The alpha that was chosen.
    given : bool
        Whether the user gave the alphas. The largest of our own leaves next to nothing of the
        features, and is what pure noise asks for: of that there is nothing to say.
    """
    if end is None or (end == "largest" and not given):
        return
    if given:
        advice = f"Pass {'smaller' if end == 'smallest' else 'larger'} alphas as well."
    else:
        advice = (
            "The target needs eigenvalues of the kernel that double precision does not tell from "
            "rounding: a narrower kernel has larger ones."
        )
    warnings.warn(
        f"alpha={alpha:.3g} is the {end} that was tried, and the cross-validated error still falls "
        f"there. {advice}",
        AlphaWarning,
        stacklevel=2,
    )
