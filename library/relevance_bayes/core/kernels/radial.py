"""Kernels that are a function of the squared distance."""

from abc import abstractmethod
from dataclasses import dataclass, field
from typing import ClassVar, Literal, final

import numpy as np

from relevance_bayes.core.kernels.base import BLOCK, KernelBase, evaluated
from relevance_bayes.core.linalg import FEW_INPUTS, squared_distances
from relevance_bayes.core.tracing import A, Namespace
from relevance_bayes.core.types import Array

NEAR = 1e-6
"""Squared distances below this share of |u|^2 + |z|^2 lose more than ten of their digits to cancellation."""

TINY = 1e-300
"""Lower bound of a squared distance whose root is a divisor."""


class Radial(KernelBase):
    """k(u, z) = k(|u - z|^2).

    A member gives k and its slope as functions of the squared distances; all else is the same for all members.
    """

    is_stationary: ClassVar[bool] = True

    slope_of_k: ClassVar[bool] = False
    """True where the slope needs k alone, and no distances: it is passed k for both."""

    has_kink: ClassVar[bool] = False
    """True where the slope at distance 0 is infinite: such a kernel has the square root of the
    rounding that cancellation leaves."""

    @abstractmethod
    def of_squares(self, xp: Namespace[A], squares: A) -> A:
        """k at squared distances."""

    @abstractmethod
    def slope(self, xp: Namespace[A], squares: A, k: A) -> A:
        """dk / d|u - z|^2 at squared distances, where the kernel is k."""

    @final
    def __call__(self, U: Array, Z: Array) -> Array:
        return self.evaluated(self._squares(U, Z))

    def evaluated(self, squares: Array) -> Array:
        """`of_squares` of any shape by numpy, which it may overwrite; members override it with fewer passes."""
        return evaluated(self.of_squares, squares)

    def with_slope(self, squares: Array) -> tuple[Array, Array]:
        """k and dk / d|u - z|^2 at squared distances (n, m) that fit into the cache; members override it with fewer
        passes."""
        k = self.of_squares(np, squares)
        return k, self.slope(np, squares, k)

    @final
    def slopes(self, squares: Array, k: Array | None = None) -> Array:
        """dk / d|u - z|^2 at squared distances of any shape, which may be overwritten; k is the kernel there."""
        if k is not None and self.slope_of_k:
            return self.slope(np, k, k)
        flat, known = squares.reshape(-1), None if k is None else np.ascontiguousarray(k).reshape(-1)
        for first in range(0, flat.size, BLOCK):
            block = flat[first : first + BLOCK]
            there = self.of_squares(np, block) if known is None else known[first : first + BLOCK]
            block[:] = self.slope(np, block, there)
        return squares

    @final
    def pull(self, U: Array, Z: Array, D: Array, k: Array | None = None) -> tuple[Array, Array]:
        """dU = 2 (diag(W 1) U - W Z) and dZ = 2 (diag(W'1) Z - W'U), W = D o slope.

        Only differences matter, so both are centred on Z, which reduces the rounding of the subtraction.
        """
        if not len(Z):
            return np.zeros_like(U), np.zeros_like(Z)
        W = self._weighted(U, Z, D, k)
        centre = Z.mean(axis=0)
        U, Z = U - centre, Z - centre
        return 2.0 * (W.sum(axis=1)[:, None] * U - W @ Z), 2.0 * (W.sum(axis=0)[:, None] * Z - W.T @ U)

    @final
    def pull_symmetric(self, U: Array, D: Array, k: Array | None = None) -> Array:
        if not len(U):
            return np.zeros_like(U)
        W = self._weighted(U, U, D, k)
        U = U - U.mean(axis=0)
        dU: Array = 4.0 * (W.sum(axis=1)[:, None] * U - W @ U)
        return dU

    def _weighted(self, U: Array, Z: Array, D: Array, k: Array | None) -> Array:
        """D o slope, (N, M)."""
        if k is not None and self.slope_of_k:
            return np.asarray(self.slope(np, k, k) * D)
        W = self.slopes(self._squares(U, Z), k)
        W *= D
        return W

    def _squares(self, U: Array, Z: Array) -> Array:
        squares = squared_distances(U, Z)
        if self.has_kink and U.shape[1] > FEW_INPUTS:
            _recompute_small(squares, U, Z)
        return squares


