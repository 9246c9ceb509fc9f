"""python -m benchmarks.gp_suite [kin40k ...] [--splits 3] [--only zonal]: results/gp_suite.md."""

import json

from ..suite.cells import RESULTS
from ..suite.command import main
from .agreement import likelihoods
from .cases import DATA
from .methods import METHODS
from .published import published

AGREED = RESULTS / "gp_suite_agreement.json"
TEXT = """# The Gaussian-process suite

`python -m benchmarks.gp_suite` (extra `bench`; GPyTorch's methods run where `GP_SUITE_TORCH` names
an interpreter that has it). Fixed splits of `uci_datasets`, 90 to 10 (of protein random ones),
columns and targets of mean 0 and standard deviation 1 in the training rows, nothing tuned by hand.
NLPD is the negative log predictive density of new observations: of a normal law for the peers, of
our calibrated quantiles with a constant density between them and exponential tails; *as normal*: of
the normal law with our mean and central 95 %, which is the fair column where targets have few
values (pol has eleven), since densities between quantiles have no bound there. *95 % hold* is the
share of test rows in the central 95 %. CPU seconds are of all threads, fit and predict; MB what a
method adds to its process. The best of a column is bold. A method that takes more than 15 minutes
of CPU is given up. The target of bike is the logarithm of a sum of two of its columns (the
casual and the registered riders), so that it can be known exactly. Many rows of keggdirected are
equal but for the target, and many of these targets are equal: what intervals hold jumps by such a
row and target, up to two per cent of all.

GPBoost: Matérn of ν = 1/2, 3/2 or 5/2 by its own likelihood on 3,000 rows, a scale for each column,
a linear trend, its own optimizer and number of neighbours (20) in training, 100 in predictions.
GPyTorch: Matérn 3/2 with a scale for each column; SGPR with 512 inducing points and 100 steps of
Adam (in double precision where its line says so: in single it failed on keggdirected), SVGP with
1,024 and 20 epochs, in single precision. scikit-learn: the exact process on 1,000 random rows.
CatBoost, which is no process: trees of a mean and a variance (`RMSEWithUncertainty`), up to 4,000,
which stop on a tenth of the training rows.
Every method has the same rows and threads, in a process of its own, one after the other.
CPU seconds are compared: those of the peers while others used the machine, which makes them about
half as many again, ours of the last day with nothing else at work.
"""


def about() -> str:
    """The first lines: all libraries have the same likelihood at fixed parameters."""
    if not AGREED.exists():
        AGREED.write_text(json.dumps(likelihoods(), indent=1) + "\n")
    found = json.loads(AGREED.read_text())
    shown = ", ".join(f"{name} {value:.8f}" for name, value in found.items())
    off = max(found.values()) - min(found.values())
    return (
        f"{TEXT}\nAt fixed parameters (300 rows of kin40k, Matérn 3/2, range 2.5, variance 0.8, "
        f"noise 0.1) the log likelihoods are: {shown}. They differ by {off:.1e}.\n\n{published()}\n"
        "## Standing by the negative log predictive density, all as normal laws\n"
    )


if __name__ == "__main__":
    main("gp_suite", "benchmarks.gp_suite.cases", DATA, METHODS, about, "nlpd_normal")
