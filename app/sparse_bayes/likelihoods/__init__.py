"""Likelihoods, one a file; the union is the registry.

A likelihood gives log p(t | f), its sites (precision and gradient at f) and the slope of the precision; `expected`
gives the sites where the latent is uncertain, `predictive` what it makes of the latent at new points. `working` are the
targets that all this is said of, with what the evidence of the user's own has beside theirs; `first` the latents that
an iteration over sites begins at; `tuned` the likelihood with what it learns itself at its best.

Wherever a noise precision beta is asked for it is one number, or one for each row. `noise_by_row`: each row's noise is
known and comes with the row.

`conjugate`: the sites don't depend on f, so that the evidence has a closed form. `constant_precision`: the precisions
are known up to the factor beta, whatever f, so that sums over rows need to be made only once. `log_concave`: there is
one mode, and Laplace's approximation about it. `latents`: how many a row has; where they are K, f is (N, K), and so may
the working targets be. `in_target_units`: the latent is measured as the targets are, and a row says much of it.
`greatest_latent_sd` bounds the prior of one function where the data can't: classes that can be separated would send it
to infinity, though the probabilities have long stopped to change. `least_gain` is what a function must bring, in nats,
where the prior doesn't say.
"""

from app.sparse_bayes.likelihoods.bernoulli import Bernoulli
from app.sparse_bayes.likelihoods.bernoulli_per_class import BernoulliPerClass
from app.sparse_bayes.likelihoods.categorical import Categorical
from app.sparse_bayes.likelihoods.gaussian import GaussianNoise
from app.sparse_bayes.likelihoods.log_gaussian import LogGaussian
from app.sparse_bayes.likelihoods.log_variance import LogVariance
from app.sparse_bayes.likelihoods.one_against_rest import OneAgainstRest
from app.sparse_bayes.likelihoods.poisson import Poisson
from app.sparse_bayes.likelihoods.student_t import StudentT

Likelihood = GaussianNoise | LogGaussian | StudentT | Poisson | Bernoulli | Categorical | OneAgainstRest | LogVariance
"""Those that one model has: of targets, or that of the log noise variance of a model of them."""

TargetLikelihood = Likelihood | BernoulliPerClass
"""Those that a target is learned by: of one model, or of one for each class."""

ClassLikelihood = Bernoulli | Categorical | OneAgainstRest | BernoulliPerClass
"""Those of classes, whose probabilities have a temperature."""

Coupled = Categorical
"""Those whose rows have several latents, which the target couples."""

__all__ = [
    "Bernoulli",
    "BernoulliPerClass",
    "Categorical",
    "ClassLikelihood",
    "Coupled",
    "GaussianNoise",
    "Likelihood",
    "LogGaussian",
    "LogVariance",
    "OneAgainstRest",
    "Poisson",
    "StudentT",
    "TargetLikelihood",
]
