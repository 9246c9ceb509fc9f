"""The command line: ``zonal fit``, ``zonal predict`` and others; see ``zonal --help``."""
