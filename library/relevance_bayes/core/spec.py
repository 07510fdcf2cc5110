"""The specification of a fit: one choice from each union, and the table of valid combinations."""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from relevance_bayes.core.algorithms import Algorithm, ReEstimation, Sequential
from relevance_bayes.core.basis import Basis, Bias, Group, Inputs, KernelBasis
from relevance_bayes.core.errors import IllegalCombinationError
from relevance_bayes.core.hyperparameters import EvidencePerInputWidth, Learning
from relevance_bayes.core.kernels import Covariance
from relevance_bayes.core.likelihoods import BernoulliPerClass, GaussianNoise, Hurdle, Likelihood, TargetLikelihood
from relevance_bayes.core.priors import GaussianProcess, Independent, Prior

__all__ = ["Algorithm", "Basis", "Prior", "Spec", "TargetLikelihood", "check"]


@dataclass(frozen=True)
class Spec:
    """One fit. `basis` are the dictionaries side by side.

    `seed` decides folds and subsets, together with the rows' content.
    """

    likelihood: TargetLikelihood
    basis: tuple[Basis, ...] = (KernelBasis(), Bias())
    prior: Prior = Independent()
    algorithm: Algorithm = Sequential()
    seed: int = 0

    @property
    def model_likelihood(self) -> Likelihood:
        """The likelihood of the one model that is fitted; raises IllegalCombinationError where there are several."""
        if isinstance(self.likelihood, BernoulliPerClass | Hurdle):
            detail = f'"{self.likelihood.type}" is that of several fits'
            raise IllegalCombinationError("likelihood", detail)
        return self.likelihood


LEGAL: dict[str, frozenset[str]] = {
    "independent": frozenset({"sequential", "re_estimation"}),
    "gaussian_process": frozenset({"greedy"}),
}
"""For each prior the algorithms that can learn it; every likelihood goes with them all."""

LEARNED: dict[str, dict[str, Literal["one", "each"]]] = {
    "independent": {},
    "gaussian_process": {"evidence": "one", "evidence_per_input": "each"},
}
"""For each prior the widths that its algorithms learn themselves, and for how many inputs at once."""

SEARCHED: dict[str, frozenset[str]] = {
    "independent": frozenset({"cross_validation", "evidence", "evidence_per_input"}),
    "gaussian_process": frozenset({"cross_validation"}),
}
"""For each prior the widths that are found among whole fits."""


def check(spec: Spec) -> None:
    """Raise IllegalCombinationError where the choices can't be used together."""
    if not spec.basis:
        raise IllegalCombinationError("basis", "expected at least one dictionary of functions, got none")
    for single, name in ((Bias, "bias"), (Inputs, "dictionary of the inputs")):
        if len([basis for basis in spec.basis if isinstance(basis, single)]) > 1:
            raise IllegalCombinationError("basis", f"expected at most one {name}, got several")
    for group in (basis for basis in spec.basis if isinstance(basis, Group)):
        _check_group(group)
    kernels = [basis for basis in spec.basis if isinstance(basis, KernelBasis)]
    if len([basis for basis in kernels if basis.width.type in SEARCHED[spec.prior.type]]) > 1:
        raise IllegalCombinationError("basis", "expected at most one width to be searched for; fix the others")
    for basis in kernels:
        _check_scales(spec, basis)
    if searched(spec) and any(basis.width.type == "inherited" for basis in kernels):
        raise IllegalCombinationError("basis", "expected no width to be searched for beside one that is inherited")
    if spec.algorithm.type not in LEGAL[spec.prior.type]:
        raise IllegalCombinationError(
            "algorithm", f'"{spec.algorithm.type}" can\'t learn the prior "{spec.prior.type}"'
        )
    if spec.prior.rho and not spec.likelihood.is_conjugate:
        detail = f'expected rho of 0 under "{spec.likelihood.type}": another is for Gaussian noise'
        raise IllegalCombinationError("prior", detail)
    if is_heteroscedastic(spec.likelihood) and (not isinstance(spec.prior, GaussianProcess) or spec.prior.rho):
        detail = "expected a Gaussian process prior with rho of 0 where the noise is a function of the inputs"
        raise IllegalCombinationError("likelihood", detail)
    if isinstance(spec.prior, Independent):
        _check_hyperpriors(spec, spec.prior)
    if isinstance(spec.prior, GaussianProcess):
        if len(kernels) != 1:
            raise IllegalCombinationError("basis", "expected one kernel under a Gaussian process prior")
        if not all(isinstance(basis, KernelBasis | Bias | Inputs) for basis in spec.basis):
            detail = "expected a kernel, a bias and the inputs under a Gaussian process prior, and no other functions"
            raise IllegalCombinationError("basis", detail)
        (basis,) = kernels
        if not isinstance(basis.kernel, Covariance):
            detail = f'"{basis.kernel.type}" is no covariance of a stationary process, as the prior needs one'
            raise IllegalCombinationError("basis", detail)


