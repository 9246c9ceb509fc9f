r"""What kernels are made of: the summands that are expanded one by one.

Every kernel is a sum of terms, and sums, multiples and products of kernels are sums, multiples
and products of their terms. Two kinds have a closed form (`FixedTerm` is a user's own expansion):

- `DotProductTerm`: :math:`e^{-\beta(\|x\|^2+\|y\|^2)} \sum_j a_j \langle x,y\rangle^j`. The
  paper's dot-product kernels (β = 0) and the Gaussian; radial functions are monomials.
- `HomogeneousTerm`: :math:`(\|x\|\|y\|)^p \kappa(\cos\angle(x,y))`. Arc-cosine and Neural
  Tangent kernels; one radial function is exact.

Everything else, such as the Matérn kernel or the product of a Gaussian and a Neural Tangent
kernel, is a `NumericTerm`: known by its values only.
"""

from .algebra import merge, multiply
from .dot_product import DotProductTerm, ExponentialTerm
from .given import FixedTerm, NumericTerm
from .homogeneous import HomogeneousTerm
from .protocol import Term

__all__ = [
    "DotProductTerm",
    "ExponentialTerm",
    "FixedTerm",
    "HomogeneousTerm",
    "NumericTerm",
    "Term",
    "merge",
    "multiply",
]
