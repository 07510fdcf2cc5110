"""A model of zeros and a model of positive targets as one."""

from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from relevance_bayes.core.basis import Functions, GroupFunctions, Inputs, KernelBasis, KernelFunctions
from relevance_bayes.core.errors import SparseBayesError
from relevance_bayes.core.kernels.hyperparameters import SHRINKAGE, EvidencePerInputWidth
from relevance_bayes.core.likelihoods import Hurdle
from relevance_bayes.core.likelihoods.base import ClassPrediction
from relevance_bayes.core.likelihoods.hurdle import HurdlePrediction
from relevance_bayes.core.likelihoods.transformed_gaussian import PositivePrediction
from relevance_bayes.core.models.model import Model, Spec
from relevance_bayes.core.models.prediction import Ready
from relevance_bayes.core.priors import GaussianProcess
from relevance_bayes.core.types import Array, Indices


@dataclass(frozen=True, eq=False)
class HurdleModel:
    """The models of zeros, of all rows, and of `positive` targets, of the rows that have them; `likelihood` is that of
    the whole."""

    zero: Model
    positive: Model
    likelihood: Hurdle

    @property
    def members(self) -> tuple[Model, Model]:
        """Both models, that of zeros first."""
        return self.zero, self.positive


@dataclass(frozen=True, eq=False)
class ReadyHurdle:
    """Both models, factorised for predictions."""

    zero: Ready
    positive: Ready
    likelihood: Hurdle

    @classmethod
    def of(cls, model: HurdleModel) -> Self:
        """The models factorised; raises NotPositiveDefiniteError."""
        return cls(Ready.of(model.zero), Ready.of(model.positive), model.likelihood)

    @property
    def members(self) -> tuple[Ready, Ready]:
        """Both models, that of zeros first."""
        return self.zero, self.positive

    def predict(self, X: Array, noise_sd: Array | None = None) -> tuple[HurdlePrediction, Array | None]:
        """The predictive distribution at X (N, d), and its `support` (N,): the mean over the models that have one.

        The noise is that of the model: `noise_sd` is None. Raises DataError.
        """
        latent = self.zero.checked(X, noise_sd)
        is_zero = self.zero.model.likelihood.predictive(latent, None)
        positive, support = self.positive.predict(X)
        if not isinstance(is_zero, ClassPrediction) or not isinstance(positive, PositivePrediction):
            raise SparseBayesError("expected a model of two classes, and one of the logarithm")
        known = [one for one in (latent.support, support) if one is not None]
        mean = np.asarray(np.mean(known, axis=0)) if known else None
        return HurdlePrediction.of(is_zero, latent, positive), mean


def of_all_rows(model: Model, numbers: Indices) -> Model:
    """A model of some rows with the numbers (n,) that these have among all rows."""
    functions = tuple(_renumbered(one, numbers) for one in model.functions)
    trace = None if model.trace is None else model.trace.renumbered(numbers)
    return replace(model, functions=functions, trace=trace)


def _renumbered(functions: Functions, numbers: Indices) -> Functions:
    match functions:
        case KernelFunctions():
            return replace(functions, rows=numbers[functions.rows])
        case GroupFunctions(of=KernelFunctions() as single):
            return replace(functions, of=replace(single, rows=numbers[single.rows]))
        case _:
            return functions


def member_specs(spec: Spec) -> tuple[Spec, Spec]:
    """The specs of both models of a spec, that of zeros first.

    Under a Gaussian process prior zeros have neither linear columns nor warps, and their widths the hyperprior of
    those of classes.
    """
    zero, positive = (replace(spec, likelihood=one) for one in (Hurdle.zero, Hurdle.positive))
    prior = spec.prior
    if not isinstance(prior, GaussianProcess):
        return zero, positive
    min_gain = Hurdle.zero.min_gain if prior.min_gain == Hurdle.min_gain else prior.min_gain
    basis = tuple(_of_zeros(one) if isinstance(one, KernelBasis) else one for one in spec.basis)
    return (
        replace(
            zero,
            basis=tuple(one for one in basis if not isinstance(one, Inputs)),
            prior=replace(prior, inducing_points="rows", min_gain=min_gain),
        ),
        positive,
    )


def _of_zeros(basis: KernelBasis) -> KernelBasis:
    width = basis.width
    shrunk = EvidencePerInputWidth(SHRINKAGE) if isinstance(width, EvidencePerInputWidth) else width
    return replace(basis, width=shrunk, warp="none")
