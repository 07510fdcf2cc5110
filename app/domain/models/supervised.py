"""What a fit to numbers or classes leaves: what its owner may know, and what predictions need."""

from dataclasses import dataclass
from typing import Literal
from uuid import UUID

from app.domain.encoding import Encoding
from app.domain.models.imported import ImportedFrom
from app.domain.requests import SupervisedPlan, Task
from app.domain.tables import Label
from app.sparse_bayes.basis import Basis
from app.sparse_bayes.kernels import Kernel
from app.sparse_bayes.likelihoods import TargetLikelihood
from app.sparse_bayes.model import Model
from app.sparse_bayes.pool import LearnedModel, alone
from app.sparse_bayes.priors import Prior


@dataclass(frozen=True)
class ClassRows:
    """How many of the rows learned from are of one class."""

    label: Label
    rows: int


@dataclass(frozen=True)
class InputWidth:
    """The papers' r in the units of one encoded column, by its name; None where several share it."""

    input: str | None
    width: float


@dataclass(frozen=True)
class InputWarp:
    """How one encoded column is bent before its width: a of its skew and l of its tail, (0, 0) not at all."""

    input: str
    skew: float
    tail: float


@dataclass(frozen=True)
class InputTerm:
    """An encoded column that the process sees apart from all others, and the share of its variance that is its own."""

    input: str
    share: float


@dataclass(frozen=True)
class Outlier:
    """A row that the model takes for noise: its number in the dataset, and by how much it counts less than others.

    `typicality` is the expected precision of its noise beside that of the others: about 1 for an ordinary row.
    """

    row: int
    typicality: float


@dataclass(frozen=True)
class TrainingWarning:
    """What a training left out, or could not do as it was planned, in a sentence.

    `outlying_input`: rows whose input lies far from all others are left out. `copies`: rows that repeat others count
    once. `not_computable`: an alternative that could not be fitted. `jitter`: more than the usual was added to a kernel
    matrix.
    """

    kind: Literal["outlying_input", "copies", "not_computable", "jitter"]
    detail: str


@dataclass(frozen=True)
class Contender:
    """One of the fits that were compared: `score` is the log of its evidence with the hyperparameters integrated out.

    In nats, of the target in the user's units, so that scores can be compared whatever the likelihood. One that was
    given up on the way has no `functions`; its score is foretold from some rows.
    """

    prior: Prior
    likelihood: TargetLikelihood
    functions: int | None
    score: float


@dataclass(frozen=True)
class Member:
    """A model of several that predict together.

    A Gaussian process of a pool, whose densities are multiplied, to the power `weight` each: the weights add to 1.
    `functions` are those that it kept of the process, `log_marginal_likelihood` is theirs, and
    `process_log_marginal_likelihood` that of the process itself with the log hyperprior, in nats of the target in the
    user's units. Or the model of one class, `label`, against all others, which has no weight and no noise. `kernel` is
    None where it has no kernel, or several; `process_sd` where it is no process.
    """

    kernel: Kernel | None
    weight: float | None
    functions: int
    widths: tuple[InputWidth, ...]
    warps: tuple[InputWarp, ...]
    noise_sd: float | None
    process_sd: float | None
    log_marginal_likelihood: float
    process_log_marginal_likelihood: float | None
    label: Label | None = None


@dataclass(frozen=True)
class Compared:
    """What the folds judged beside the pool: its mean log density of rows left out, in nats, or why it has none.

    `basis` is its kernel's: what tells it apart, beside prior and likelihood.
    """

    basis: Basis
    prior: Prior
    likelihood: TargetLikelihood
    score: float | None
    reason: str | None


@dataclass(frozen=True)
class Score:
    """The mean log density, in nats, of rows that the training was measured on, by what was learned without them.

    With the `standard_error` of the mean, over `rows` rows in `folds` folds. `value` is None where there is none;
    `reason` says why, or why not all folds were measured.
    """

    value: float | None
    standard_error: float | None
    rows: int
    folds: int
    reason: str | None


@dataclass(frozen=True)
class SupervisedReport:
    """What a version's owner may know without its arrays, in the user's units.

    `widths` are those in encoded inputs (see `standardised`), for each kernel dictionary with functions in the model
    one, or one for each column; `noise_sd` is None for classes and counts. `metrics` maps a name ("holdout",
    "validation", "leave_one_out") to figures ("rmse", "nll", ...); `candidates` counts functions looked at, `functions`
    those kept. Under a Gaussian process prior `process_sd` is the process's (of the latent function for classes and
    counts), and `last_gain` and `next_gain` are the nats that the last function brought that entered, and the best
    would have brought that did not. Where the target's logarithm is learned, `noise_sd` and `process_sd` are of that.
    Under noise with heavy tails it has `degrees_of_freedom`, and `outliers` are the rows learned from that it accounts
    for. `contenders` are the fits that were compared, the one taken first; empty where nothing was left open.
    `members` are the models that predict together, empty where one does; with them `noise_sd`, `process_sd`,
    `log_marginal_likelihood`, widths, warps and gains are each member's, and there are none of the whole. `compared`
    is what the folds judged, and `score_loss` what keeping few functions is estimated to cost of their score, in nats a
    row, where there were `unreduced_functions` before. `score` is by rows that were not learned from, before that
    reduction; None in versions that are older than this. `class_rows` are the rows learned from by class, in the plan's
    order; empty for numbers, and in versions that are older than this. `terms` are the inputs that a process sees apart
    from the others. `imported` is None for what was trained here; else all other figures are those of where it was.
    `temperature` is that of the probabilities of classes, None for numbers, and in versions that are older than it.
    `warnings` say what was left out, and what could not be done as planned.
    """

    task: Task
    plan: SupervisedPlan
    widths: tuple[InputWidth, ...]
    standardised: bool
    noise_sd: float | None
    log_marginal_likelihood: float | None
    functions: int
    candidates: int
    rows: int
    rows_dropped: int
    rows_held_out: int
    termination: str
    metrics: dict[str, dict[str, float]]
    dataset_id: UUID
    dataset_digest: str
    seconds: float
    software_version: str
    warps: tuple[InputWarp, ...] = ()
    process_sd: float | None = None
    last_gain: float | None = None
    next_gain: float | None = None
    degrees_of_freedom: float | None = None
    outliers: tuple[Outlier, ...] = ()
    contenders: tuple[Contender, ...] = ()
    class_rows: tuple[ClassRows, ...] = ()
    terms: tuple[InputTerm, ...] = ()
    imported: ImportedFrom | None = None
    members: tuple[Member, ...] = ()
    compared: tuple[Compared, ...] = ()
    score_loss: float | None = None
    temperature: float | None = None
    unreduced_functions: int | None = None
    score: Score | None = None
    warnings: tuple[TrainingWarning, ...] = ()


@dataclass(frozen=True, eq=False)
class SupervisedPredictor:
    """All that a prediction needs: raw columns to the matrix and back, and the sparse model, or several as a pool."""

    encoding: Encoding
    learned: LearnedModel

    @property
    def model(self) -> Model:
        """The model, where it is one alone; raises SparseBayesError for a pool."""
        return alone(self.learned)
