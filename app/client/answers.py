"""What the service answers, as frozen values. Names and shapes are the API's; numbers are in the user's units."""

from dataclasses import dataclass
from datetime import datetime
from typing import Generic, Literal, TypeVar

import msgspec

from app.client.errors import Problem
from app.domain.jobs import FINISHED, JobState
from app.domain.tables import Cell, ColumnKind, Label

T = TypeVar("T")

Json = str | int | float | bool | None | list["Json"] | dict[str, "Json"]
"""What JSON can say."""

Choice = dict[str, object]
"""One member of a union of the API's, told apart by its `type` (or `by`)."""


@dataclass(frozen=True)
class Slice(Generic[T]):
    """A part of a list; `after` asks for the following part, None at the end."""

    items: tuple[T, ...]
    has_more: bool
    after: str | None = None


@dataclass(frozen=True)
class Category:
    """A text that a column holds, and how often."""

    label: str
    count: int


@dataclass(frozen=True)
class Column:
    """One column of a dataset."""

    name: str
    kind: ColumnKind
    missing: int
    min: float | str | None = None
    mean: float | str | None = None
    max: float | str | None = None
    sd: float | None = None
    distinct: int | None = None
    categories: tuple[Category, ...] | None = None


@dataclass(frozen=True)
class Dataset:
    """A table that was uploaded."""

    id: str
    name: str
    created_at: datetime
    rows: int
    digest: str
    columns: tuple[Column, ...]


@dataclass(frozen=True)
class Progress:
    """How far a job is: `completed` of `total` (None: not known) `unit`s of `phase`."""

    phase: str
    completed: int
    total: int | None
    unit: str
    log_marginal_likelihood: float | None
    functions: int | None
    noise_sd: float | None


@dataclass(frozen=True)
class Transition:
    """A move that a job made."""

    state: JobState
    at: datetime
    attempt: int
    reason: str | None


@dataclass(frozen=True)
class Event:
    """One thing that happened to a job, numbered from 1."""

    number: int
    at: datetime
    kind: Literal["transition", "progress"]
    transition: Transition | None
    progress: Progress | None

    @property
    def is_last(self) -> bool:
        """Whether the job has ended with it."""
        return self.transition is not None and self.transition.state in FINISHED


@dataclass(frozen=True)
class VersionName:
    """Which version of which model."""

    model: str
    version: int


@dataclass(frozen=True)
class Input:
    """A raw column that a model reads; `categories` in the order in which they are one-hot encoded."""

    name: str
    kind: ColumnKind
    categories: tuple[str, ...]


@dataclass(frozen=True)
class Ignored:
    """A column left out, and why."""

    name: str
    reason: str


@dataclass(frozen=True)
class Rival:
    """Another way to fit the same functions."""

    prior: Choice
    likelihood: Choice


@dataclass(frozen=True)
class TrainingJob:
    """A training: what was asked for, resolved, and how far it is."""

    id: str
    state: JobState
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None
    cancel_requested_at: datetime | None
    attempt: int
    progress: Progress | None
    version: VersionName | None
    error: Problem | None
    transitions: tuple[Transition, ...]
    dataset_id: str
    model: str
    task: str
    task_reason: str
    target: str
    classes: tuple[Label, ...]
    inputs: tuple[Input, ...]
    ignored: tuple[Ignored, ...]
    likelihood: Choice
    basis: tuple[Choice, ...]
    prior: Choice
    algorithm: Choice
    rivals: tuple[Rival, ...]
    standardise: bool
    missing: str
    split: Choice
    holdout: float
    seed: int
    validation: Choice | None = None

    @property
    def has_ended(self) -> bool:
        """Whether nothing more will happen to it."""
        return self.state in FINISHED


@dataclass(frozen=True)
class Model:
    """A name, and what the versions under it have in common."""

    name: str
    created_at: datetime
    task: str
    target: str
    inputs: tuple[str, ...]
    versions: int
    latest: int | None


@dataclass(frozen=True)
class InputWidth:
    """The width of the kernels in the units of one input as they see it; None for all inputs at once."""

    input: str | None
    width: float


@dataclass(frozen=True)
class InputWarp:
    """How the kernels see one input bent; (0, 0) not at all."""

    input: str
    skew: float
    tail: float


