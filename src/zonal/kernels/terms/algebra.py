"""Products and sums of terms."""

from .dot_product import DotProductTerm
from .homogeneous import HomogeneousTerm
from .protocol import Term

__all__ = ["merge", "multiply"]


def multiply(left: Term, right: Term) -> Term | None:
    """Multiply two terms of one kind; None where the product has no closed form."""
    if isinstance(left, DotProductTerm) and isinstance(right, DotProductTerm):
        return left.times(right)
    if isinstance(left, HomogeneousTerm) and isinstance(right, HomogeneousTerm):
        return left.times(right)
    return None


def merge(terms: list[Term]) -> list[Term]:
    """Join the terms that share their radial functions, which saves radial order."""
    merged: list[Term] = []
    for term in terms:
        for position, other in enumerate(merged):
            if (
                isinstance(term, DotProductTerm)
                and isinstance(other, DotProductTerm)
                and term.decay == other.decay
            ) or (
                isinstance(term, HomogeneousTerm)
                and isinstance(other, HomogeneousTerm)
                and term.power == other.power
            ):
                merged[position] = other.plus(term)  # type: ignore[arg-type]
                break
        else:
            merged.append(term)
    return merged
