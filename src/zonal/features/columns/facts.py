"""Facts of the calendar and of the globe: numbers that nobody chose."""

__all__ = ["CIRCLES", "DAY", "DEGREES", "MONDAY", "MONTHS", "N_CODES", "PERIODS", "SEASONS", "YEAR"]

#: Degrees that there are.
DEGREES = {"latitude": (-90, 90), "longitude": (-180, 360)}
#: Months of a year, and days of a mean Gregorian one.
MONTHS, YEAR = 12, 365.2425
#: Seconds of a day; 1970-01-01 was a Thursday, and with this the week begins on Monday.
DAY = 86_400.0
MONDAY = 4 * DAY
#: Periods in seconds, and how long dates must span for each to be seen.
PERIODS = {"day": (DAY, DAY), "week": (7 * DAY, 14 * DAY), "year": (YEAR * DAY, 366 * DAY)}
#: Years, weeks and days in years.
SEASONS = (1.0, 7 / YEAR, 1 / YEAR)
#: Parts of a larger unit, which is a circle: its length, where all numbers lie within it.
CIRCLES = {"month": 12.0, "hour": 24.0}
#: How many values the units of dates have.
N_CODES = {"hour": 24, "weekday": 7, "month": 12}
