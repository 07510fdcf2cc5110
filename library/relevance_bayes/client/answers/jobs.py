"""Trainings, and what happens to them."""

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Literal, TypeAlias

from relevance_bayes.client.answers.datasets import Choice
from relevance_bayes.client.errors import Problem
from relevance_bayes.types.annotations import OneOf
from relevance_bayes.types.inputs import IgnoredColumn, InputColumn
from relevance_bayes.types.jobs import FINISHED, JobState, Progress, Resumption, Transition, VersionName
from relevance_bayes.types.values import Label


@dataclass(frozen=True)
class ComparedModel:
    """Another way to fit the same functions."""

    prior: Choice
    likelihood: Choice


@dataclass(frozen=True, kw_only=True)
class JobBase:
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
    def has_ended(self) -> bool:
        """Whether nothing more will happen to it."""
        return self.state in FINISHED


@dataclass(frozen=True, kw_only=True)
class Job(JobBase):
    """What every training has: also the columns that it reads. One of a task that is not known here is this alone."""

    task: str
    inputs: tuple[InputColumn, ...]
    ignored: tuple[IgnoredColumn, ...]


@dataclass(frozen=True, kw_only=True)
class SupervisedJob(Job):
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


@dataclass(frozen=True, kw_only=True)
class RegressionJob(SupervisedJob):
    """A training to predict a number."""

    task: Literal["regression"] = "regression"


@dataclass(frozen=True, kw_only=True)
class ClassificationJob(SupervisedJob):
    """A training to predict a class."""

    task: Literal["classification"] = "classification"


@dataclass(frozen=True, kw_only=True)
class ApproximationJob(Job):
    """A known function to be told by few terms: what was asked for, resolved; `widths` of the inputs."""

    task: Literal["approximation"] = "approximation"

    coefficients: str | None
    widths: tuple[float, ...]
    constant: float
    tolerance: float
    max_functions: int | None
    density: bool


@dataclass(frozen=True, kw_only=True)
class ImageJob(Job):
    """An image to be told by few wavelets: what was asked for, resolved; `psnr`, in dB, is beside the `peak`."""

    task: Literal["image"] = "image"

    height: int
    width: int
    peak: float
    max_functions: int | None
    psnr: float | None
    noise_sd: float | None


@dataclass(frozen=True, kw_only=True)
class ComponentsJob(Job):
    """Components of rows: what was asked for, resolved; `widths` one or of the inputs, None where it follows."""

    task: Literal["components"] = "components"

    kernel: Choice
    widths: tuple[float, ...] | None
    min_explained_variance: float
    standardise: bool
    missing: str
    seed: int


TrainingJob: TypeAlias = Annotated[
    RegressionJob | ClassificationJob | ApproximationJob | ImageJob | ComponentsJob | Job, OneOf("task")
]
