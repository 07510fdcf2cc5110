"""The API's schemas of basis functions and likelihoods."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from pydantic import BaseModel

from relevance_bayes.core.basis import Basis, Group, Single
from relevance_bayes.core.likelihoods import ClassLikelihood, GaussianNoise, Hurdle, LogVariance, OtherNumberTarget
from relevance_bayes.core.spec import TargetLikelihood


class GroupOut(BaseModel):
    """A group: functions of the named inputs only."""

    inputs: Sequence[str]
    of: Single
    type: Literal["group"] = "group"


BasisOut = Single | GroupOut


def shown_bases(bases: Sequence[Basis], inputs: Sequence[str]) -> list[BasisOut]:
    """Return the API's form of a plan's bases, whose groups index its `inputs`."""
    return [
        GroupOut(inputs=[inputs[place] for place in basis.inputs], of=basis.of) if isinstance(basis, Group) else basis
        for basis in bases
    ]


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


AnyLikelihood = GaussianLikelihood | OtherNumberTarget | Hurdle | ClassLikelihood


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
