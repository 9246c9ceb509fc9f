r"""The span of Gegenbauer features in its orthogonal basis, which can be much narrower.

By the addition theorem :math:`\alpha_\ell P_d^\ell(\langle x, w\rangle) = \sum_k Y_{\ell k}(x)
Y_{\ell k}(w)`, so that all columns of one radial index are combinations of the same functions,

.. math::

    z_{j,i}(x) = \sum_{\ell, k} [h_\ell(\|x\|)]_i\, Y_{\ell k}(x/\|x\|)\; G_{(i,\ell,k),j},
    \qquad G_{(i,\ell,k),j} = \frac{Y_{\ell k}(w_j)}{\sqrt{\alpha_\ell\, m_i}} :

Z = H G with s · Σ α_ℓ columns in H: 441 on the globe at degree 20, however wide Z is. What is
linear in Z (predictions) or quadratic (moments) is found from H, and is the same up to rounding.
"""

from collections.abc import Callable, Iterable
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import scipy.linalg

from .._loaded import MOST, check_array, check_kind, check_number
from .._typing import Array, FloatArray
from .._validation import is_sparse, row_norms
from ..engines.harmonic_engine import HarmonicEngine
from ..kernels import GeneralizedZonalKernel
from ..kernels.points import inverse_norms
from ..polynomials import n_harmonics
from ..polynomials.harmonics import full_program, spherical_harmonics
from .reduction import ReducedFeatures
from .training_sample import TrainingSample

__all__ = ["HarmonicForm", "mixing_matrix"]

# What the form shares with the wider map: how rows are checked and prepared, and the kernel.
SHARED = ("n_features_in_", "feature_names_in_", "kernel_", "center_", "reduction_", "expansion_")


def mixing_matrix(
    max_degree: int, tables: Iterable[tuple[FloatArray, npt.NDArray[np.intp]]]
) -> FloatArray:
    """Return G, with Z = H G: [n_columns of H, n_columns of Z].

    Parameters
    ----------
    max_degree : int
        q.
    tables : iterable of (directions, counts)
        Directions [m, d], and for each radial index how many of them it uses, in the order of the
        columns of Z.
    """
    parts = []
    for directions, counts in tables:
        for count in counts:
            blocks = spherical_harmonics(max_degree, directions[:count])
            roots = [np.sqrt(block.shape[1] * count) for block in blocks]
            scaled = [block.T / root for block, root in zip(blocks, roots, strict=True)]
            parts.append(np.concatenate(scaled))
    return np.asarray(scipy.linalg.block_diag(*parts))


class HarmonicForm(ReducedFeatures):
    """H as a feature map, made of fitted features.

    Attributes
    ----------
    expansion_ : GeneralizedZonalKernel
        That of the wider map.
    mixing : ndarray of shape (n_columns of H, n_columns of Z)
        G, with Z = H G.
    """

    expansion_: GeneralizedZonalKernel
    mixing: FloatArray

    @classmethod
    def of(cls, features: ReducedFeatures, mixing: FloatArray) -> Self:
        """Return the form of fitted features whose matrix G is known."""
        state = features.sent_state()
        shared = {name: state[name] for name in SHARED if name in state}
        return cls.receive_state({**shared, "mixing": mixing, "_n_features_out": len(mixing)})

    def _fit(self, sample: TrainingSample, seed: int) -> int:
        raise NotImplementedError("A HarmonicForm is made of fitted features, by `narrow_form`.")

    def _check_loaded(self) -> None:
        expansion = check_kind(self, "expansion_", GeneralizedZonalKernel)
        degree = check_number(expansion, "max_degree", 0, MOST)
        width = expansion.n_radial * n_harmonics(degree, self._dim)
        check_array(self, "mixing", "f", (width, None))

    @property
    def scratch_width(self) -> int:
        """Intermediate numbers a row."""
        return 2 * self._dim + self.n_columns // 4

    def evaluator(self, dtype: npt.DTypeLike) -> Callable[[Any, Array], None]:
        """Return a function that fills harmonics times radial functions."""
        expansion = self.expansion_
        program = full_program(expansion.max_degree, self._dim)
        modes = np.column_stack([np.arange(len(program.counts)), program.counts])
        engine = HarmonicEngine(program, np.tile(modes, (expansion.n_radial, 1)), dtype)

        def block(rows: Any, out: Array) -> None:
            rows = self._prepared(rows)
            rows = rows.toarray() if is_sparse(rows) else rows
            norms = row_norms(rows)
            self.kernel_.check_norms(norms)
            # [row, radial, degree]: modes are ordered by radial index, then degree.
            radial = expansion.coefficients(norms).transpose(0, 2, 1)
            directions = rows * inverse_norms(norms, np.float64)[:, None]
            engine(directions, radial.reshape(len(rows), -1).astype(dtype, order="C"), out)

        return block
