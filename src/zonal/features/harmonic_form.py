r"""The span of Gegenbauer features in its orthogonal basis, which can be much narrower.

By the addition theorem :math:`\alpha_\ell P_d^\ell(\langle x, w\rangle) = \sum_k Y_{\ell k}(x)
Y_{\ell k}(w)`, so that all columns of one radial index are combinations of the same functions,

.. math::

    z_{j,i}(x) = \sum_{\ell, k} [h_\ell(\|x\|)]_i\, Y_{\ell k}(x/\|x\|)\; G_{(i,\ell,k),j},
    \qquad G_{(i,\ell,k),j} = \frac{Y_{\ell k}(w_j)}{\sqrt{\alpha_\ell\, m_i}} :

Z = H G with s · Σ α_ℓ columns in H: 441 on the globe at degree 20, however wide Z is. What is
linear in Z (predictions) or quadratic (moments) is found from H, and is the same up to rounding.
"""

from collections.abc import Callable
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from .._typing import Array, FloatArray
from .._validation import row_norms
from ..engines.harmonic_engine import HarmonicEngine
from ..polynomials import harmonic_dimension
from ..polynomials.harmonics import full_program, spherical_harmonics
from .gegenbauer import GegenbauerFeatures, inverse_norms
from .learned import is_sparse

__all__ = ["HarmonicForm"]


class HarmonicForm(GegenbauerFeatures):
    """H as a feature map, made of fitted features.

    Attributes
    ----------
    mixing : ndarray of shape (n_columns of H, n_columns of Z)
        G, with Z = H G.
    """

    mixing: FloatArray

    @classmethod
    def of(cls, features: GegenbauerFeatures) -> Self | None:
        """The form of fitted features, or None where it is not narrower."""
        degrees, dim = range(features.max_degree_ + 1), features._dim
        if dim < 2:
            return None
        width = features.n_radial_ * sum(harmonic_dimension(ell, dim) for ell in degrees)
        if width >= features._n_columns:
            return None
        form = cls.__new__(cls)
        form.__dict__.update(features.__dict__)
        form.mixing = np.zeros((width, features._n_columns))
        row = column = 0
        for group in features._groups:
            for count in group.counts:
                blocks = spherical_harmonics(features.max_degree_, group.directions[:count])
                for block in blocks:
                    rows = slice(row, row + block.shape[1])
                    root = np.sqrt(block.shape[1] * count)
                    form.mixing[rows, column : column + count] = block.T / root
                    row = rows.stop
                column += count
        form._n_features_out = width
        return form

    def narrow_form(self) -> None:
        """Return None: this is the narrow form."""

    @property
    def _width(self) -> int:
        return 2 * self._dim + self._n_columns // 4

    def _evaluator(self, dtype: npt.DTypeLike) -> Callable[[Any, Array], None]:
        program = full_program(self.max_degree_, self._dim)
        modes = np.column_stack([np.arange(len(program.counts)), program.counts])
        engine = HarmonicEngine(program, np.tile(modes, (self.n_radial_, 1)), dtype)

        def block(rows: Any, out: Array) -> None:
            rows = self._prepared(rows)
            rows = rows.toarray() if is_sparse(rows) else rows
            norms = row_norms(rows)
            self.kernel_.check_norms(norms)
            # [row, radial, degree]: modes are ordered by radial index, then degree.
            radial = self.expansion_.coefficients(norms).transpose(0, 2, 1)
            directions = rows * inverse_norms(norms, np.float64)[:, None]
            engine(directions, radial.reshape(len(rows), -1).astype(dtype, order="C"), out)

        return block
