"""Likelihoods of targets that are numbers: what they predict, as formulas that exports trace."""

from abc import abstractmethod

from relevance_bayes.core.likelihoods.base import LikelihoodBase
from relevance_bayes.core.likelihoods.predictive import Latent, NumberPrediction
from relevance_bayes.core.tracing import A, ExtendedNamespace, Namespace
from relevance_bayes.core.types import ForRows


class NumberLikelihood(LikelihoodBase):
    """A likelihood of numbers; in place of `predictive` alone it gives the moments of its predictions as a formula."""

    @abstractmethod
    def moments(self, xp: Namespace[A], mean: A, variance: A, noise: A) -> tuple[A, A, A]:
        """E t, E Var(t | f) and Var E(t | f) where the latent is N(mean, variance) and the noise has this variance."""

    def ends(self, xp: ExtendedNamespace[A], mean: A, variance: A, noise: A, z: float) -> tuple[A, A] | None:
        """The quantiles of t at -z and z standard normal sds, where they have a formula."""
        return None

    @abstractmethod
    def predictive(self, latent: Latent, noise_sd: ForRows | None) -> NumberPrediction: ...
