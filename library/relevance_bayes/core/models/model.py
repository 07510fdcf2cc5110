"""The specification of a model, and what a fit leaves: functions, weights and their posterior."""

from dataclasses import dataclass
from typing import Literal, Self

import numpy as np

from relevance_bayes.core.algorithms import Algorithm, ReEstimation, Sequential
from relevance_bayes.core.algorithms.state import FitTrace
from relevance_bayes.core.basis import (
    Basis,
    Bias,
    ConstantFunction,
    Functions,
    Group,
    Inputs,
    KernelBasis,
    KernelFunctions,
    evaluate,
)
from relevance_bayes.core.errors import IllegalCombinationError
from relevance_bayes.core.inference.posterior import Augmentation
from relevance_bayes.core.kernels import Covariance
from relevance_bayes.core.kernels.hyperparameters import EvidencePerInputWidth, Learning
from relevance_bayes.core.likelihoods import BernoulliPerClass, GaussianNoise, Hurdle, Likelihood, TargetLikelihood
from relevance_bayes.core.likelihoods.base import LatentGaussian
from relevance_bayes.core.priors import GaussianProcess, Independent, Prior
from relevance_bayes.core.rows import Extremes, RowSource
from relevance_bayes.core.types import Array
from relevance_bayes.records.reports import Evidence

__all__ = [
    "Algorithm",
    "Basis",
    "ConstantFunction",
    "Functions",
    "KernelFunctions",
    "LogNoise",
    "Model",
    "Prior",
    "Spec",
    "TargetLikelihood",
    "check",
]


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


MARGIN = 0.1
"""The distance from the training range to the bounds on either side, over the length of the range."""


@dataclass(frozen=True, eq=False)
class InputRange:
    """Bounds of each input, `lower` (d,) and `upper` (d,), in the units of X.

    An input beyond them counts as the nearest bound, so that the latent and its variance are constant there. Where the
    mean of a target is the exponential of the latent, a trend that goes on, or a variance that grows to that of the
    prior, is otherwise a factor without a bound.
    """

    lower: Array
    upper: Array

    @classmethod
    def of(cls, source: RowSource) -> Self:
        """The range of the training rows and MARGIN of its length more on both sides."""
        extremes = source.reduce(Extremes.of)
        margin = MARGIN * (extremes.upper - extremes.lower)
        return cls(extremes.lower - margin, extremes.upper + margin)

    def __call__(self, X: Array) -> Array:
        """X (N, d) with inputs beyond a bound replaced by it."""
        return np.clip(X, self.lower, self.upper)


@dataclass(frozen=True, eq=False)
class Model:
    """A fitted sparse Bayes model. R functions, in the order of `functions`; every array is float64.

    `mean` (R,) of the weights' posterior, or (R, K) for K latents a row, and `covariance` (R, R), of each latent's;
    `alpha` (R,) their prior precisions, `gamma` (R,) in [0, 1]. `likelihood` with what was learned of it; `noise_sd` as
    learned or given, the root mean square over the training rows where each had its own, None where the likelihood has
    none. `inputs` is d, `candidates` M and `rows` N of the fit. `evidence` is in the targets' own units. `termination`
    is a value of `Termination`.

    Under a Gaussian process prior the kernel functions are first and `signal_variance` is the process's variance s,
    whose residual is part of the predictive variance. `jitter` was added to the diagonal of their kernel matrix, None
    for JITTER. Where the process `is_exact`, `covariance` (F, F) is that of the last F functions, the columns without
    kernel, alone. `last_gain` and `next_gain` in nats: the gain of the last function that entered, and of the best that
    did not. Under an independent prior `augmentation` is for error bars away from the data, None without. The functions
    are evaluated within `input_range`, which models under a log link have; None without bounds. Predictions are
    Student's t with `degrees_of_freedom`, Gaussian for None: see `with_degrees_of_freedom`. `trace` are the steps
    of the fit, None for a model that was stored.
    """

    likelihood: Likelihood
    functions: tuple[Functions, ...]
    mean: Array
    covariance: Array
    alpha: Array
    gamma: Array
    noise_sd: float | None
    evidence: Evidence
    inputs: int
    rows: int
    candidates: int
    termination: str
    signal_variance: float | None = None
    last_gain: float | None = None
    next_gain: float | None = None
    augmentation: Augmentation | None = None
    jitter: float | None = None
    log_noise: "LogNoise | None" = None
    input_range: InputRange | None = None
    degrees_of_freedom: float | None = None
    trace: FitTrace | None = None

    @property
    def variance_factor(self) -> float:
        """The factor of the variances of predictions: see `variance_factor`."""
        return variance_factor(self.rows, self.degrees_of_freedom)

    @property
    def is_exact(self) -> bool:
        """True of a process through the functions of all rows whose jitter is its noise: see `Whole.through_all`.

        The weights of the kernel functions are known given those of the other columns: (K + jitter I)^-1 (t - F w).
        Their covariance would lose to rounding what little noise leaves of the variance.
        """
        return len(self.covariance) < len(self.mean)

    @property
    def size(self) -> int:
        """The number of functions, those of the log noise included."""
        return len(self.mean) + (0 if self.log_noise is None else len(self.log_noise.model.mean))

    def within_range(self, X: Array) -> Array:
        """The inputs X (N, d) at which the model is evaluated: within its `input_range`, where it has one."""
        return X if self.input_range is None else self.input_range(X)

    def columns(self, X: Array) -> Array:
        """All functions at X (N, d), side by side: (N, R)."""
        return evaluate(self.functions, self.within_range(X))


def variance_factor(rows: int, degrees_of_freedom: float | None) -> float:
    """n/(n - 1) of n `rows` where predictions are Student's t, which the evidence's noise variance lacks; else 1."""
    return 1.0 if degrees_of_freedom is None else rows / (rows - 1.0)


@dataclass(frozen=True, eq=False)
class LogNoise:
    """The logarithm of a noise variance that depends on the inputs: the latent N(m, v) of a sparse model.

    The noise variance at x is E exp g(x) = exp(m + v/2). Its logarithm is clipped to `min_log` and `max_log`: the
    least at the training rows, and the greatest there plus log CEILING.
    """

    model: Model
    min_log: float
    max_log: float

    def variance(self, latent: LatentGaussian) -> Array:
        """The noise variance (N,) at this latent of `model`."""
        return np.exp(np.clip(latent.mean + 0.5 * latent.variance, self.min_log, self.max_log))
