"""Validation of the parameters of likelihoods."""

from collections.abc import Iterator
from math import inf

from relevance_bayes.core.likelihoods import (
    Bernoulli,
    BernoulliPerClass,
    Categorical,
    GaussianNoise,
    Hurdle,
    LogVariance,
    OneAgainstRest,
    StudentT,
    TargetLikelihood,
)
from relevance_bayes.documents.validation.figures import POSITIVE, Figure, Interval, figure_faults
from relevance_bayes.records.errors import Fault
from relevance_bayes.tables.encoding.table import MAX_SCALED

NOISE_SD = Interval(1.0 / MAX_SCALED, MAX_SCALED)
DEGREES_OF_FREEDOM = Interval(2.0, inf, is_open=True)


def likelihood_faults(likelihood: TargetLikelihood, where: str, classes: int) -> Iterator[Fault]:
    """Yield faults of the given parameters, for a target of so many `classes`."""
    figures: list[Figure] = []
    match likelihood:
        case GaussianNoise(noise_sd=float() | int() as sd):
            figures.append((f"{where}/noise_sd", sd, NOISE_SD))
        case StudentT(degrees_of_freedom=float() | int() as dof):
            figures.append((f"{where}/degrees_of_freedom", dof, DEGREES_OF_FREEDOM))
        case LogVariance():
            yield Fault("Expected the likelihood of a target, got that of a log variance.", where)
        case Bernoulli() | Categorical() | OneAgainstRest() | BernoulliPerClass():
            if likelihood.temperature != "learned":
                figures.append((f"{where}/temperature", likelihood.temperature, POSITIVE))
        case _:
            pass
    if not isinstance(likelihood, BernoulliPerClass | Hurdle) and (shape := likelihood.shape) is not None:
        figures.append((f"{where}/{shape.name}", shape.of(likelihood), Interval(shape.min_value, shape.max_value)))
    if isinstance(likelihood, OneAgainstRest | Categorical | BernoulliPerClass):
        figures.append((f"{where}/classes", likelihood.classes, Interval(classes, classes)))
    yield from figure_faults(figures)


def noise_by_row_faults(likelihood: TargetLikelihood, where: str, noise_column: str | None) -> Iterator[Fault]:
    """Return a fault for noise by row where no column has it."""
    if likelihood.noise_by_row and noise_column is None:
        yield Fault("Noise by row needs the target's `noise_column`.", f"{where}/noise_sd")
