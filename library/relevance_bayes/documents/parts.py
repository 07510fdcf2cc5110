"""The schema of a model's functions in a document; `docs/reference/document.md` describes its members."""

from dataclasses import dataclass
from typing import Annotated, Literal, TypeAlias

from pydantic import FailFast, Field

from relevance_bayes.core.kernels import Kernel
from relevance_bayes.documents.numbers import Count, Matrix, Places, PositiveVector, Vector
from relevance_bayes.records.annotations import OneOf

FIRST_FAULT = FailFast()
"""The first fault of an array is enough: a million of them would take more memory than the array."""


@dataclass(frozen=True, kw_only=True)
class Part:
    """A part of a document, without unknown members."""

    __pydantic_config__ = {"extra": "forbid"}


@dataclass(frozen=True, kw_only=True)
class TermPart(Part):
    """An input with a term of its own in an additive kernel."""

    input: Count
    share: Annotated[float, Field(gt=0.0, lt=1.0)]


@dataclass(frozen=True, kw_only=True)
class KernelPart(Part):
    """k(u(x), u(z)), one for each centre z."""

    type: Literal["kernel"]
    kernel: Annotated[Kernel, OneOf("type")]
    terms: Annotated[list[TermPart], FIRST_FAULT]
    widths: PositiveVector
    skew: Vector | None
    tail: Vector | None
    centres: Matrix


@dataclass(frozen=True, kw_only=True)
class BiasPart(Part):
    """The function 1."""

    type: Literal["bias"]


@dataclass(frozen=True, kw_only=True)
class InputsPart(Part):
    """Columns of X."""

    type: Literal["inputs"]
    columns: Places


@dataclass(frozen=True, kw_only=True)
class StepsPart(Part):
    """Step functions of inputs, 1 above a position."""

    type: Literal["steps"]
    inputs: Places
    locations: Vector


@dataclass(frozen=True, kw_only=True)
class WavesPart(Part):
    """Cosines of inputs."""

    type: Literal["fourier"]
    inputs: Places
    origins: Vector
    frequencies: Vector
    phases: Vector


@dataclass(frozen=True, kw_only=True)
class SplinesPart(Part):
    """B-splines of inputs."""

    type: Literal["b_splines"]
    degree: Annotated[int, Field(ge=1, le=7)]
    inputs: Places
    locations: Vector
    scales: PositiveVector


@dataclass(frozen=True, kw_only=True)
class WaveletsPart(Part):
    """Waves under a Gaussian."""

    type: Literal["gabor"]
    centres: Matrix
    scales: PositiveVector
    frequencies: Matrix
    phases: Vector


SinglePart: TypeAlias = KernelPart | BiasPart | InputsPart | StepsPart | WavesPart | SplinesPart | WaveletsPart


@dataclass(frozen=True, kw_only=True)
class GroupPart(Part):
    """Functions of only some columns of X."""

    type: Literal["group"]
    columns: Places
    of: Annotated[SinglePart, OneOf("type")]


FunctionsPart: TypeAlias = SinglePart | GroupPart
