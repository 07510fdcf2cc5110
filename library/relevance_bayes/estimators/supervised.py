"""The parts that regression and classification share: options, targets, sample weights, and the fitted model."""

import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import ClassVar, get_args

import numpy as np
from sklearn.utils import assert_all_finite, check_consistent_length, column_or_1d
from sklearn.utils.validation import _check_sample_weight

from relevance_bayes.core.types import Array, Indices
from relevance_bayes.estimators.base import Raw, VersionEstimator, is_missing, to_numpy
from relevance_bayes.estimators.fitting import FittedSupervised, Vectors, learn
from relevance_bayes.records.diagnostics import Diagnostics
from relevance_bayes.records.predictions import MissingValue, Nulls, UnknownCategories, UnknownCategory
from relevance_bayes.records.values import ColumnKind, Dates, Effort, Missing, Prefer, Task, Text
from relevance_bayes.tables.columns import Block, Column, NumberArray, NumberBlock, taken
from relevance_bayes.tasks.prediction import PredictOptions
from relevance_bayes.tasks.supervised.report import Member, SupervisedReport
from relevance_bayes.tasks.supervised.request import GaussianLikelihood, NoiseColumn

MAX_REPETITIONS = 10_000_000
"""The maximum sum of the sample weights, which are numbers of repetitions."""

NOISE_COLUMN = "noise_sd"


class SupervisedEstimator(VersionEstimator[FittedSupervised]):
    """An estimator with a target."""

    _task: ClassVar[Task]

    def __init__(
        self,
        *,
        inputs: Sequence[str] | None = None,
        likelihood: object = None,
        basis: object = None,
        prior: object = None,
        algorithm: object = None,
        standardise: bool | None = None,
        missing: Missing | None = None,
        missing_values: Sequence[str] | None = None,
        split: object = None,
        holdout: float = 0.0,
        validation: object = None,
        seed: int = 0,
        effort: Effort = "normal",
        prefer: Prefer = "accuracy",
        max_score_loss: float | None = None,
        local: object = None,
        budget: object = None,
        unknown_categories: UnknownCategories = "average",
        nulls: Nulls = "average",
        keep_rows: bool = True,
        dates: Dates = "calendar",
        text: Text = "target",
        positive_class: object = None,
    ) -> None:
        self.inputs = inputs
        self.likelihood = likelihood
        self.basis = basis
        self.prior = prior
        self.algorithm = algorithm
        self.standardise = standardise
        self.missing = missing
        self.missing_values = missing_values
        self.split = split
        self.holdout = holdout
        self.validation = validation
        self.seed = seed
        self.effort = effort
        self.prefer = prefer
        self.max_score_loss = max_score_loss
        self.local = local
        self.budget = budget
        self.unknown_categories = unknown_categories
        self.nulls = nulls
        self.keep_rows = keep_rows
        self.dates = dates
        self.text = text
        self.positive_class = positive_class

    @property
    def report_(self) -> SupervisedReport:
        """The report of the training: its plan, members, scores, alternatives and warnings."""
        return self._version.exported.report

    @property
    def diagnostics_(self) -> Diagnostics | None:
        """Reliability, residuals and the steps of the fit; None where there are none."""
        return self.report_.diagnostics

    @property
    def members_(self) -> tuple[Member, ...]:
        """The models that predict together, often only one, with their weights and hyperparameters."""
        return self.report_.members

    @property
    def evidence_(self) -> float:
        """The log marginal likelihood in nats of the only member; raises AttributeError for several."""
        member = self._only_member("evidence_")
        if member.evidence is None:
            raise AttributeError("A nearest-neighbour process has no evidence: it is scored on held-out rows.")
        return member.evidence.value

    @property
    def lengthscales_(self) -> Array:
        """The length scales of the only member's kernel, one for each encoded input, or one for all.

        They are those of scikit-learn's kernels, in standard deviations of the inputs where these are standardised, and
        in units of the 0/1 columns for categories. Raises AttributeError for several members, for kernels without a
        length scale, and for inputs that are warped, as they are by default where that raises the evidence.
        """
        member = self._only_member("lengthscales_")
        scale = None if member.kernel is None else member.kernel.length_scale_of_width
        if scale is None or not member.hyperparameters.widths:
            raise AttributeError("The only member has no kernel with a length scale.")
        if warped := [one.input for one in member.hyperparameters.warps if one.skew or one.tail]:
            raise AttributeError(
                f"The kernel is of warped inputs ({', '.join(warped)}), so it has no length scale in theirs: see"
                ' `widths` and `warps` of `members_[0].hyperparameters`, or fit with `"warp": "none"` in the basis.'
            )
        return np.array([one.width for one in member.hyperparameters.widths]) * scale

    def _only_member(self, name: str) -> Member:
        members = self.members_
        if len(members) != 1:
            raise AttributeError(f"`{name}` is of one member, and {len(members)} predict together: see `members_`.")
        return members[0]

    @classmethod
    def _read(cls, document: bytes) -> FittedSupervised:
        version = FittedSupervised.read(document)
        if version.exported.report.task != cls._task:
            raise ValueError(f"Expected a version of the task {cls._task}, got {version.exported.report.task}.")
        return version

    def _learn(
        self, X: object, y: object, target: Column, sample_weight: object, *, noise_sd: Array | float | None = None
    ) -> None:
        """Fit the columns of X and the target; `noise_sd` is known for each row (N,), or for all."""
        block = self._training_block(X)
        check_consistent_length(X, y)
        options: dict[str, object] = {"task": self._task, "target": _free_name(_name_of(y), block)}
        added = {str(options["target"]): target}
        if isinstance(noise_sd, float):
            options["likelihood"] = GaussianLikelihood(noise_sd)
        elif noise_sd is not None:
            name = _free_name(NOISE_COLUMN, {**block, **added})
            options["likelihood"] = GaussianLikelihood(NoiseColumn(name))
            added[name] = NumberArray(noise_sd)
        rows = self._rows({**block, **added}, repeated_rows(sample_weight, X))
        if rows is not None:
            block = _taken(block, rows)
            added = {name: taken(column, rows) for name, column in added.items()}
        requested = {**self._options(block), **options}
        for name in ("unknown_categories", "nulls"):
            requested.pop(name)
        if isinstance(self.positive_class, np.generic):
            requested["positive_class"] = self.positive_class.item()
        exported, vectors = learn({**block, **added}, requested)
        if sample_weight is not None and rows is not None and len(np.unique(rows)) < len(rows):
            _warn_of_duplicates(exported.report)
        self._fitted = FittedSupervised.of(exported, vectors if rows is None else _at_rows(vectors, rows))

    def _rows(self, block: Block, rows: Indices | None) -> Indices | None:
        """Return the indices of the rows to learn from, in order; None for all as they are."""
        return rows

    def _predict_block(self, X: object) -> Block:
        return self._predicted_block(X, self._kinds())

    def _predict_options(self, interval: float = 0.95) -> PredictOptions:
        """Return the options of predictions; raises ValueError for an invalid parameter."""
        for name, given in (("unknown_categories", self.unknown_categories), ("nulls", self.nulls)):
            if given not in get_args(UnknownCategories):
                expected = " or ".join(map(repr, get_args(UnknownCategories)))
                raise ValueError(f"Expected {name} of {expected}, got {given!r}.")
        return PredictOptions(interval, unknown_categories=self.unknown_categories, nulls=self.nulls)

    @property
    def _has_gaps(self) -> bool:
        """True where rows of `fit` had gaps and were learned from."""
        return self.report_.plan.missing == "indicator"

    @property
    def _accepts_gaps(self) -> bool:
        return self._has_gaps or self.nulls == "average"

    def _kinds(self) -> dict[str, ColumnKind]:
        return {column.name: column.kind for column in self.report_.plan.inputs}


