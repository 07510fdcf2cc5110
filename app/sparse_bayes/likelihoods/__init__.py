"""Likelihoods, one a file; the union is the registry.

A likelihood is a frozen dataclass that derives from `LikelihoodBase`, which says what it has to give and what follows
from that: of counts `CountLikelihood`, of other numbers `NumberLikelihood`. The API's schema, the command line's
option, planning, predictions, documents, ONNX and the generated Python file follow from the class and its name in a
union: in `OtherNumberTarget` or in `ClassTarget`.

Wherever a noise precision beta is asked for it is one number, or one for each row.
"""

from app.sparse_bayes.likelihoods.bernoulli import Bernoulli
from app.sparse_bayes.likelihoods.bernoulli_per_class import BernoulliPerClass
from app.sparse_bayes.likelihoods.categorical import Categorical
from app.sparse_bayes.likelihoods.gaussian import GaussianNoise
from app.sparse_bayes.likelihoods.log_gaussian import LogGaussian
from app.sparse_bayes.likelihoods.log_variance import LogVariance
from app.sparse_bayes.likelihoods.negative_binomial import NegativeBinomial
from app.sparse_bayes.likelihoods.one_against_rest import OneAgainstRest
from app.sparse_bayes.likelihoods.poisson import Poisson
from app.sparse_bayes.likelihoods.student_t import StudentT

OtherNumberTarget = StudentT | LogGaussian | Poisson | NegativeBinomial
"""Those of numbers but Gaussian noise, whose noise may stand in a column."""

NumberTarget = GaussianNoise | OtherNumberTarget
"""Those of targets that are numbers."""

ClassTarget = Bernoulli | Categorical | OneAgainstRest
"""Those of classes that one model has."""

Likelihood = NumberTarget | ClassTarget | LogVariance
"""Those that one model has: of targets, or that of the log noise variance of a model of them."""

TargetLikelihood = Likelihood | BernoulliPerClass
"""Those that a target is learned by: of one model, or of one for each class."""

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
    "Likelihood",
    "LogGaussian",
    "LogVariance",
    "NumberTarget",
    "OneAgainstRest",
    "OtherNumberTarget",
    "Poisson",
    "StudentT",
    "TargetLikelihood",
]
