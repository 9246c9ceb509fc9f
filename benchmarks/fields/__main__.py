"""python -m benchmarks.fields ["elevation, random" ...] [--splits 3]: results/fields.md."""

from ..suite.command import main
from .cases import DATA, METHODS

TEXT = """# Fields beside fair peers

`python -m benchmarks.fields` (extra `bench`). A tenth of the places is the test, random ones or
those of whole blocks of 10°; of jason3 and argo a fifth of the days; of noaa_tmax (daily maxima of
137 stations in four years) a tenth of the days or stations, or the last 30 days; of the simulated
field (Heaton et al. 2018) and of the KAUST competition what these ask for. CRPS by 23 quantiles,
NLPD of new observations: of a normal law for the peers and for `NeighborKriging`, of calibrated
quantiles with exponential tails for `KernelRidge` (*as normal*: of the normal law with its mean and
central 95 %). *95 % hold* is the share of test rows in the central 95 %; the interval score is of
these. CPU seconds are of all threads, fit and predict; MB what a method adds to its process. The
best of a column is bold, whoever has it.

GPBoost has the points of the sphere, with one scale; the time, with another (`matern_space_time`);
a linear trend, and where the time has a period two harmonics of the season, whose coefficients are
linear in the place; the best ν of 1/2, 3/2 and 5/2 by its own likelihood on six neighbourhoods of
500 training rows, where its climb on all rows begins; its own optimizer and number of neighbours
(20) in training, 100 in predictions; with 30 in training it has a line of its own (but on
noaa_tmax). VIF is its full-scale Vecchia approximation with its own numbers of inducing points
(200) and neighbours (30). Ours is told whether random rows, blocks or the future will be asked for
(`cv`), and `NeighborKriging` that the last column is a time. Every method has the same rows, in a
process of its own, one after the other. CPU seconds are compared, and every method has one thread.
Ours, GPBoost with 20 neighbours (but on noaa_tmax) and VIF on COADS were measured with nothing else
at work; its other lines while others used the machine, which makes CPU seconds up to half as many
again. The time of noaa_tmax is named `day`, which it counts, so that `KernelRidge` knows of a year;
other times are named `time`. In our cells errors that tell how the noise varies are from 24 other
rows each, since then from 32 again (a CRPS .2 % smaller on validation rows of COADS). A method that
takes more than 15 minutes of CPU is given up. On climate_berkeley GPBoost's climbs end early, and ν
depends on where they begin: by the same rule its RMSE at random rows of 20° to 60° N and 60° to
130° W alone was 0.64, with ν = 3/2.

Published of the simulated field, RMSE in its holes (Heaton et al. 2018), as [a page that retells
their table](https://russellgoebel.com/posts/kriging-competition/) has it: SPDE 0.86, LatticeKrig
0.87, periodic embedding 0.91, gapfill 1.00, laGP 1.11. The lines of
their other methods could not be read and are not quoted; one of these is said to be the best.

## Standing by the CRPS
"""


def about() -> str:
    """The first lines."""
    return TEXT


if __name__ == "__main__":
    main("fields", "benchmarks.fields.cases", DATA, METHODS, about, "crps")
