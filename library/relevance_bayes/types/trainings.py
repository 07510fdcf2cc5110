"""Trainings, with their resolved requests and progress."""

from dataclasses import dataclass
from typing import Literal

from relevance_bayes.types.jobs import JobBase
from relevance_bayes.types.values import IgnoredColumn, InputColumn


@dataclass(frozen=True, kw_only=True)
class Job(JobBase):
    """The members of all trainings, including the input columns. Unknown tasks have only these."""

    task: str
    inputs: tuple[InputColumn, ...]
    ignored: tuple[IgnoredColumn, ...]


@dataclass(frozen=True, kw_only=True)
class ApproximationJob(Job):
    """A training of an approximation, with its resolved request."""

    task: Literal["approximation"]
    coefficients: str | None
    widths: tuple[float, ...]
    """One for each of the inputs, in its units."""
    constant: float
    tolerance: float
    """The maximum relative error of the approximation."""
    max_functions: int | None
    density: bool


@dataclass(frozen=True, kw_only=True)
class ImageJob(Job):
    """A training of an image code, with its resolved request."""

    task: Literal["image"]
    height: int
    width: int
    peak: float
    """The peak of the signal-to-noise ratio `psnr`."""
    max_functions: int | None
    psnr: float | None
    """In dB."""
    noise_sd: float | None
