"""The periodic kernel: functions that repeat."""

from dataclasses import dataclass, field
from math import pi
from typing import ClassVar, Literal

from relevance_bayes.core.kernels.by_input import ByInput
from relevance_bayes.core.tracing import A, Namespace


@dataclass(frozen=True)
class Periodic(ByInput):
    """k(u, z) = exp(-2 sum_k sin^2(pi (u_k - z_k)) / length_scale^2), u = x/r: the width r is the period.

    A width that is learned is a period that is learned, one for all inputs or one for each; a fixed width gives it. The
    evidence has many maxima, near each multiple of a period among others: give a period that is known. `length_scale`
    says how rough functions are within a period, and has no unit. With one input it is scikit-learn's `ExpSineSquared`
    of `periodicity` r and the same `length_scale` [MACKAY1998]; with more it is the product over inputs, which is a
    covariance where a function of the Euclidean distance is none.
    """

    length_scale: float = field(default=1.0, metadata={"ge": 1e-2, "le": 1e2, "allow_inf_nan": False})
    type: Literal["periodic"] = "periodic"

    positive_definite: ClassVar[bool] = True
    stationary: ClassVar[bool] = True
    slope_of_k: ClassVar[bool] = True

    def term(self, xp: Namespace[A], u: A, z: A) -> A:
        """sin^2(pi (u - z)), whole periods taken off first."""
        periods = u - z
        return xp.square(xp.sin(pi * (periods - xp.round(periods))))

    def term_slope(self, xp: Namespace[A], u: A, z: A) -> A:
        """pi sin(2 pi (u - z))."""
        periods = u - z
        return pi * xp.sin(2.0 * pi * (periods - xp.round(periods)))

    def of_terms(self, xp: Namespace[A], terms: A) -> A:
        """exp(-2 sum / length_scale^2)."""
        return xp.exp(-2.0 / self.length_scale**2 * terms)

    def slope(self, xp: Namespace[A], terms: A, k: A) -> A:
        """-2 k / length_scale^2."""
        return -2.0 / self.length_scale**2 * k
