"""Models of more rows than one place holds: rows sorted into parts by where they are.

- `staying`: which rows are gathered, and which stay where they are;
- `cuts`: cells of about equal counts, by medians of a sample;
- `folder`: the one folder that holds the parts, removed when nobody needs it any more;
- `part`: the places of a cell, in the order of their hashes, mapped into memory;
- `sorting`: from blocks of rows, whoever holds them, to parts;
- `tree`: boxes of the places of a part, in its files, by which near ones are found;
- `around`: the places in a box, and those that the queries of a cell need;
- `nearest`: the nearest places of scattered queries, in whatever parts;
- `sums`: whitened sums over the places of a part and its surroundings;
- `fitting`: from parts to a model;
- `from_parts`: the model, which predicts each query from the places around it.
"""

from .fitting import fit_parts
from .from_parts import FromParts

__all__ = ["FromParts", "fit_parts"]
