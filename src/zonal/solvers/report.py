"""What an exact solution took, beside what was expected."""

from dataclasses import dataclass

__all__ = ["SolverReport"]


@dataclass(frozen=True)
class SolverReport:
    """How conjugate gradients went.

    Attributes
    ----------
    converged : bool
        Whether every residual is below the tolerance.
    n_iterations : int
        Products with the kernel matrix in the iterations.
    predicted_iterations : int or None
        Chebyshev's bound from the spectrum that the preconditioner leaves, as three products show
        it; None where it was not looked at (few rows, centres). Conjugate gradients usually take
        fewer with Nyström features. Oblivious features may leave tiny eigenvalues that three
        products do not show, and take more.
    spectral_error : float or None
        The ε of the preconditioner's features at the smallest α.
    condition : float or None
        The condition number of the preconditioned matrix.
    residual : float
        The largest ‖b - A x‖ / ‖b‖ of a system, found in double precision.
    tol : float
        What was asked for.
    n_systems : int
        Systems that were solved together.
    rank : int
        Columns of the preconditioner's features.
    seconds : float
        Time of the whole solution, and of the preconditioner in it.
    preconditioner_seconds : float
    history : tuple of float
        The largest residual after each iteration, from recurrences.
    """

    converged: bool
    n_iterations: int
    predicted_iterations: int | None
    spectral_error: float | None
    condition: float | None
    residual: float
    tol: float
    n_systems: int
    rank: int
    seconds: float
    preconditioner_seconds: float
    history: tuple[float, ...]

    def __str__(self) -> str:
        state = "converged" if self.converged else "did NOT converge"
        lines = [
            f"{state}: residual {self.residual:.2g} (tol {self.tol:g}) after {self.n_iterations} "
            f"iterations on {self.n_systems} systems, {self.seconds:.1f} s",
            f"preconditioner of rank {self.rank}, {self.preconditioner_seconds:.1f} s",
        ]
        if self.predicted_iterations is not None:
            lines.append(
                f"predicted: {self.predicted_iterations} iterations (spectral error "
                f"{self.spectral_error:.2g}, condition number {self.condition:.3g})"
            )
        return "\n".join(lines)
