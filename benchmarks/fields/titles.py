"""The fields by their titles."""

__all__ = ["TITLES"]

#: Titles of fields, with the number of splits: folds of maps, one split of the others.
TITLES = {
    "simulated field, its holes": 1,
    "COADS, random": 3,
    "COADS, blocks": 3,
    "elevation, random": 3,
    "elevation, blocks": 3,
    "climate_berkeley, random": 1,
    "climate_berkeley, blocks": 1,
    "jason3, days": 1,
    "argo, days": 1,
    "noaa_tmax, days": 1,
    "noaa_tmax, stations": 1,
    "noaa_tmax, last month": 1,
    "airs_co2, random": 1,
    "kaust_2a_1": 1,
    "kaust_2a_6": 1,
    "kaust_2a_9, the next ten times": 1,
}
