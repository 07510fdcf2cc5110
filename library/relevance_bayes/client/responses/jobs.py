"""Trainings, and what happens to them."""

from dataclasses import dataclass
from typing import Annotated, Literal, TypeAlias

from relevance_bayes.client.responses.values import Choice
from relevance_bayes.types.annotations import OneOf
from relevance_bayes.types.trainings import ApproximationJob, ImageJob, Job
from relevance_bayes.types.values import Label


@dataclass(frozen=True)
class ComparedModel:
    """Another way to fit the same functions."""

    prior: Choice
    likelihood: Choice


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
    local: Choice | None = None


@dataclass(frozen=True, kw_only=True)
class RegressionJob(SupervisedJob):
    """A training to predict a number."""

    task: Literal["regression"] = "regression"


@dataclass(frozen=True, kw_only=True)
class ClassificationJob(SupervisedJob):
    """A training to predict a class."""

    task: Literal["classification"] = "classification"


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
