"""Likelihoods of targets that are classes: what they predict, as formulas that exports trace."""

from abc import abstractmethod
from typing import Protocol

import numpy as np

from relevance_bayes.core.likelihoods.base import LikelihoodBase
from relevance_bayes.core.likelihoods.predictive import ClassPrediction, Latent
from relevance_bayes.core.numpy_namespace import NUMPY
from relevance_bayes.core.tracing import A, ExtendedNamespace
from relevance_bayes.core.types import Array, ForRows


class PredictsClasses(Protocol):
    """The base of the likelihoods of classes: `probabilities`."""

    def probabilities(self, xp: ExtendedNamespace[A], mean: A, variance: A, noise: A) -> A:
        """The probabilities (N, K) of the K classes where the latents are N(mean, variance).

        `mean` is (N, 1) where a row has one latent, else (N, K); `variance` (N, 1), or (N, K) where each latent has its
        own; `noise` (N, 1), the noise's variance, 0 where there is none.
        """
        ...


class ClassLikelihoodBase(LikelihoodBase):
    """A likelihood of classes; in place of `predictive` it gives the probabilities as a formula."""

    @abstractmethod
    def probabilities(self, xp: ExtendedNamespace[A], mean: A, variance: A, noise: A) -> A:
        """See `PredictsClasses`."""

    def predictive(self, latent: Latent, noise_sd: ForRows | None) -> ClassPrediction:
        """The probabilities, the latent's variance integrated."""
        return predicted(self, latent, noise_sd)


def predicted(likelihood: PredictsClasses, latent: Latent, noise_sd: ForRows | None) -> ClassPrediction:
    """The prediction of a likelihood of classes at N latents."""
    variance = latent.variance
    noise = np.empty((len(latent.mean), 1))
    noise[:, 0] = np.square(0.0 if noise_sd is None else noise_sd)
    probabilities = likelihood.probabilities(NUMPY, _columns(latent.mean), _columns(variance), noise)
    return ClassPrediction(probabilities, latent.mean, variance)


def _columns(values: Array) -> Array:
    return values[:, None] if values.ndim == 1 else values