@dataclass(frozen=True)
class Hyperparameters:
    """Standard deviations in the user's units, widths (the papers' r) and warps in the inputs as kernels see them.

    Where the logarithm of the target is learned (`log_gaussian`) `noise_sd` and `process_sd` are of that. Under a
    Gaussian process prior `last_gain` and `next_gain` are nats: of the last function that entered, and of the
    best that did not.
    """

    noise_sd: float | None
    degrees_of_freedom: float | None
    widths: tuple[InputWidth, ...]
    warps: tuple[InputWarp, ...]
    process_sd: float | None
    last_gain: float | None
    next_gain: float | None


@dataclass(frozen=True)
class Outlier:
    """A row learned from that counts `typicality` beside an ordinary row's 1."""

    row: int
    typicality: float


@dataclass(frozen=True)
class Contender:
    """One of the fits that were compared: functions kept, and log of its evidence over all hyperparameters, in nats."""

    prior: Choice
    likelihood: Choice
    functions: int
    score: float


@dataclass(frozen=True)
class DatasetName:
    """The data that were learned from; the digest is of their content."""

    id: str
    digest: str


@dataclass(frozen=True)
class Version:
    """What one training learned; it never changes."""

    model: str
    version: int
    created_at: datetime
    job_id: str
    task: str
    target: str
    target_kind: ColumnKind
    classes: tuple[Label, ...]
    inputs: tuple[Input, ...]
    ignored: tuple[Ignored, ...]
    likelihood: Choice
    basis: tuple[Choice, ...]
    prior: Choice
    algorithm: Choice
    standardised: bool
    missing: str
    split: Choice
    holdout: float
    seed: int
    hyperparameters: Hyperparameters
    log_marginal_likelihood: float
    functions: int
    candidates: int
    rows: int
    rows_dropped: int
    rows_held_out: int
    termination: str
    metrics: dict[str, dict[str, float]]
    contenders: tuple[Contender, ...]
    outliers: tuple[Outlier, ...]
    dataset: DatasetName
    seconds: float
    software_version: str
    validation: Choice | None = None


@dataclass(frozen=True)
class ClassWeight:
    """The mean of a function's weight in the latent of one class."""

    label: Label
    mean: float


@dataclass(frozen=True)
class RelevanceVector:
    """One function of a model: a kernel on a row of the dataset (which it may have left), the bias, or an input.

    Of three and more classes `weight_mean` is None, and `weight_means` has one for each.
    """

    number: int
    kind: str
    row: int | None
    inputs: dict[str, Cell] | None
    input: str | None
    moved: bool
    weight_mean: float | None
    weight_means: tuple[ClassWeight, ...]
    weight_sd: float
    alpha: float
    gamma: float


@dataclass(frozen=True)
class Variance:
    """A prediction's variance and its parts."""

    total: float
    noise: float
    weights: float
    beyond: float


@dataclass(frozen=True)
class ClassProbability:
    """How probable one class is."""

    label: Label
    probability: float


@dataclass(frozen=True)
class Latent:
    """The latent function's Gaussian, before the sigmoid."""

    mean: float
    variance: float


@dataclass(frozen=True)
class ClassLatent:
    """The Gaussian of one class's latent function, before the softmax; all classes share the variance."""

    label: Label
    mean: float
    variance: float


@dataclass(frozen=True)
class Contribution:
    """What one function of the model adds to a prediction: `vector` is its number in the version's list."""

    vector: int
    kind: str
    row: int | None
    input: str | None
    contribution: float
    share: float


class Prediction(msgspec.Struct, frozen=True, omit_defaults=True):
    """One row's answer: a number's Gaussian, or a class, or the error of a row that can't be predicted for.

    `support`: 1 where the data speak for the row, near 0 away from all of them, None where the model can't tell.
    """

    mean: float | None = None
    sd: float | None = None
    variance: Variance | None = None
    lower: float | None = None
    upper: float | None = None
    label: Label | None = None
    probabilities: tuple[ClassProbability, ...] | None = None
    latent: Latent | tuple[ClassLatent, ...] | None = None
    support: float | None = None
    explanation: tuple[Contribution, ...] | None = None
    error: Problem | None = None


class Predictions(msgspec.Struct, frozen=True, omit_defaults=True):
    """The answers, in the order of the rows; `covariance` where it was asked for, None where a row has no answer."""

    model: str
    version: int
    predictions: tuple[Prediction, ...]
    covariance: tuple[tuple[float | None, ...], ...] | None = None