def warn_of_unknown(cells: Sequence[UnknownCategory]) -> None:
    """Warn of cells with categories that no training row had."""
    if cells:
        first, more = cells[0], f" and {len(cells) - 1} more" if len(cells) > 1 else ""
        warnings.warn(
            f"No training row had {first.value!r} in row {first.row + 1} of the data, column {first.column}{more}: rows"
            " with an unknown category are predicted as averages over the known ones.",
            stacklevel=4,
        )


def warn_of_nulls(cells: Sequence[MissingValue]) -> None:
    """Warn of missing values."""
    if cells:
        first, more = cells[0], f" and {len(cells) - 1} more" if len(cells) > 1 else ""
        warnings.warn(
            f"Row {first.row + 1} of the data has no value of {first.column}{more}: rows with missing values are"
            " predicted as averages over the values of training rows.",
            stacklevel=4,
        )


def repeated_rows(sample_weight: object, X: object) -> Indices | None:
    """Return each row as often as its weight; None without weights.

    Raises ValueError for weights that are no numbers of repetitions.
    """
    if sample_weight is None:
        return None
    weights = _check_sample_weight(sample_weight, X, dtype=np.float64)
    if (weights < 0.0).any() or (weights != np.floor(weights)).any():
        raise ValueError("Expected sample weights that are integers of 0 and above: a row counts as so many rows.")
    if weights.sum() > MAX_REPETITIONS:
        raise ValueError(
            f"Expected sample weights with a sum of at most {MAX_REPETITIONS:,}, got {weights.sum():,.0f}."
        )
    return np.repeat(np.arange(len(weights)), weights.astype(np.intp))


def _warn_of_duplicates(report: SupervisedReport) -> None:
    if any(one.kind == "duplicates" for one in report.warnings):
        warnings.warn(
            "Rows with sample weights above 1 count once, as the targets are measured numbers. To count a row twice,"
            " double its noise_precision.",
            stacklevel=4,
        )


def _at_rows(vectors: Vectors, rows: Indices) -> Vectors:
    """Return functions with their rows in X in place of those in the table of `rows`."""
    return tuple(one if one.row is None else replace(one, row=int(rows[one.row])) for one in vectors)


def _taken(block: Block, rows: Indices) -> Block:
    if isinstance(block, NumberBlock):
        return NumberBlock(block.names, block.matrix[rows])
    return {name: taken(column, rows) for name, column in block.items()}


def _name_of(y: object) -> str:
    """Return the name of a Series, else `y`."""
    name = getattr(y, "name", None)
    return name if isinstance(name, str) and name else "y"


def _free_name(name: str, block: Block) -> str:
    """Return a name that no column of a block has."""
    return _free_name(f"{name}_", block) if name in block else name


def target_values(estimator: object, y: object) -> Raw:
    """Return the targets (N,); raises ValueError for none, gaps and infinity."""
    if y is None:
        name = type(estimator).__name__
        raise ValueError(f"{name} requires y to be passed, but the target y is None.")
    values: Raw = column_or_1d(to_numpy(y), warn=True, input_name="y")
    if values.dtype.kind == "O" and (missing := [row for row, one in enumerate(values.tolist()) if is_missing(one)]):
        raise ValueError(f"y has a missing value in row {missing[0] + 1} of the data.")
    assert_all_finite(values, input_name="y")
    return values
