"""Trainings, and what happens to them."""

from dataclasses import dataclass
from datetime import datetime
from typing import TypeAlias

import msgspec

from relevance_bayes.client.answers.datasets import Choice
from relevance_bayes.client.errors import Problem
from relevance_bayes.types.inputs import IgnoredColumn, InputColumn
from relevance_bayes.types.jobs import FINISHED, JobState, Progress, Resumption, Transition, VersionName
from relevance_bayes.types.values import Label


@dataclass(frozen=True)
class ComparedModel:
    """Another way to fit the same functions."""

    prior: Choice
    likelihood: Choice


class JobBase(msgspec.Struct, frozen=True, kw_only=True, tag_field="task"):
    """What every job has: how far it is."""

    id: str
    state: JobState
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None
    cancel_requested_at: datetime | None
    attempt: int
    resumed_from: Resumption | None = None
    progress: Progress | None
    version: VersionName | None
    error: Problem | None
    transitions: tuple[Transition, ...]
    dataset_id: str
    model: str
    priority: int = 0
    retry_of: str | None = None

    @property
    def task(self) -> str:
        """What is learned, or was."""
        return str(self.__struct_config__.tag)

    @property
    def has_ended(self) -> bool:
        """Whether nothing more will happen to it."""
        return self.state in FINISHED


class Job(JobBase, frozen=True, kw_only=True):
    """What every training has: also the columns that it reads."""

    inputs: tuple[InputColumn, ...]
    ignored: tuple[IgnoredColumn, ...]


class SupervisedJob(Job, frozen=True, kw_only=True):
    """A training to predict numbers or classes: what was asked for, resolved."""

    task_reason: str
    target: str
    classes: tuple[Label, ...]
    likelihood: Choice
    basis: tuple[Choice, ...]
    prior: Choice
    algorithm: Choice
    compared_models: tuple[ComparedModel, ...]
    standardise: bool
    missing: str
    split: Choice
    holdout: float
    seed: int
    validation: Choice | None = None
    effort: str = "quick"
    max_score_loss: float = 0.01
    pool: tuple[Choice, ...] = ()
    alternatives: tuple[Choice, ...] = ()


class RegressionJob(SupervisedJob, frozen=True, kw_only=True, tag="regression"):
    """A training to predict a number."""


class ClassificationJob(SupervisedJob, frozen=True, kw_only=True, tag="classification"):
    """A training to predict a class."""


class ApproximationJob(Job, frozen=True, kw_only=True, tag="approximation"):
    """A known function to be told by few terms: what was asked for, resolved; `widths` of the inputs."""

    coefficients: str | None
    widths: tuple[float, ...]
    constant: float
    tolerance: float
    max_functions: int | None
    density: bool


class ImageJob(Job, frozen=True, kw_only=True, tag="image"):
    """An image to be told by few wavelets: what was asked for, resolved; `psnr`, in dB, is beside the `peak`."""

    height: int
    width: int
    peak: float
    max_functions: int | None
    psnr: float | None
    noise_sd: float | None


class ComponentsJob(Job, frozen=True, kw_only=True, tag="components"):
    """Components of rows: what was asked for, resolved; `widths` one or of the inputs, None where it follows."""

    kernel: Choice
    widths: tuple[float, ...] | None
    min_explained_variance: float
    standardise: bool
    missing: str
    seed: int


TrainingJob: TypeAlias = RegressionJob | ClassificationJob | ApproximationJob | ImageJob | ComponentsJob
