"""Several models of one target as one: the product of their predictive densities.

[CAO2014] is Cao & Fleet, Generalized product of experts for automatic and principled fusion of Gaussian process
predictions, arXiv:1410.7827.
"""

from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np

from relevance_bayes.core.errors import SparseBayesError
from relevance_bayes.core.likelihoods import ClassLikelihood, TargetLikelihood
from relevance_bayes.core.likelihoods.gaussian import RealPrediction
from relevance_bayes.core.local_model import LocalModel, ReadyLocal
from relevance_bayes.core.model import Model
from relevance_bayes.core.per_class import PerClass, ReadyPerClass
from relevance_bayes.core.prediction import Ready
from relevance_bayes.core.types import Array


@dataclass(frozen=True, eq=False)
class Pool:
    """Models of one target under Gaussian noise, and the weights (K,) of their densities, which add to 1."""

    members: tuple[Model, ...]
    weights: Array


LearnedModel: TypeAlias = Model | Pool | PerClass | LocalModel
"""The result of a fit: one model, several that predict together, or a process that predicts from neighbours."""


def members_of(model: LearnedModel) -> tuple[Model, ...]:
    """The sparse models that predict together, or the model alone; the trend of a local model, where it has one."""
    match model:
        case Model():
            return (model,)
        case LocalModel(trend=trend):
            return () if trend is None else (trend,)
        case _:
            return model.members


def representative(model: LearnedModel) -> Model | LocalModel:
    """The model whose `rows`, `candidates` and `termination` are those of the whole."""
    return model if isinstance(model, LocalModel) else members_of(model)[0]


def alone(model: LearnedModel) -> Model:
    """The model itself; raises SparseBayesError for a pool and the like."""
    if not isinstance(model, Model):
        raise SparseBayesError("expected one model, got several that predict together")
    return model


def likelihood_of(model: LearnedModel) -> TargetLikelihood:
    """The likelihood of the target; the members of a pool share it."""
    return model.members[0].likelihood if isinstance(model, Pool) else model.likelihood


def has_latent_per_class(model: LearnedModel) -> bool:
    """True where rows have a latent for each class, and not one alone."""
    return likelihood_of(model).latents > 1


def at_temperature(model: LearnedModel, temperature: float) -> LearnedModel:
    """A model of classes whose probabilities have another temperature; raises SparseBayesError for one of numbers."""
    if isinstance(model, PerClass):
        return replace(model, likelihood=replace(model.likelihood, temperature=temperature))
    single = alone(model)
    if not isinstance(single.likelihood, ClassLikelihood):
        raise SparseBayesError(f"expected classes, got {single.likelihood.type}")
    return replace(single, likelihood=replace(single.likelihood, temperature=temperature))


def n_functions(model: LearnedModel) -> int:
    """The number of a model's functions, summed over members, those of their log noise included."""
    return sum(member.size for member in members_of(model))


@dataclass(frozen=True, eq=False)
class ReadyPool:
    """A pool whose members are factorised for predictions."""

    members: tuple[Ready, ...]
    weights: Array

    def predict(self, X: Array, noise_sd: Array | None = None) -> tuple[RealPrediction, Array | None]:
        """The predictive distribution at X (N, d), and its `support` (N,); see `Ready.predict`.

        1/v = sum_k w_k / v_k and m = sum_k r_k m_k, with the shares r_k = w_k v / v_k, which add to 1 [CAO2014, eq. 4].
        A part of the variance is v sum_k r_k part_k / v_k, so that the parts add to v.
        """
        found, supports = self.predictions(X, noise_sd)
        # (4, K, N): means, and the three parts of the variances.
        figures = np.array([[one.mean for one in found], *([getattr(one, name) for one in found] for name in PARTS)])
        variances = figures[1:].sum(axis=0)
        shares = self.shares(variances)
        mean = np.einsum("kn,kn->n", shares, figures[0])
        variance = 1.0 / np.einsum("k,kn->n", self.weights, 1.0 / variances)
        noise, weights, residual = variance * np.einsum("kn,pkn->pn", shares / variances, figures[1:])
        known = [support for support in supports if support is not None]
        support = np.einsum("kn,kn->n", shares, np.array(known)) if len(known) == len(supports) else None
        return RealPrediction(mean, noise, weights, residual), support

    def predictions(self, X: Array, noise_sd: Array | None) -> tuple[list[RealPrediction], list[Array | None]]:
        """The predictions of the members at X (N, d), and their supports (N,)."""
        found, supports = list[RealPrediction](), list[Array | None]()
        for member in self.members:
            prediction, support = member.predict(X, noise_sd)
            if not isinstance(prediction, RealPrediction):
                raise SparseBayesError(f"expected Gaussian noise, got {member.model.likelihood.type}")
            found.append(prediction)
            supports.append(support)
        return found, supports

    def shares(self, variances: Array) -> Array:
        """The members' shares (K, N) in the mean, which add to 1, from their variances (K, N)."""
        precisions = self.weights[:, None] / variances
        return np.asarray(precisions / precisions.sum(axis=0))


PARTS = ("noise", "weights", "residual")

AnyReady: TypeAlias = Ready | ReadyPool | ReadyPerClass | ReadyLocal


def ready_members(ready: AnyReady) -> tuple[Ready, ...]:
    """The models that predict together, or the model alone, each factorised for predictions."""
    return (ready,) if isinstance(ready, Ready) else ready.members


def ready_of(model: LearnedModel) -> AnyReady:
    """A model factorised for predictions; raises NotPositiveDefiniteError."""
    match model:
        case Model():
            return Ready.of(model)
        case Pool(members=members, weights=weights):
            return ReadyPool(tuple(map(Ready.of, members)), weights)
        case PerClass(members=members, likelihood=likelihood):
            return ReadyPerClass(tuple(map(Ready.of, members)), likelihood)
        case LocalModel():
            return ReadyLocal.of(model)
