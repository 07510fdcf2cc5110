"""The request and the plan of a training of numbers or classes."""

from dataclasses import dataclass, field
from typing import ClassVar, Literal
from uuid import UUID

from relevance_bayes.core.basis import Bias, Inputs
from relevance_bayes.core.dictionaries import Dictionary
from relevance_bayes.core.hyperparameters import Width
from relevance_bayes.core.kernels import Gaussian, Kernel
from relevance_bayes.core.local.choice import LocalChoice
from relevance_bayes.core.priors import GaussianProcess, Independent
from relevance_bayes.core.spec import Algorithm, Spec, TargetLikelihood
from relevance_bayes.types.annotations import is_none
from relevance_bayes.types.reports import BudgetPlan
from relevance_bayes.types.values import ColumnKind, IgnoredColumn, InputColumn, Label, Missing

Task = Literal["regression", "classification"]


@dataclass(frozen=True)
class RandomSplit:
    """Rows are held out, and assigned to folds, by a hash of their content and the seed; rows with equal inputs stay
    together."""

    __pydantic_config__ = {"extra": "forbid"}

    type: Literal["random"] = "random"


@dataclass(frozen=True)
class GroupSplit:
    """Rows with one value of `column` (patient, customer, machine) stay together: a group is never divided.

    The column is not an input.
    """

    __pydantic_config__ = {"extra": "forbid"}

    column: str
    type: Literal["group"] = "group"


@dataclass(frozen=True)
class OrderSplit:
    """The past predicts the future: rows in the order of `column` (a number or timestamp), or of the table."""

    __pydantic_config__ = {"extra": "forbid"}

    column: str | None = None
    type: Literal["order"] = "order"


Split = RandomSplit | GroupSplit | OrderSplit

Dates = Literal["time", "calendar"]
"""The inputs of a timestamp: the time, or also the position within year, week and day where that predicts better."""

Text = Literal["leave_out", "target"]
"""The treatment of texts of more than 50 values: none, or by their effects on the target where these predict better."""

Effort = Literal["quick", "normal", "thorough"]
"""The effort of a training: one fit; all that is open, by five folds; or more of it, by ten."""

Prefer = Literal["accuracy", "small"]
"""Prefer more functions until little is lost, or fewer of them."""

MAX_SCORE_LOSSES: dict[Prefer, float] = {"accuracy": 0.01, "small": 0.05}
"""The maximum loss of a pool's score by its reduction to few functions, in nats a row."""


MIN_FOLDS = 2
MAX_FOLDS = 20


@dataclass(frozen=True)
class Validation:
    """The complete training repeated on each fold's other rows, and scored on the fold; rows are folded as by `split`.

    Inputs and target stay scaled as in the training on all rows.
    """

    __pydantic_config__ = {"extra": "forbid"}

    folds: int = field(default=5, metadata={"ge": MIN_FOLDS, "le": MAX_FOLDS})


@dataclass(frozen=True)
class KernelChoice:
    """One function k(., x_n) for each training row; the default of width and warp depends on prior and task.

    Under a Gaussian process: a width for each input by evidence, and warps with it for numbers; for classes folds
    select between that and one width, if the prior is left open too. Under requested independent weights: 5-fold
    cross-validation, no warp. `additive`: inputs whose effect the evidence finds additive get a term of their own.
    """

    __pydantic_config__ = {"extra": "forbid"}

    kernel: Kernel = field(default_factory=Gaussian, metadata={"discriminator": "type"})
    width: Width | None = field(default=None, metadata={"discriminator": "type"})
    warp: Literal["none", "evidence"] | None = None
    additive: Literal["none", "evidence"] = "none"
    type: Literal["kernel"] = "kernel"


@dataclass(frozen=True)
class GroupChoice:
    """Functions `of` only the named inputs. A kernel's width is given; a list has one for each of these."""

    __pydantic_config__ = {"extra": "forbid"}

    inputs: tuple[str, ...]
    of: KernelChoice | Inputs | Dictionary = field(metadata={"discriminator": "type"})
    type: Literal["group"] = "group"


BasisChoice = KernelChoice | Bias | Inputs | Dictionary | GroupChoice


@dataclass(frozen=True)
class AutomaticPrior:
    """A Gaussian process where the functions allow one, compared with independent weights where that is affordable.

    The one with the greater evidence, with the hyperparameters integrated out, is selected.
    """

    __pydantic_config__ = {"extra": "forbid"}

    type: Literal["automatic"] = "automatic"


PriorChoice = AutomaticPrior | Independent | GaussianProcess


@dataclass(frozen=True)
class AutomaticLocal:
    """Nearest-neighbour processes compared with the sparse model where there are many rows, and selected if better."""

    __pydantic_config__ = {"extra": "forbid"}

    type: Literal["automatic"] = "automatic"


