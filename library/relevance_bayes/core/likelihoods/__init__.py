"""Likelihoods, one a file; the union is the registry.

A likelihood is a frozen dataclass that derives from `LikelihoodBase`, which declares its methods and their defaults: of
counts `CountLikelihood`, of other numbers `NumberLikelihood`, of classes `ClassLikelihoodBase`. The API's schema, the
command line's option, planning, predictions, documents, ONNX and the generated Python file follow from the class and
its name in a union: in `OtherNumberTarget` or in `ClassTarget`.

A noise precision beta is one number, or one for each row.
"""

from relevance_bayes.core.likelihoods.bernoulli import Bernoulli
from relevance_bayes.core.likelihoods.categorical import BernoulliPerClass, Categorical, OneAgainstRest
from relevance_bayes.core.likelihoods.counts import NegativeBinomial, Poisson
from relevance_bayes.core.likelihoods.gaussian import GaussianNoise
from relevance_bayes.core.likelihoods.hurdle import Hurdle
from relevance_bayes.core.likelihoods.student_t import StudentT
from relevance_bayes.core.likelihoods.transformed_gaussian import (
    LogGaussian,
    LogitGaussian,
    LogVariance,
    TransformedGaussian,
)

OtherNumberTarget = StudentT | LogGaussian | LogitGaussian | Poisson | NegativeBinomial
"""Those of numbers except Gaussian noise, whose noise may be given by a column."""

NumberTarget = GaussianNoise | OtherNumberTarget
"""Those of targets that are numbers."""

ClassTarget = Bernoulli | Categorical | OneAgainstRest
"""Those of classes that one model has."""

Likelihood = NumberTarget | ClassTarget | LogVariance
"""Those that one model has: of targets, or that of the log noise variance of a model of them."""

TargetLikelihood = Likelihood | BernoulliPerClass | Hurdle
"""Those that a target is learned by: of one model, of one for each class, or of one of zeros and one of all others."""

ClassLikelihood = ClassTarget | BernoulliPerClass
"""Those of classes, whose probabilities have a temperature."""

Coupled = Categorical
"""Those whose rows have several latents, which the target couples."""

__all__ = [
    "Bernoulli",
    "BernoulliPerClass",
    "Categorical",
    "ClassLikelihood",
    "ClassTarget",
    "Coupled",
    "GaussianNoise",
    "Hurdle",
    "Likelihood",
    "LogGaussian",
    "LogVariance",
    "LogitGaussian",
    "NegativeBinomial",
    "NumberTarget",
    "OneAgainstRest",
    "OtherNumberTarget",
    "Poisson",
    "StudentT",
    "TargetLikelihood",
    "TransformedGaussian",
]
