"""The API's schemas of training jobs, one class for each kind of task."""

from dataclasses import dataclass
from typing import Annotated, Literal, TypeAlias

from pydantic import BaseModel, Field, TypeAdapter

from app.jobs.records import Job
from app.jobs.schemas import shared_by_jobs
from app.registry.trainings import TRAINING
from app.tasks.schemas.specification import AnyLikelihood, BasisOut, shown, shown_bases
from relevance_bayes.core.kernels import Covariance
from relevance_bayes.core.local.choice import LocalTarget
from relevance_bayes.core.spec import Algorithm, Prior
from relevance_bayes.plans.requests import (
    BudgetPlan,
    Dates,
    Effort,
    LocalPlan,
    Missing,
    Split,
    SupervisedPlan,
    Task,
    Text,
    Validation,
)
from relevance_bayes.types.jobs import JobBase
from relevance_bayes.types.json_schema import wire
from relevance_bayes.types.trainings import ApproximationJob, ImageJob
from relevance_bayes.types.trainings import Job as TrainingJob
from relevance_bayes.types.values import IgnoredColumn, InputColumn, Label


class ComparedModelOut(BaseModel):
    """The prior and the likelihood of a model that is compared with the first."""

    prior: Prior
    likelihood: AnyLikelihood


@dataclass(frozen=True, kw_only=True)
class LocalPlanOut:
    """Nearest-neighbour processes: the compared ones, and the size of a version that predicts by one."""

    __pydantic_config__ = wire()

    neighbours: int | None
    """Rows that a prediction is conditioned on; null where training decides between 64, 128 and 256."""
    on: LocalTarget | None
    """The modelled quantity; null where training decides."""
    kernels: tuple[str, ...]
    """The names of the compared kernels, of which training selects one."""
    required: bool
    """True if it is selected even where the sparse model scores better."""
    rows: int
    """The rows of the dataset; the version stores the training rows."""
    bytes: int
    """The size of so many rows in the version, in bytes; in memory to predict, five to six times that."""


@dataclass(frozen=True, kw_only=True)
class SupervisedJobOut(JobBase):
    """A job that trains a model of numbers or classes, with its resolved request and progress."""

    task: Task
    task_reason: str
    """The reason for the choice of this task."""
    target: str
    classes: tuple[Label, ...]
    """The labels of a classification: false and true, numbers ascending, texts in alphabetical order."""
    inputs: tuple[InputColumn, ...]
    ignored: tuple[IgnoredColumn, ...]
    likelihood: AnyLikelihood
    basis: tuple[BasisOut, ...]
    prior: Prior
    algorithm: Algorithm
    compared_models: tuple[ComparedModelOut, ...]
    """The models that are compared with the first where prior or likelihood were left open: with another prior, or
    another likelihood of the target, such as that of its logarithm, of counts, of shares, of zeros and positive values,
    with outliers, or with noise that depends on the inputs. The best is selected, and the version states which.
    """
    standardise: bool
    missing: Missing
    missing_reason: str
    """The reason for this treatment of missing values."""
    dates: Dates
    """The inputs of timestamps: under `calendar` the version states whether derived ones were selected.
    `time` where no input is one.
    """
    text: Text
    """The treatment of texts of more than 50 values; those that are encoded by their effects have no `categories`."""
    keep_rows: bool
    """True where the version keeps the inputs of some training rows, from which missing values are drawn."""
    split: Split
    holdout: float
    validation: Validation | None
    """The number of folds of the cross-validation after the fit; null for none."""
    seed: int
    effort: Effort
    max_score_loss: float
    """The limit of the score, in nats a row, that a pool may lose by its reduction to few functions."""
    pool: tuple[BasisOut, ...]
    """The kernels of the further processes that are trained besides the first of `basis`, and weighted by folds; empty
    where one model is trained.
    """
    alternatives: tuple[BasisOut, ...]
    """The first functions of each model of classes that folds compare with the model of `basis`: another kernel, the
    same kernel with linear functions of the inputs, or the inputs alone, as a softmax regression. The version states
    which is selected. Empty where one is fitted.
    """
    local: LocalPlanOut | None
    """The nearest-neighbour processes that the first of `basis` is compared with; null where there are none."""
    budget: BudgetPlan | None
    """The requested budget, and what was left out for it; null without one."""
    positive_class: Label | None
    """The class that counts as positive in evaluations; null where none was named."""


@dataclass(frozen=True, kw_only=True)
class ComponentsJobOut(TrainingJob):
    """A job that finds components of rows, with its resolved request and progress."""

    task: Literal["components"]
    kernel: Annotated[Covariance, Field(discriminator="type")]
    widths: tuple[float, ...] | None
    """The width for all inputs, or one for each; null where it follows from the rows."""
    min_explained_variance: float
    """The share of the variance in feature space that components are to explain."""
    standardise: bool
    missing: Missing
    missing_reason: str
    """The reason for this treatment of missing values."""
    seed: int


AnyJobOut: TypeAlias = SupervisedJobOut | ApproximationJob | ImageJob | ComponentsJobOut
TrainingJobOut: TypeAlias = Annotated[AnyJobOut, Field(discriminator="task")]

_RECORD: TypeAdapter[AnyJobOut] = TypeAdapter(TrainingJobOut)


def job_out(job: Job) -> AnyJobOut:
    """Return the API's form of a training job: the members of its plan by their names, and those of all jobs."""
    _, plan = TRAINING.read(job)
    shown_otherwise = _of_supervised(plan) if isinstance(plan, SupervisedPlan) else {}
    return _RECORD.validate_python({**vars(plan), **shared_by_jobs(job), **shown_otherwise})


def _of_supervised(plan: SupervisedPlan) -> dict[str, object]:
    """Return the members that differ from those of the plan."""
    spec, names = plan.spec, [column.name for column in plan.inputs]
    return {
        "likelihood": shown(spec.likelihood, plan.noise_column),
        "basis": shown_bases(spec.basis, names),
        "prior": spec.prior,
        "algorithm": spec.algorithm,
        "compared_models": [
            ComparedModelOut(prior=other_fit.prior, likelihood=shown(other_fit.likelihood, plan.noise_column))
            for other_fit in plan.compared_models
        ],
        "seed": spec.seed,
        "pool": shown_bases([one.basis[0] for one in plan.pool], names),
        "alternatives": shown_bases([one.basis[0] for one in plan.alternatives], names),
        "local": None if plan.local is None else _local(plan.local),
    }


def _local(plan: LocalPlan) -> LocalPlanOut:
    choice = plan.choice
    return LocalPlanOut(
        neighbours=choice.neighbours,
        on=choice.on,
        kernels=tuple(kernel.type for kernel in choice.kernels),
        required=choice.required,
        rows=plan.rows,
        bytes=plan.bytes,
    )
