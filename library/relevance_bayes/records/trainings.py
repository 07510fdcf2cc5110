"""Trainings, with their resolved requests and progress."""

from dataclasses import dataclass
from typing import Annotated, Literal, TypeAlias

from relevance_bayes.records.annotations import AsRequested, OneOf, wire
from relevance_bayes.records.choices import (
    Algorithm,
    Basis,
    Covariance,
    Dates,
    Effort,
    Likelihood,
    Missing,
    Prior,
    Split,
    Text,
    Validation,
)
from relevance_bayes.records.jobs import JobBase
from relevance_bayes.records.reports import BudgetPlan
from relevance_bayes.records.values import IgnoredColumn, InputColumn, Label


@dataclass(frozen=True, kw_only=True)
class InputSelection:
    """The input columns of a training, and those that are ignored."""

    inputs: tuple[InputColumn, ...]
    ignored: tuple[IgnoredColumn, ...]


@dataclass(frozen=True, kw_only=True)
class Job(InputSelection, JobBase):
    """The members of all trainings, including the input columns. Unknown tasks have only these."""

    task: str


@dataclass(frozen=True)
class ComparedModel:
    """The prior and the likelihood of a model that is compared with the first."""

    __pydantic_config__ = wire()

    prior: Prior
    likelihood: Likelihood


@dataclass(frozen=True, kw_only=True)
class LocalPlan:
    """Nearest-neighbour processes: the compared ones, and the size of a version that predicts by one."""

    __pydantic_config__ = wire()

    neighbours: int | None
    """Rows that a prediction is conditioned on; null where training decides between 64, 128 and 256."""
    on: Literal["targets", "residuals"] | None
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
class SupervisedSettings(InputSelection):
    """The resolved members of a request for numbers or classes, which the plan and the job of a training share."""

    __pydantic_config__ = wire()

    task_reason: str
    """The reason for the choice of this task."""
    target: str
    classes: tuple[Label, ...]
    """The labels of a classification: false and true, numbers ascending, texts in alphabetical order."""
    standardise: bool
    missing_reason: str
    """The reason for this treatment of missing values."""
    keep_rows: AsRequested[bool]
    """True where the version keeps the inputs of some training rows, from which missing values are drawn."""
    holdout: AsRequested[float]
    max_score_loss: float
    """The limit of the score, in nats a row, that a pool may lose by its reduction to few functions."""
    budget: BudgetPlan | None
    """The requested budget, and what was left out for it; null without one."""
    positive_class: Label | None
    """The class that counts as positive in evaluations; null where none was named."""


@dataclass(frozen=True, kw_only=True)
class SupervisedJob(SupervisedSettings, Job):
    """A job that trains a model of numbers or classes, with its resolved request and progress."""

    likelihood: Likelihood
    basis: tuple[Basis, ...]
    prior: Prior
    algorithm: Algorithm
    compared_models: tuple[ComparedModel, ...]
    """The models that are compared with the first where prior or likelihood were left open: with another prior, or
    another likelihood of the target, such as that of its logarithm, of counts, of shares, of zeros and positive
    values, with outliers, or with noise that depends on the inputs. The best is selected, and the version states
    which."""
    missing: Missing
    dates: Dates = "time"
    """The inputs of timestamps: under `calendar` the version states whether derived ones were selected. `time`
    where no input is one."""
    text: Text = "leave_out"
    """The treatment of texts of more than 50 values; those that are encoded by their effects have no `categories`."""
    split: Split
    validation: Validation | None = None
    """The number of folds of the cross-validation after the fit; null for none."""
    seed: int
    effort: Effort = "quick"
    pool: tuple[Basis, ...] = ()
    """The kernels of the further processes that are trained besides the first of `basis`, and weighted by folds;
    empty where one model is trained."""
    alternatives: tuple[Basis, ...] = ()
    """The first functions of each model of classes that folds compare with the model of `basis`: another kernel,
    the same kernel with linear functions of the inputs, or the inputs alone, as a softmax regression. The version
    states which is selected. Empty where one is fitted."""
    local: LocalPlan | None = None
    """The nearest-neighbour processes that the first of `basis` is compared with; null where there are none."""


@dataclass(frozen=True, kw_only=True)
class RegressionJob(SupervisedJob):
    """A training of numbers."""

    task: Literal["regression"] = "regression"


@dataclass(frozen=True, kw_only=True)
class ClassificationJob(SupervisedJob):
    """A training of classes."""

    task: Literal["classification"] = "classification"


@dataclass(frozen=True, kw_only=True)
class ComponentsSettings(InputSelection):
    """The resolved members of a request for components, which the plan and the job of a training share."""

    __pydantic_config__ = wire()

    widths: tuple[float, ...] | None
    """The width for all inputs, or one for each; null where it follows from the rows."""
    min_explained_variance: AsRequested[float]
    """The share of the variance in feature space that components are to explain."""
    standardise: bool
    missing_reason: str = ""
    """The reason for this treatment of missing values."""
    seed: AsRequested[int]


@dataclass(frozen=True, kw_only=True)
class ComponentsJob(ComponentsSettings, Job):
    """A job that finds components of rows, with its resolved request and progress."""

    task: Literal["components"] = "components"

    kernel: Covariance
    missing: Missing


@dataclass(frozen=True, kw_only=True)
class ApproximationSettings(InputSelection):
    """The resolved members of a request for an approximation, which the plan and the job of a training share."""

    __pydantic_config__ = wire()

    coefficients: AsRequested[str | None]
    widths: tuple[float, ...]
    """One for each of the inputs, in its units."""
    constant: AsRequested[float]
    tolerance: AsRequested[float]
    """The maximum relative error of the approximation."""
    max_functions: AsRequested[int | None]
    density: AsRequested[bool]


@dataclass(frozen=True, kw_only=True)
class ApproximationJob(ApproximationSettings, Job):
    """A training of an approximation, with its resolved request."""

    task: Literal["approximation"] = "approximation"


@dataclass(frozen=True, kw_only=True)
class ImageSettings(InputSelection):
    """The resolved members of a request for an image code, which the plan and the job of a training share."""

    __pydantic_config__ = wire()

    height: int
    width: int
    peak: float
    """The peak of the signal-to-noise ratio `psnr`."""
    max_functions: AsRequested[int | None]
    psnr: AsRequested[float | None]
    """In dB."""
    noise_sd: AsRequested[float | None]


@dataclass(frozen=True, kw_only=True)
class ImageJob(ImageSettings, Job):
    """A training of an image code, with its resolved request."""

    task: Literal["image"] = "image"


KnownJob: TypeAlias = Annotated[
    RegressionJob | ClassificationJob | ApproximationJob | ImageJob | ComponentsJob, OneOf("task")
]

TrainingJob: TypeAlias = Annotated[KnownJob | Job, OneOf("task")]
"""A training, which may be of a task that is not known here."""
