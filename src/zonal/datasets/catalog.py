"""The datasets: what they are, where they come from, and the checksums of their files."""

from dataclasses import dataclass

__all__ = ["CATALOG", "Entry"]


@dataclass(frozen=True)
class Entry:
    """One dataset: a line of description, its source and the SHA-256 of its file."""

    description: str
    source: str
    sha256: str


CATALOG: dict[str, Entry] = {
    "elevation": Entry(
        "Earth elevation in metres on one-degree cells: 64,800 rows of latitude and longitude.",
        "NOAA-PMEL/FerretDatasets on GitHub, data/etopo60.cdf (cell means of ETOPO5)",
        "f3edb8b756444beac13628abdce118a98affe79f85bddda571613933a9adc36d",
    ),
    "climate": Entry(
        "Monthly mean temperature at 2 m in kelvin, 1979-2014 mean, land points: 228,420 rows of "
        "latitude, longitude and month.",
        "ERA-Interim through ITU-R P.1510-1, Python package itur 0.4.0",
        "1a9bbf8610c3a376f1558af7f79605dc595ae1c44b1f4f1f697022a1ed203800",
    ),
    "climate_berkeley": Entry(
        "Monthly mean land temperature of 2020 in °C, equal-area grid: 65,976 rows of latitude, "
        "longitude and month.",
        "Berkeley Earth, through jansim/where-to-go-when on GitHub",
        "0ff4c0ec39fb0cd975182dd87f39a863ab5be887034fbc3815c89a94668217e6",
    ),
    "gaps_simulated": Entry(
        "A simulated temperature field with holes in the shape of clouds, on a plane: 150,000 rows "
        "of latitude and longitude; ``test`` marks the 44,431 rows in the holes.",
        "finnlindgren/heatoncomparison on GitHub (Heaton et al. 2018, a case study competition "
        "among methods for analyzing large spatial data)",
        "48da0886941e634fac4a91301f737c718f934a05d800c1a4d24d1e88a0d45985",
    ),
    "co2": Entry(
        "Fossil-fuel CO2 emissions in Tg C per one-degree cell and year, 2002-2013: 153,648 rows "
        "of latitude, longitude and year.",
        "CDIAC ndp058.2016 (doi 10.3334/CDIAC/ffe.ndp058.2016), beefoo/coloring-book on GitHub",
        "32c90b5d0135d8a041e1f5f353b508b85742f4048ed61d88b29dd1821785c736",
    ),
    "co2_column": Entry(
        "CO2 column-mean molar fraction in ppm, months of 2020, land points: 113,388 rows of "
        "latitude, longitude and month.",
        "Copernicus Atmosphere Monitoring Service, philhawk-cyber/era5-cams-visuals on GitHub",
        "e1c2bdf4534de6c94bb16318888134464a42dd0f3c1e316761f1543d18ffd8b4",
    ),
    "protein": Entry(
        "Physicochemical properties of protein tertiary structure (CASP): 45,730 rows, 9 columns.",
        "UCI Machine Learning Repository, sjwetzel/PublicTwinNeuralNetworkRegression on GitHub",
        "5254aeaf369aa567d92139917a29b34a22e8d83dafb4272117a20ddebeadf75f",
    ),
    "abalone": Entry(
        "Abalone, age in three classes: 4,177 rows, 8 columns.",
        "UCI Machine Learning Repository, erochest/clj-data-analysis on GitHub",
        "637b7f953c9f3fc69c6a9178a22355c1d94a31b9d4cf7d563b462d56035cf37c",
    ),
    "pendigits": Entry(
        "Handwritten digits by pen position, 10 classes: 7,494 rows, 16 columns.",
        "UCI Machine Learning Repository, EpistasisLab/pmlb on GitHub",
        "86589d9de23ce459b50a6e5318d01a74832bf77f58a35ccd1481a68e53020e76",
    ),
    "mushroom": Entry(
        "Edible and poisonous mushrooms, 2 classes: 8,124 rows, 21 columns.",
        "UCI Machine Learning Repository, ltopolsk/UMA-projekt on GitHub",
        "88e9a5ee1326f75f85b6abc6b4e08ebd9a9edc9bccbbd68bad9066dddd6808d6",
    ),
    "magic": Entry(
        "MAGIC gamma telescope, 2 classes: 19,020 rows, 10 columns.",
        "UCI Machine Learning Repository, EpistasisLab/pmlb on GitHub",
        "2821a929550a50b792a87868ec59e272c43c887b7e62d1a9a38e3ab14c06dbf9",
    ),
    "shuttle": Entry(
        "Statlog shuttle, 7 classes: 43,500 rows, 9 columns.",
        "UCI Machine Learning Repository, EpistasisLab/pmlb on GitHub",
        "c648a65ee79b9bc46afeb57b9ab652079caf605adf434ba425bb348834ff8590",
    ),
    "connect4": Entry(
        "Connect-4 positions after 8 plies, 3 classes: 67,557 rows, 42 columns.",
        "UCI Machine Learning Repository, EpistasisLab/pmlb on GitHub",
        "da88edf0630a170ef94a409ff6399f9dd4666e4ff7d3e7c30a6e00e22961edf4",
    ),
}
