r"""Places that are moved before distances are taken: x ↦ x + ∇φ(x), a warp.

A kernel of the distance between warped places has length scales that vary with place and direction:
near x it is that of the distance :math:`\|(I + \nabla\nabla\varphi)(x - y)\|`. On a sphere

.. math:: x \mapsto \frac{x + \nabla\varphi(x)}{\|x + \nabla\varphi(x)\|}, \qquad
    \varphi = \sum_k c_k Y_k ,

with the five harmonics of degree 2, as the warped kernels of GpGp (Guinness 2021) have them: the
zonal one is the ratio of north–south to east–west scales. Degree 1 would stretch one half of the
sphere. Warped places are places of the same sphere, so that nothing else changes. On a plane with
sides w of the box of the rows and t in [0, 1]²,

.. math:: x \mapsto x + w^2 \nabla\varphi(x), \qquad
    \varphi = c_0 (t_1 - \tfrac12)(t_2 - \tfrac12) + \sum_k c_k \cos(\pi k_1 t_1) \cos(\pi k_2 t_2)

with :math:`1 \le k_1 + k_2 \le 2`: the first turns the axes of the ellipses in which a kernel of
two length scales is constant, the others let them vary.
"""

from dataclasses import replace
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin

from .._loaded import check_array
from .._typing import Array, FloatArray
from .amplitude import Box, Sphere, surface_of

__all__ = ["Warp", "displaced", "moves_of", "n_moves", "placed", "radii"]


def moves_of(rows: Array, in_time: bool = False) -> Sphere | Box | None:
    """Return the functions that φ is made of, or None where rows are not places.

    Parameters
    ----------
    rows : ndarray of shape (n, d)
        Points of a sphere side by side with other columns, or two columns of a map.
    in_time : bool
        Whether the last column is a time, which stays.
    """
    finest = surface_of(rows, in_time)
    return None if finest is None else replace(finest, degree=2)


class Warp(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """The map x ↦ x + ∇φ(x) of rows.

    Parameters
    ----------
    surface : Sphere or Box
        The functions that φ is made of.
    coef : ndarray of shape (K,)
        c.
    """

    thread_safe = True

    def __init__(self, surface: Sphere | Box, coef: FloatArray) -> None:
        self.surface = surface
        self.coef = coef

    def _check_loaded(self) -> None:
        check_array(self, "coef", "f", (n_moves(self.surface),))

    def __sklearn_is_fitted__(self) -> bool:
        """Tell that all is given."""
        return True

    def fit(self, X: Any, y: Any = None) -> Self:
        """Return the map, which is given."""
        return self

    def transform(self, X: Any) -> Array:
        """Return warped rows: [n, d]."""
        rows = np.asarray(X, np.float64)
        found = placed(self.surface, rows, rows + displaced(self.surface, rows, self.coef))
        return found.astype(X.dtype) if getattr(X, "dtype", None) == np.float32 else found

    def pull(self, X: Any, gradient: Array) -> Array:
        """Return gradients [n, t, d] with respect to rows, from those to warped rows.

        Second derivatives of φ are central differences, in error by about 1e-9. Columns that are no
        places stay as they are.
        """
        rows = np.asarray(X, np.float64)
        found = gradient.astype(np.float64)
        for c, size in _sizes(self.surface, rows):
            step = np.cbrt(np.finfo(np.float64).eps) * size
            further, before = rows.copy(), rows.copy()
            further[:, c] += step
            before[:, c] -= step
            slope = self.transform(further) - self.transform(before)
            slope /= (further - before)[:, [c]]
            found[:, :, c] = np.einsum("ntd,nd->nt", gradient, slope)
        return found.astype(gradient.dtype)


def n_moves(surface: Sphere | Box) -> int:
    """Return K."""
    n_functions = len(surface.roughness)
    return n_functions - surface.dim if isinstance(surface, Sphere) else n_functions + 1


def displaced(surface: Sphere | Box, rows: FloatArray, coef: FloatArray) -> FloatArray:
    """Return ∇φ at rows, in their units: [n, d]."""
    if isinstance(surface, Sphere):
        whole = np.concatenate([np.zeros(surface.dim), coef])
        return radii(surface, rows) ** 2 * surface.gradient(rows, whole)
    width = surface.high - surface.low
    found = width**2 * surface.gradient(rows, coef[1:])
    wide = np.flatnonzero(width > 0)
    if len(wide) == 2:
        t = (rows - (surface.low + surface.high) / 2)[:, wide] / width[wide]
        found[:, wide] += coef[0] * t[:, ::-1] * width[wide]
    return np.asarray(found)


def placed(surface: Sphere | Box, rows: FloatArray, moved: FloatArray) -> FloatArray:
    """Return moved rows, on a sphere at the distance from its centre that they had before."""
    if isinstance(surface, Box):
        return moved
    part = slice(surface.first, surface.first + surface.dim)
    found = moved.copy()
    found[:, part] *= radii(surface, rows) / radii(surface, moved)
    return found


def _sizes(surface: Sphere | Box, rows: FloatArray) -> list[tuple[int, FloatArray]]:
    """Return the columns that are places, and how large the sphere or the box is along them.

    Of the surface, not of the rows: what is asked together decides nothing.
    """
    if isinstance(surface, Sphere):
        size = radii(surface, rows)[:, 0]
        return [(surface.first + c, size) for c in range(surface.dim)]
    width = surface.high - surface.low
    return [(int(c), width[c]) for c in np.flatnonzero(width > 0)]


def radii(surface: Sphere, rows: FloatArray) -> FloatArray:
    """Return the distance of places from the centre of the sphere: [n, 1]."""
    part = rows[:, surface.first : surface.first + surface.dim]
    return np.asarray(np.linalg.norm(part, axis=1, keepdims=True))
