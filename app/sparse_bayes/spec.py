"""What to fit: one choice from each union, and the table of choices that go together."""

from dataclasses import dataclass

from app.sparse_bayes.algorithms import Algorithm, Sequential
from app.sparse_bayes.basis import Basis, Bias, KernelBasis
from app.sparse_bayes.errors import IllegalCombinationError
from app.sparse_bayes.likelihoods import Likelihood
from app.sparse_bayes.priors import Independent, Prior
from app.sparse_bayes.scales import FixedWidth

__all__ = ["Algorithm", "Basis", "Likelihood", "Prior", "Spec", "check"]


@dataclass(frozen=True)
class Spec:
    """One fit. `basis` are the dictionaries side by side.

    `seed` decides folds and subsets, together with the rows' content.
    """

    likelihood: Likelihood
    basis: tuple[Basis, ...] = (KernelBasis(), Bias())
    prior: Prior = Independent()
    algorithm: Algorithm = Sequential()
    seed: int = 0


LEGAL: dict[str, frozenset[str]] = {"independent": frozenset({"sequential", "re_estimation"})}
"""For each prior the algorithms that can learn it; every likelihood and every basis goes with them all."""


def check(spec: Spec) -> None:
    """Raise IllegalCombinationError where the choices can't be used together."""
    if not spec.basis:
        raise IllegalCombinationError("basis", "expected at least one dictionary of functions, got none")
    if len([basis for basis in spec.basis if isinstance(basis, Bias)]) > 1:
        raise IllegalCombinationError("basis", "expected at most one bias, got several")
    searched = [
        basis for basis in spec.basis if isinstance(basis, KernelBasis) and not isinstance(basis.width, FixedWidth)
    ]
    if len(searched) > 1:
        raise IllegalCombinationError("basis", "expected at most one width to be searched for; fix the others")
    if spec.algorithm.type not in LEGAL[spec.prior.type]:
        raise IllegalCombinationError("algorithm", f"{spec.algorithm.type} can't learn the prior {spec.prior.type}")
