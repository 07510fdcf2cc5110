"""The request and the plan of a training of numbers or classes."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Annotated, ClassVar, Literal, TypeAlias
from uuid import UUID

from pydantic import Discriminator, Field, Tag

from relevance_bayes.core.basis import Basis, Bias, Group, Inputs, Single
from relevance_bayes.core.dictionaries import Dictionary
from relevance_bayes.core.kernels import Gaussian, Kernel
from relevance_bayes.core.kernels.hyperparameters import Width
from relevance_bayes.core.likelihoods import ClassLikelihood, GaussianNoise, Hurdle, LogVariance, OtherNumberTarget
from relevance_bayes.core.models.local.neighbours import LocalChoice
from relevance_bayes.core.models.model import Algorithm, Spec, TargetLikelihood
from relevance_bayes.core.priors import GaussianProcess, Independent
from relevance_bayes.records.annotations import AsRequested, as_requested
from relevance_bayes.records.jobs import MAX_SEED, JobRequest, ModelName
from relevance_bayes.records.trainings import SupervisedSettings
from relevance_bayes.records.values import (
    ColumnKind,
    Dates,
    Effort,
    Label,
    Missing,
    Prefer,
    Task,
    Text,
)


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

OneBasis: TypeAlias = Annotated[BasisChoice, Field(discriminator="type")]
OneOrMoreBases: TypeAlias = Annotated[
    Annotated[OneBasis, Tag("one")] | Annotated[tuple[OneBasis, ...], Field(min_length=1, max_length=16), Tag("list")],
    Discriminator(lambda value: "list" if isinstance(value, list | tuple) else "one"),
]


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

    `neighbours` of a prediction; by default 256, or 64 or 128 where they cost at most 0.02 nats a row. `on`: the
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
class NamedGroup:
    """A group: functions of the named inputs only."""

    inputs: tuple[str, ...]
    of: Single
    type: Literal["group"] = "group"


NamedBasis = Single | NamedGroup


def named_bases(bases: Sequence[Basis], inputs: Sequence[str]) -> list[NamedBasis]:
    """Return the API's form of a plan's bases, whose groups index its `inputs`."""
    return [
        NamedGroup(tuple(inputs[index] for index in basis.inputs), basis.of) if isinstance(basis, Group) else basis
        for basis in bases
    ]


@dataclass(frozen=True)
class NoiseColumn:
    """A column of numbers above 0: the sd of each row's noise, in the target's units."""

    __pydantic_config__ = {"extra": "forbid"}

    column: str


@dataclass(frozen=True)
class GaussianLikelihood:
    """y = f(x) + N(0, noise_sd^2); the noise is learned, given, given for each row, or a function of the inputs."""

    __pydantic_config__ = {"extra": "forbid"}

    noise_sd: Literal["learned", "heteroscedastic"] | float | NoiseColumn = "learned"
    type: Literal["gaussian"] = "gaussian"


AnyLikelihood = GaussianLikelihood | OtherNumberTarget | Hurdle | ClassLikelihood


def named_likelihood(likelihood: TargetLikelihood, noise_column: str | None = None) -> AnyLikelihood:
    """Return a likelihood with the column of its noise by name."""
    assert not isinstance(likelihood, LogVariance), "expected the likelihood of a target"
    if not isinstance(likelihood, GaussianNoise):
        return likelihood
    if likelihood.noise_sd != "rows":
        return GaussianLikelihood(likelihood.noise_sd)
    assert noise_column is not None
    return GaussianLikelihood(NoiseColumn(noise_column))


@dataclass(frozen=True)
class Budget:
    """The most work of a training: what so many CPU seconds of the reference core compute, on every machine."""

    __pydantic_config__ = {"extra": "forbid"}

    cpu_seconds: float = field(metadata={"gt": 0, "le": 1e6, "allow_inf_nan": False})


@dataclass(frozen=True)
class SupervisedRequest(JobRequest):
    """A training to predict a number, or one of at least two and at most 1,000 classes.

    Only `dataset_id` and `target` are required.
    """

    dataset_id: UUID
    """The dataset to learn from."""
    target: Annotated[str, Field(min_length=1)]
    """The column to predict."""
    inputs: Annotated[tuple[str, ...], Field(min_length=1)] | None = None
    """The input columns. Default: every suitable column."""
    model: ModelName | None = None
    """The model's name. Default: the dataset's."""
    task: Task | None = None
    """The task. By default it follows from the target: texts, booleans and two integers are classes, else numbers; with
    a likelihood for numbers two integers are a number, with `categorical` numbers are classes."""
    likelihood: Annotated[AnyLikelihood, Field(discriminator="type")] | None = None
    """The distribution of targets around the function. `gaussian`, the default for numbers: noise of one size,
    learned or given as `noise_sd`; or of a size for each row, given as `{"column": NAME}`: a column of its sds,
    above 0, in the target's units, which is no input; or `heteroscedastic`: its logarithm is a second function of
    the inputs, learned too. `student_t`: some rows are outliers; `degrees_of_freedom`, the heaviness of the tails,
    is learned or a number above 2. `log_gaussian`: targets above 0 with relative noise. `logit_gaussian`: shares
    above 0 and below 1. `poisson`: counts; `negative_binomial`: overdispersed counts. `hurdle`: amounts that are
    often exactly 0, and else above it. `bernoulli`, the default for two classes. `bernoulli_per_class`, the default
    for 3 to 10: a model of each class against all others, with functions and scales of its own. `categorical`, the
    default for more if rows times classes are at most 12,000: a function for each class; `classes` is counted by
    default. `one_against_rest`, the default otherwise: least squares to zeros and ones, each class against all
    others, as cheap as a number. Under independent weights `categorical` is the default for 3 to 10, and
    `one_against_rest` for more. Classes have a `temperature` T, p to the power of 1/T and normalised: a number from
    0.05 to 20, or `learned` from held-out rows."""
    basis: OneOrMoreBases | None = None
    """The functions to select from. A single kernel stands for it and a bias, under a Gaussian process prior also
    for the inputs themselves; a list is exact. Default: Gaussian kernels, likewise. A kernel's `width` is one for
    each input, by evidence, and for numbers there is a `warp` of each; under requested independent weights it is
    found by 5-fold cross-validation. A `fixed` width above 0 may be a list, one for each of the named `inputs`; the
    categories of a text column share theirs. `additive`, if it is `evidence`, gives inputs a term of their own where
    the evidence finds that their effects are additive. Dictionaries are functions without a row, for signals:
    `steps` jump, one between each two adjacent values of an input; `b_splines` are smooth bumps of all sizes;
    `fourier` functions are periodic over the range; `gabor` functions are localised waves of one input or two. Each
    reads every input; in a `group` it reads the named `inputs`, and so does a kernel, whose width is given there.
    They need independent weights, and each function pays a `price` for its selection among all unless a prior is
    given."""
    prior: Annotated[PriorChoice, Field(discriminator="type")] | None = None
    """The prior of the weights. `gaussian_process`: the functions are part of a process, and predictions include the
    variance that the few functions leave out; under Gaussian noise the share `rho` of that, from 0 to 1, counts as
    noise of each row. `independent`: a precision for each weight. `automatic`, the default: a process and, where
    rows are few enough, also independent weights; the better one is kept."""
    algorithm: Annotated[Algorithm, Field(discriminator="type")] | None = None
    """The algorithm of the evidence. Default: greedy under a Gaussian process, else sequential."""
    standardise: bool | None = None
    """True to standardise the inputs to mean 0 and sd 1. Default: unless a width is given as a number."""
    missing: Missing | None = None
    """The handling of missing values. `error`: a training with one is refused, and so is a row to predict.
    `drop_rows`: rows with one are left out of the training. `indicator`: the mean, or the shares of the categories,
    replaces them, and a 0/1 column marks them where there were some; rows without a target are left out. Default:
    `indicator` where a column has missing values, else `error`."""
    split: Annotated[Split, Field(discriminator="type")] = RandomSplit()
    """The rows that are kept together in holdout and folds."""
    holdout: Annotated[float, Field(ge=0, le=0.9)] = 0.0
    """The share of rows that are held out to measure metrics."""
    validation: Validation | None = None
    """Cross-validation: after the training, the complete training (including the search for a width and comparisons)
    is repeated `folds` times, each time without one fold of the training rows, and measured on that fold. It takes
    about `folds` times as long again. `split` applies to folds as well: groups stay together, and under `order` each
    stretch but the first is predicted from all before it. Inputs and target are standardised once, by all training
    rows. The metrics are the version's `metrics.validation`."""
    seed: Annotated[int, Field(ge=0, le=MAX_SEED)] = 0
    """With the rows' content, determines holdout and folds."""
    effort: Effort = "normal"
    """The amount of computation. `normal`: a training is measured by five complete trainings, each on four fifths of
    the rows: of 5,000 of them where there are more, and above 20,000 by one training on nine tenths. Where kernel
    and prior are left open several processes are trained: of numbers they are weighted by their predictions of held-
    out rows, of classes the one that predicts these best is selected. `thorough`: ten folds, of 20,000 rows where
    there are more, up to 100,000; one more process; ten times the work before folds or processes are left out; and
    up to 120 iterations in each joint optimisation. `quick`: one model, or the best of few by evidence, without
    `score` unless a `validation` is requested."""
    prefer: Prefer = "accuracy"
    """The reduction of several processes to few functions. `accuracy`: it costs 0.01 nats a row of their score;
    `small`: 0.05, for fewer functions. `max_score_loss` sets it as a number."""
    max_score_loss: Annotated[float | None, Field(gt=0, le=10, allow_inf_nan=False)] = None
    """The limit of the `score`, in nats a row, that the reduction may cost; it costs more where a prediction of one
    row by more functions would take twice the CPU time that it takes with 20. null: as set by `prefer`."""
    local: Annotated[LocalOption, Field(discriminator="type")] | None = None
    """The use of the nearest rows, on which a prediction may be conditioned and which the version then stores.
    `neighbours`: a nearest-neighbour Gaussian process, of the targets or of the residuals of the sparse model, with
    Gaussian noise of one size. `none`: the sparse model. `automatic`, the default: from 5,000 rows on, if they take
    at most 16 MiB and `effort` is not `quick`, such processes are compared with the sparse model on at most 1,000
    held-out rows, and the best is selected where it is better by more than its standard error and `max_score_loss`.
    A version that stores rows can't be exported as ONNX or Python, has no covariance of predictions, and its
    functions are those of the sparse model alone."""
    dates: Dates = "calendar"
    """The inputs of a timestamp. `calendar`: its seconds, a trend, and its position within the year, the week (by
    days) and the day, each a sine and a cosine, so that 31 December is beside 1 January; of periods of which the
    training rows span at least two. One model is compared over five folds with them and without, on at most 1,000
    rows, and they are kept where they predict better by more than two standard errors; the version's `calendar`
    states which. `time`: the seconds alone, without the comparison."""
    text: Text = "target"
    """The treatment of texts of more than 50 values. `target`: each is encoded by its effect on the target, shrunk
    towards the mean the more, the fewer rows it has; a training row by the targets of the other four of five folds,
    without its own. One model is compared by folds with them and without, on at most 1,000 rows, and they are kept
    where they predict better by more than two standard errors; the version's `texts` states which. The row of a text
    that did not occur in training is averaged over such effects, unless `unknown_categories` of the prediction is
    `error`. `leave_out`: no inputs, and the job's `ignored` states so."""
    keep_rows: bool = True
    """True to keep in the version the inputs of 64 training rows, drawn by content, of which a missing value of a row
    to predict is drawn: several together, and given the other values of the row. They are a part of exported
    documents. Without them such values are drawn from the histograms of the version's baseline, each for itself,
    whose intervals are wider where inputs are correlated."""
    budget: Budget | None = None
    """The most work of the training: what `cpu_seconds` of the reference core compute, whatever the speed of the
    worker, so that equal requests give equal versions. Left out are, in this order, alternatives of noise and prior,
    nearest-neighbour processes, further processes, two of five folds, all but a quick training, and rows; the job
    and the version state what was left out. A budget below a quick training of 50 rows is refused. null: no budget."""
    positive_class: Label | None = None
    """The class that counts as positive: evaluations have its precision, recall, specificity, F1 and area under the
    ROC curve. A text names a number or truth value by its JSON, too. null: none."""


@dataclass(frozen=True, kw_only=True)
class SupervisedPlan(SupervisedSettings):
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
    model: str
    target_kind: ColumnKind
    spec: Spec
    missing: Missing
    split: AsRequested[Split]
    compared_models: tuple[Spec, ...]
    validation: AsRequested[Validation | None]
    noise_column: str | None
    pool: tuple[Spec, ...]
    alternatives: tuple[Spec, ...]
    effort: AsRequested[Effort]
    local: LocalPlan | None
    dates: Dates
    text: Text

    target_member: ClassVar[str] = "target"
    """The member of a request that names the target."""


KEPT = as_requested(SupervisedPlan)
"""The members of the plan that are those of the request."""
