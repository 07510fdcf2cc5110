"""The API's schemas of likelihoods: those of the core, and Gaussian noise given by a column."""

from dataclasses import dataclass
from typing import Literal

from relevance_bayes.core.likelihoods import ClassLikelihood, GaussianNoise, LogVariance, OtherNumberTarget
from relevance_bayes.core.spec import TargetLikelihood


@dataclass(frozen=True)
class NoiseColumn:
    """A column of numbers above 0: the sd of each row's noise, in the target's units."""

    __pydantic_config__ = {"extra": "forbid"}

    column: str


@dataclass(frozen=True)
class GaussianLikelihood:
    """y = f(x) + N(0, noise_sd^2); the noise is learned, given, given for each row, or a function of the inputs."""

    __pydantic_config__ = {"extra": "forbid"}

    noise_sd: Literal["learned", "heteroscedastic"] | float | NoiseColumn = "learned"
    type: Literal["gaussian"] = "gaussian"


AnyLikelihood = GaussianLikelihood | OtherNumberTarget | ClassLikelihood


def requested(likelihood: AnyLikelihood | None) -> tuple[TargetLikelihood | None, str | None]:
    """Return the core's likelihood, and the column of each row's noise."""
    if not isinstance(likelihood, GaussianLikelihood):
        return likelihood, None
    if isinstance(likelihood.noise_sd, NoiseColumn):
        return GaussianNoise("rows"), likelihood.noise_sd.column
    return GaussianNoise(likelihood.noise_sd), None


def shown(likelihood: TargetLikelihood, noise_column: str | None) -> AnyLikelihood:
    """Return the API's form of a likelihood."""
    assert not isinstance(likelihood, LogVariance), "expected the likelihood of a target"
    if not isinstance(likelihood, GaussianNoise):
        return likelihood
    if likelihood.noise_sd != "rows":
        return GaussianLikelihood(likelihood.noise_sd)
    assert noise_column is not None
    return GaussianLikelihood(NoiseColumn(noise_column))
