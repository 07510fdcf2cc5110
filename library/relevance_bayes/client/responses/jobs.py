"""Trainings."""

from dataclasses import dataclass
from typing import Annotated, Literal, TypeAlias

from relevance_bayes.types.annotations import OneOf
from relevance_bayes.types.reports import BudgetPlan
from relevance_bayes.types.trainings import ApproximationJob, ImageJob, Job
from relevance_bayes.types.values import Choice, Label


@dataclass(frozen=True)
class ComparedModel:
    """An alternative fit of the same functions."""

    prior: Choice
    likelihood: Choice


@dataclass(frozen=True, kw_only=True)
class SupervisedJob(Job):
    """A training of numbers or classes, with its resolved request."""

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
    missing_reason: str = ""
    split: Choice
    holdout: float
    seed: int
    validation: Choice | None = None
    effort: str = "quick"
    max_score_loss: float = 0.01
    pool: tuple[Choice, ...] = ()
    alternatives: tuple[Choice, ...] = ()
    local: Choice | None = None
    budget: BudgetPlan | None = None
    positive_class: Label | None = None
    dates: str = "time"
    text: str = "leave_out"
    keep_rows: bool = True


@dataclass(frozen=True, kw_only=True)
class RegressionJob(SupervisedJob):
    """A training of numbers."""

    task: Literal["regression"] = "regression"


@dataclass(frozen=True, kw_only=True)
class ClassificationJob(SupervisedJob):
    """A training of classes."""

    task: Literal["classification"] = "classification"


@dataclass(frozen=True, kw_only=True)
class ComponentsJob(Job):
    """A training of components, with its resolved request; `widths` one or of the inputs, None by default."""

    task: Literal["components"] = "components"

    kernel: Choice
    widths: tuple[float, ...] | None
    min_explained_variance: float
    standardise: bool
    missing: str
    missing_reason: str = ""
    seed: int


TrainingJob: TypeAlias = Annotated[
    RegressionJob | ClassificationJob | ApproximationJob | ImageJob | ComponentsJob | Job, OneOf("task")
]