def _recompute_small(squares: Array, U: Array, Z: Array) -> None:
    """Recompute the smallest squared distances (N, M) from differences, so that they are exactly 0 at equal points."""
    centre = Z.mean(axis=0)
    sizes = np.square(U - centre).sum(axis=1)[:, None] + np.square(Z - centre).sum(axis=1)
    n, m = np.nonzero(squares <= NEAR * sizes)
    exact = np.zeros(len(n))
    for u, z in zip(U.T, Z.T, strict=True):
        exact += np.square(u[n] - z[m])
    squares[n, m] = exact


@dataclass(frozen=True)
class Gaussian(Radial):
    """k(u, z) = exp(-|u - z|^2), u and z already divided by the width r.

    The papers' exp(-|x - z|^2 / r^2) [TIPPING2001, eq. 30]; the length scale of GPyTorch and scikit-learn is r/sqrt 2.
    """

    type: Literal["gaussian"] = "gaussian"

    is_positive_definite: ClassVar[bool] = True
    length_scale_of_width: ClassVar[float | None] = 2.0**-0.5
    slope_of_k: ClassVar[bool] = True

    def of_squares(self, xp: Namespace[A], squares: A) -> A:
        """exp(-s)."""
        return xp.exp(-squares)

    def slope(self, xp: Namespace[A], squares: A, k: A) -> A:
        """-k."""
        return -k

    def evaluated(self, squares: Array) -> Array:
        """exp(-s) in place, in .85 times the time."""
        return np.exp(np.negative(squares, out=squares), out=squares)


@dataclass(frozen=True)
class Matern32(Radial):
    """k(u, z) = (1 + a) exp(-a), a = sqrt(3) |u - z|, u = x/r [RASMUSSEN2006].

    The width r is the length scale itself, without the Gaussian kernel's factor sqrt 2.
    """

    type: Literal["matern_3_2"] = "matern_3_2"

    is_positive_definite: ClassVar[bool] = True
    length_scale_of_width: ClassVar[float | None] = 1.0

    def of_squares(self, xp: Namespace[A], squares: A) -> A:
        """(1 + a) exp(-a), a = sqrt(3 s)."""
        a = xp.sqrt(3.0 * squares)
        return (1.0 + a) * xp.exp(-a)

    def slope(self, xp: Namespace[A], squares: A, k: A) -> A:
        """-3/2 exp(-a)."""
        return -1.5 * xp.exp(-xp.sqrt(3.0 * squares))

    def with_slope(self, squares: Array) -> tuple[Array, Array]:
        """Both with one root and one exponential."""
        a = np.sqrt(3.0 * squares)
        falling = np.exp(-a)
        a += 1.0
        a *= falling
        falling *= -1.5
        return a, falling


@dataclass(frozen=True)
class Matern52(Radial):
    """k(u, z) = (1 + a + a^2/3) exp(-a), a = sqrt(5) |u - z|, u = x/r [RASMUSSEN2006].

    The width r is the length scale itself, without the Gaussian kernel's factor sqrt 2.
    """

    type: Literal["matern_5_2"] = "matern_5_2"

    is_positive_definite: ClassVar[bool] = True
    length_scale_of_width: ClassVar[float | None] = 1.0

    def of_squares(self, xp: Namespace[A], squares: A) -> A:
        """(1 + a + a^2/3) exp(-a), a = sqrt(5 s)."""
        a = xp.sqrt(5.0 * squares)
        return (1.0 + a + 5.0 / 3.0 * squares) * xp.exp(-a)

    def slope(self, xp: Namespace[A], squares: A, k: A) -> A:
        """-5/6 (1 + a) exp(-a)."""
        a = xp.sqrt(5.0 * squares)
        return -5.0 / 6.0 * (1.0 + a) * xp.exp(-a)


@dataclass(frozen=True)
class Laplacian(Radial):
    """k(u, z) = exp(-|u - z|), u = x/r, with the Euclidean distance: the Matern kernel of order 1/2 and length scale r.

    scikit-learn's `laplacian_kernel` sums absolute differences instead; with one input it is the same, gamma = 1/r.
    """

    type: Literal["laplacian"] = "laplacian"

    is_positive_definite: ClassVar[bool] = True
    length_scale_of_width: ClassVar[float | None] = 1.0
    has_kink: ClassVar[bool] = True

    def of_squares(self, xp: Namespace[A], squares: A) -> A:
        """exp(-sqrt s)."""
        return xp.exp(-xp.sqrt(squares))

    def slope(self, xp: Namespace[A], squares: A, k: A) -> A:
        """-k / (2 sqrt s), and 0 at s = 0.

        It is infinite there, but is multiplied by u - z = 0: at its kink the kernel has no gradient, and 0 is the
        mean of those on both sides.
        """
        return xp.where(squares > 0.0, -0.5 * k / xp.sqrt(xp.maximum(squares, TINY)), 0.0)