def is_heteroscedastic(likelihood: TargetLikelihood) -> bool:
    """True where the noise is a learned function of the inputs."""
    return isinstance(likelihood, GaussianNoise) and likelihood.noise_sd == "heteroscedastic"


def has_width_per_input(spec: Spec) -> bool:
    """True where the evidence of a kernel's process learns a width for each input."""
    return any(isinstance(one, KernelBasis) and isinstance(one.width, EvidencePerInputWidth) for one in spec.basis)


def _check_group(group: Group) -> None:
    if not group.inputs or len(set(group.inputs)) < len(group.inputs):
        raise IllegalCombinationError("basis", "expected different inputs in a group, and one at least")
    of = group.of
    if isinstance(of, KernelBasis) and (of.width.type != "fixed" or of.warp != "none" or of.additive != "none"):
        detail = "expected a width that is fixed, no warp and no terms of single inputs within a group"
        raise IllegalCombinationError("basis", detail)


def _check_hyperpriors(spec: Spec, prior: Independent) -> None:
    if prior.price and not isinstance(spec.algorithm, Sequential):
        raise IllegalCombinationError("prior", f'"{spec.algorithm.type}" can\'t pay the price of choice')
    if (prior.a or prior.b or prior.c or prior.d) and not isinstance(spec.algorithm, ReEstimation):
        raise IllegalCombinationError(
            "prior", f'"{spec.algorithm.type}" can\'t learn under Gamma hyperpriors; re_estimation can'
        )
    if prior.a and not prior.b:
        raise IllegalCombinationError("prior", "expected b above 0 beside a: without it no precision is too great")
    if (prior.c or prior.d) and not _learns_noise(spec.likelihood):
        raise IllegalCombinationError("prior", "expected c and d of 0, since no noise precision is learned")


def _learns_noise(likelihood: TargetLikelihood) -> bool:
    """True where the noise precision has a range, whatever the targets are."""
    start, max_beta = likelihood.start(np.array([1.0, 2.0]))
    return max_beta > start


def _check_scales(spec: Spec, basis: KernelBasis) -> None:
    learned = LEARNED[spec.prior.type]
    known = {"fixed", "inherited"} | SEARCHED[spec.prior.type] | set(learned)
    if basis.width.type not in known:
        raise IllegalCombinationError("basis", f'"{basis.width.type}" can\'t find a width under "{spec.prior.type}"')
    if basis.additive != "none" and learned.get(basis.width.type) != "each":
        detail = "expected a width for each input by evidence, since terms of single inputs are learned with them"
        raise IllegalCombinationError("basis", detail)
    if basis.warp != "none" and basis.width.type not in learned:
        raise IllegalCombinationError("basis", "expected widths by evidence, since warps are learned with them")


def learning(spec: Spec, basis: KernelBasis) -> Learning:
    """The part of a dictionary's input map that the algorithm learns."""
    return Learning(
        LEARNED[spec.prior.type].get(basis.width.type, "none"),
        warp=basis.warp == "evidence",
        additive=basis.additive == "evidence",
        shrinkage=basis.width.shrinkage if isinstance(basis.width, EvidencePerInputWidth) else 0.0,
    )


def searched(spec: Spec) -> list[int]:
    """Positions of the dictionaries whose width is found among whole fits."""
    return [
        place
        for place, basis in enumerate(spec.basis)
        if isinstance(basis, KernelBasis) and basis.width.type in SEARCHED[spec.prior.type]
    ]
