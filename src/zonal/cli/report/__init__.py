"""HTML reports: the page, its figures, and the page of a fit."""