@dataclass(frozen=True)
class Cauchy(Radial):
    """k(u, z) = 1 / (1 + |u - z|^2), u = x/r: the rational quadratic of power 1."""

    type: Literal["cauchy"] = "cauchy"

    is_positive_definite: ClassVar[bool] = True
    length_scale_of_width: ClassVar[float | None] = 2.0**-0.5
    slope_of_k: ClassVar[bool] = True

    def of_squares(self, xp: Namespace[A], squares: A) -> A:
        """1 / (1 + s)."""
        return 1.0 / (1.0 + squares)

    def slope(self, xp: Namespace[A], squares: A, k: A) -> A:
        """-k^2."""
        return -xp.square(k)


@dataclass(frozen=True)
class RationalQuadratic(Radial):
    """k(u, z) = (1 + |u - z|^2 / power)^-power, u = x/r [RASMUSSEN2006].

    Power 1 is the Cauchy kernel; as the power grows it becomes the Gaussian. scikit-learn's `RationalQuadratic` is the
    same with alpha = power and length scale r/sqrt 2.
    """

    # Outside these bounds it is constant or the Gaussian kernel, and a quotient by the power may overflow.
    power: float = field(default=1.0, metadata={"ge": 1e-3, "le": 1e3, "allow_inf_nan": False})
    type: Literal["rational_quadratic"] = "rational_quadratic"

    is_positive_definite: ClassVar[bool] = True
    length_scale_of_width: ClassVar[float | None] = 2.0**-0.5

    def of_squares(self, xp: Namespace[A], squares: A) -> A:
        """exp(-power log(1 + s/power)), which is accurate where the power is large."""
        return xp.exp(-self.power * xp.log1p(squares / self.power))

    def slope(self, xp: Namespace[A], squares: A, k: A) -> A:
        """-k / (1 + s/power)."""
        return -k / (1.0 + squares / self.power)


@dataclass(frozen=True)
class InverseMultiquadric(Radial):
    """k(u, z) = 1 / sqrt(1 + |u - z|^2), u = x/r: it falls as 1/|u - z|, with the heaviest tails of these kernels.

    The rational quadratic of power 1/2 and width sqrt 2 r; scipy's `RBFInterpolator` has it with epsilon = 1/r.
    """

    type: Literal["inverse_multiquadric"] = "inverse_multiquadric"

    is_positive_definite: ClassVar[bool] = True
    length_scale_of_width: ClassVar[float | None] = 1.0
    slope_of_k: ClassVar[bool] = True

    def of_squares(self, xp: Namespace[A], squares: A) -> A:
        """1 / sqrt(1 + s)."""
        return 1.0 / xp.sqrt(1.0 + squares)

    def slope(self, xp: Namespace[A], squares: A, k: A) -> A:
        """-k^3/2."""
        return -0.5 * k * xp.square(k)


@dataclass(frozen=True)
class Cubic(Radial):
    """k(u, z) = |u - z|^3, u = x/r: over one input, sums of it are cubic splines with knots at z.

    It grows with the distance, and a width only scales it.
    """

    type: Literal["cubic"] = "cubic"

    def of_squares(self, xp: Namespace[A], squares: A) -> A:
        """s sqrt s."""
        return squares * xp.sqrt(squares)

    def slope(self, xp: Namespace[A], squares: A, k: A) -> A:
        """3/2 sqrt s."""
        return 1.5 * xp.sqrt(squares)


@dataclass(frozen=True)
class ThinPlate(Radial):
    """k(u, z) = |u - z|^2 log |u - z|, 0 at 0, u = x/r: over two inputs, a thin plate bent by forces at z.

    It grows with the distance; a width only scales it and adds a quadratic.
    """

    type: Literal["thin_plate"] = "thin_plate"

    def of_squares(self, xp: Namespace[A], squares: A) -> A:
        """1/2 s log s, 0 at 0."""
        return 0.5 * squares * xp.log(xp.where(squares > 0.0, squares, 1.0))

    def slope(self, xp: Namespace[A], squares: A, k: A) -> A:
        """1/2 (log s + 1), and 0 at s = 0, where |u - z| times it is 0."""
        return xp.where(squares > 0.0, 0.5 * (xp.log(xp.where(squares > 0.0, squares, 1.0)) + 1.0), 0.0)