@dataclass(frozen=True)
class NoLocal:
    """The sparse model, whatever its score."""

    __pydantic_config__ = {"extra": "forbid"}

    type: Literal["none"] = "none"


MIN_NEIGHBOURS, MAX_NEIGHBOURS = 8, 1_024


@dataclass(frozen=True)
class NearestNeighbours:
    """A nearest-neighbour process: a prediction is conditioned on the nearest rows, for which all are kept.

    `neighbours` of a prediction; by default 256, or 64 or 128 where they cost at most .02 nats a row. `on`: the
    targets, or the residuals of a sparse model; `automatic`: the one that predicts held-out rows better.
    """

    __pydantic_config__ = {"extra": "forbid"}

    neighbours: int | None = field(default=None, metadata={"ge": MIN_NEIGHBOURS, "le": MAX_NEIGHBOURS})
    on: Literal["automatic", "targets", "residuals"] = "automatic"
    type: Literal["neighbours"] = "neighbours"


LocalOption = AutomaticLocal | NoLocal | NearestNeighbours


@dataclass(frozen=True)
class LocalPlan:
    """The nearest-neighbour processes of a training, and the size of a version that predicts by one.

    `rows` are those of the dataset, of which the version keeps the training rows, and `bytes` their size in it.
    """

    choice: LocalChoice
    rows: int
    bytes: int


@dataclass(frozen=True)
class Budget:
    """The most work of a training: what so many CPU seconds of the reference core compute, on every machine."""

    __pydantic_config__ = {"extra": "forbid"}

    cpu_seconds: float = field(metadata={"gt": 0, "le": 1e6, "allow_inf_nan": False})


@dataclass(frozen=True)
class SupervisedRequest:
    """A request; None is the default. One kernel as `basis` includes the columns that go with it under the prior.

    `noise_column` is the column of each row's noise sd where, and only where, the likelihood has known noise.
    """

    dataset_id: UUID
    target: str
    inputs: tuple[str, ...] | None = None
    model: str | None = None
    task: Task | None = None
    likelihood: TargetLikelihood | None = None
    basis: BasisChoice | tuple[BasisChoice, ...] | None = None
    prior: PriorChoice | None = None
    algorithm: Algorithm | None = None
    standardise: bool | None = None
    missing: Missing | None = None
    split: Split = field(default_factory=RandomSplit)
    holdout: float = 0.0
    validation: Validation | None = None
    seed: int = 0
    noise_column: str | None = None
    effort: Effort = "normal"
    prefer: Prefer = "accuracy"
    max_score_loss: float | None = None
    local: LocalOption | None = None
    dates: Dates = "calendar"
    text: Text = "target"
    keep_rows: bool = True
    budget: Budget | None = field(default=None, metadata={"exclude_if": is_none})
    positive_class: Label | None = field(default=None, metadata={"exclude_if": is_none})


@dataclass(frozen=True)
class SupervisedPlan:
    """The request resolved against the dataset's statistics: all that a worker needs.

    `classes` are the labels of a classification (else empty): false and true, numbers ascending, texts by alphabet;
    `target_kind` is the kind of the target's column. `compared_models` are fitted in addition to `spec`, and the best
    is selected. `pool` are processes that are fitted with that of `spec` and weighted by folds; together they lose at
    most `max_score_loss` nats a row of their score by their reduction to few functions. For classes, folds select one
    of `spec` and its `alternatives`. `local` are the nearest-neighbour processes that `spec` is compared with, None for
    none. `noise_column` has each row's noise sd, in the target's units, where that is known. Inputs of texts without
    categories are encoded by their effects on the target. `dates` are `time` where no input is a timestamp.
    `keep_rows`: the version keeps the inputs of some training rows, from which missing values of later ones are drawn.
    `budget` is what was left out for the requested one. `positive_class` is one of `classes`, if it was named.
    """

    task: Task
    task_reason: str
    model: str
    target: str
    target_kind: ColumnKind
    classes: tuple[Label, ...]
    inputs: tuple[InputColumn, ...]
    ignored: tuple[IgnoredColumn, ...]
    spec: Spec
    standardise: bool
    missing: Missing
    split: Split
    holdout: float
    compared_models: tuple[Spec, ...]
    validation: Validation | None
    noise_column: str | None
    pool: tuple[Spec, ...]
    alternatives: tuple[Spec, ...]
    effort: Effort
    max_score_loss: float
    local: LocalPlan | None
    missing_reason: str
    dates: Dates
    text: Text
    keep_rows: bool
    budget: BudgetPlan | None
    positive_class: Label | None

    target_member: ClassVar[str] = "target"
    """The member of a request that names the target."""
