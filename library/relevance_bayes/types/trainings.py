"""Trainings: the resolved request, and its progress."""

from dataclasses import dataclass
from typing import Literal

from relevance_bayes.types.inputs import IgnoredColumn, InputColumn
from relevance_bayes.types.jobs import JobBase


@dataclass(frozen=True, kw_only=True)
class Job(JobBase):
    """The members of all trainings: also the columns that they read. Unknown tasks are read as this alone."""

    task: str
    inputs: tuple[InputColumn, ...]
    ignored: tuple[IgnoredColumn, ...]


@dataclass(frozen=True, kw_only=True)
class ApproximationJob(Job):
    """An approximation of a known function by few terms: the resolved request, and its progress."""

    task: Literal["approximation"]
    coefficients: str | None
    widths: tuple[float, ...]
    """One for each of the inputs, in its units."""
    constant: float
    tolerance: float
    """The share of the function that may be missed."""
    max_functions: int | None
    density: bool


@dataclass(frozen=True, kw_only=True)
class ImageJob(Job):
    """An encoding of an image by few wavelets: the resolved request, and its progress."""

    task: Literal["image"]
    height: int
    width: int
    peak: float
    """The peak of the signal-to-noise ratio `psnr`."""
    max_functions: int | None
    psnr: float | None
    """In dB."""
    noise_sd: float | None
