"""Predictions of rows of numbers and of classes, as columns and as members of a response; explanations."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Self

import numpy as np

from relevance_bayes.core.models.effects import Contributions
from relevance_bayes.core.types import Array, Indices
from relevance_bayes.records.errors import Fault
from relevance_bayes.records.functions import ListedFunction
from relevance_bayes.records.predictions import MissingValue, UnknownCategory
from relevance_bayes.records.values import Label, text_of
from relevance_bayes.tables.columns import FlatColumn, Labels
from relevance_bayes.tables.encoding import EncodedTarget
from relevance_bayes.tasks.decisions import Decisions, most_probable
from relevance_bayes.tasks.prediction import Means, Members, Probabilities, RecordClass, Rows

_MAX_FLOAT = float(np.finfo(np.float64).max)


@dataclass(frozen=True, eq=False)
class Explanation:
    """N predictions as sums: `baseline` + the sum of `added` (N, k) + `others` (N,) = `mean` (N,).

    `mean` is that of the learned function, in the user's units: of the target under Gaussian and Student-t noise, of
    its logarithm under log-Gaussian noise, of the log rate of counts, of the latent of two classes, and of the
    explained class where each has a latent. `functions` are indices into the model's functions, and `shares` are of the
    absolute contributions of all functions, as in `Contributions`.
    """

    functions: Indices
    added: Array
    shares: Array
    baseline: float
    others: Array
    mean: Array

    @classmethod
    def of(cls, target: EncodedTarget, found: Contributions) -> Self:
        """Return the explanation in the user's units."""
        with np.errstate(over="ignore", invalid="ignore"):
            added = _finite(found.added * target.latent_unit)
            mean = _finite(found.total * target.latent_unit + target.latent_shift)
            others = _finite(mean - target.latent_shift - added.sum(axis=1))
        return cls(found.functions, added, found.shares, target.latent_shift, others, mean)

    def some(self, rows: "slice[int, int, None]") -> Self:
        """Return the explanation of some of the rows."""
        parts = self.functions[rows], self.added[rows], self.shares[rows]
        return type(self)(*parts, self.baseline, self.others[rows], self.mean[rows])

    def spread(self, places: Indices, rows: int) -> Self:
        """Return it with its rows at `places` of so many, NaN at the others."""
        functions = np.zeros((rows, self.functions.shape[1]), np.intp)
        functions[places] = self.functions
        added, shares, others, mean = (
            _spread(part, places, rows) for part in (self.added, self.shares, self.others, self.mean)
        )
        return type(self)(functions, added, shares, self.baseline, others, mean)


def _spread(part: Array, places: Indices, rows: int) -> Array:
    spread = np.full((rows, *part.shape[1:]), np.nan)
    spread[places] = part
    return spread


def _finite(values: Array) -> Array:
    return np.clip(values, -_MAX_FLOAT, _MAX_FLOAT)


Member = Mapping[str, object]


def _decision_members(classes: Sequence[Label], decisions: Decisions) -> list[Member]:
    """Return each row's decision: a label, null where the row is rejected."""
    return [
        {"label": None if rejected else classes[place], "expected_cost": cost}
        for place, cost, rejected in zip(
            decisions.chosen.tolist(), decisions.expected_cost.tolist(), decisions.rejected.tolist(), strict=True
        )
    ]


def _explanation_members(explanation: Explanation | None, functions: Sequence[ListedFunction]) -> Members:
    """Return the greatest contributions to each row, and their sum, where they were requested."""
    if explanation is None:
        return {}
    reported = [
        [_explained(functions[place], one, share) for place, one, share in zip(places, added, shares, strict=True)]
        for places, added, shares in zip(
            explanation.functions.tolist(), explanation.added.tolist(), explanation.shares.tolist(), strict=True
        )
    ]
    sums = [
        {"baseline": explanation.baseline, "others": others, "mean": mean}
        for others, mean in zip(explanation.others.tolist(), explanation.mean.tolist(), strict=True)
    ]
    return {"explanation": reported, "explanation_sum": sums}


def _explained(function: ListedFunction, added: float, share: float) -> Member:
    return {
        "vector": function.number,
        "kind": function.kind,
        "row": function.row,
        "input": function.input,
        "contribution": added,
        "share": share,
    }


def _support_members(support: Array | None, rows: int) -> Sequence[float | None]:
    """Return each row's support, None where the model does not know it."""
    return [None] * rows if support is None else support.tolist()


_FIGURES_OF = {
    "mean": ("mean",),
    "sd": ("sd",),
    "variance": ("variance_total", "variance_noise", "variance_weights", "variance_residual"),
    "interval": ("lower", "upper"),
    "support": ("support",),
}
"""The columns of each output of numbers."""

_PARTS = ("total", "noise", "weights", "residual")


@dataclass(frozen=True, eq=False)
class RegressionPrediction:
    """Predictions of N rows in the user's units, each (N,); `total` is the sum of the other three variances.

    `support` is in [0, 1], None where the model does not know it. `covariance` (N, N) and `explanation` are set where
    they were requested. A row with a fault is NaN throughout. `unknown_categories` are the first cells with one, and
    `nulls` the first missing values, whose rows, `rows_averaged` in all, are averages over known values.
    """

    mean: Array
    sd: Array
    total: Array
    noise: Array
    weights: Array
    residual: Array
    lower: Array
    upper: Array
    support: Array | None
    covariance: Array | None
    explanation: Explanation | None
    faults: tuple[Fault, ...]
    unknown_categories: tuple[UnknownCategory, ...] = ()
    nulls: tuple[MissingValue, ...] = ()
    rows_averaged: int = 0

    @property
    def rows(self) -> int:
        """The number of rows, N."""
        return len(self.mean)

    @property
    def monitored(self) -> tuple[str, Array]:
        """Return the mean."""
        return "mean", self.mean

    @property
    def compared(self) -> Means:
        """Return mean and sd."""
        return Means(self.mean, self.sd)

    @property
    def figures(self) -> dict[str, Array]:
        """Return all columns by name, except the support, which not every model has."""
        return {
            "mean": self.mean,
            "sd": self.sd,
            "variance_total": self.total,
            "variance_noise": self.noise,
            "variance_weights": self.weights,
            "variance_residual": self.residual,
            "lower": self.lower,
            "upper": self.upper,
        }

    def with_faults(self, faults: tuple[Fault, ...]) -> "RegressionPrediction":
        """Return the prediction with other faults."""
        return replace(self, faults=faults)

    def some(self, rows: Rows) -> "RegressionPrediction":
        """Return the prediction of some of the rows."""
        return replace(
            self,
            mean=self.mean[rows],
            sd=self.sd[rows],
            total=self.total[rows],
            noise=self.noise[rows],
            weights=self.weights[rows],
            residual=self.residual[rows],
            lower=self.lower[rows],
            upper=self.upper[rows],
            support=None if self.support is None else self.support[rows],
            explanation=None if self.explanation is None else self.explanation.some(rows),
        )

    def columns(self, outputs: Sequence[str]) -> dict[str, FlatColumn]:
        """Return a column for each figure of the outputs."""
        support = np.full(self.rows, np.nan) if self.support is None else self.support
        figures = {**self.figures, "support": support}
        return {name: figures[name] for output in outputs for name in _FIGURES_OF[output]}

    def arrays(self) -> dict[str, Array]:
        """Return the figures, and the support where it is known."""
        return self.figures if self.support is None else {**self.figures, "support": self.support}

    def joint_members(self) -> dict[str, object]:
        """Return the covariance, where it was requested, unknown categories and missing values."""
        covariance = {} if self.covariance is None else {"covariance": self.covariance.tolist()}
        return covariance | _averaged_members(self.unknown_categories, self.nulls)

    def members(self, outputs: Sequence[str], functions: Sequence[ListedFunction], record: RecordClass) -> Members:
        """Return the figures, and explanations after them."""
        columns: Members = {}
        for output in outputs:
            match output:
                case "interval":
                    columns["lower"], columns["upper"] = self.lower.tolist(), self.upper.tolist()
                case "variance":
                    parts = (self.total, self.noise, self.weights, self.residual)
                    columns["variance"] = [*map(record(_PARTS), *(part.tolist() for part in parts))]
                case "support":
                    columns["support"] = _support_members(self.support, self.rows)
                case "sd":
                    columns["sd"] = self.sd.tolist()
                case _:
                    columns["mean"] = self.mean.tolist()
        return columns | _explanation_members(self.explanation, functions)


@dataclass(frozen=True, eq=False)
class ClassificationPrediction:
    """Predictions of N rows for K classes: `probabilities` (N, K) in the order of `classes`.

    Two classes have one latent, of the second: mean and variance (N,). Where each class has one, `latent_mean` is
    (N, K), and so is `latent_variance` where each has a model of its own; else they share it, (N,). `support` is in
    [0, 1], None where the model does not know it; `explanation`, where requested, is of the latent of the most probable
    class, in its units, before the temperature. `decisions`, where requested, follow from the `probabilities`, which
    are then those under the requested priors; the latents do not change. A row with a fault is NaN throughout.
    `unknown_categories`, `nulls` and `rows_averaged` as of `RegressionPrediction`.
    """

    classes: tuple[Label, ...]
    probabilities: Array
    latent_mean: Array
    latent_variance: Array
    support: Array | None
    explanation: Explanation | None
    decisions: Decisions | None
    faults: tuple[Fault, ...]
    unknown_categories: tuple[UnknownCategory, ...] = ()
    nulls: tuple[MissingValue, ...] = ()
    rows_averaged: int = 0

    @property
    def most_probable(self) -> Indices:
        """Return the index in `classes` of each row's most probable class, (N,)."""
        return most_probable(self.probabilities)

    @property
    def rows(self) -> int:
        """The number of rows, N."""
        return len(self.probabilities)

    @property
    def monitored(self) -> tuple[str, Array]:
        """Return the probabilities."""
        return "probabilities", self.probabilities

    @property
    def compared(self) -> Probabilities:
        """Return the probabilities."""
        return Probabilities(self.classes, self.probabilities)

    def with_faults(self, faults: tuple[Fault, ...]) -> "ClassificationPrediction":
        """Return the prediction with other faults."""
        return replace(self, faults=faults)

    def some(self, rows: Rows) -> "ClassificationPrediction":
        """Return the prediction of some of the rows."""
        return replace(
            self,
            probabilities=self.probabilities[rows],
            latent_mean=self.latent_mean[rows],
            latent_variance=self.latent_variance[rows],
            support=None if self.support is None else self.support[rows],
            explanation=None if self.explanation is None else self.explanation.some(rows),
            decisions=None if self.decisions is None else _decided(self.decisions, rows),
        )

    def columns(self, outputs: Sequence[str]) -> dict[str, FlatColumn]:
        """Return a column for each label, probability and latent, and decisions after them."""
        columns = dict(column for output in outputs for column in self._columns(output))
        if self.decisions is not None:
            chosen = np.where(self.decisions.rejected, -1, self.decisions.chosen)
            columns |= {"decision": Labels(self.classes, chosen), "expected_cost": self.decisions.expected_cost}
        return columns

    def _columns(self, output: str) -> Iterator[tuple[str, FlatColumn]]:
        names = [*map(text_of, self.classes)]
        match output:
            case "label":
                yield "label", Labels(self.classes, self.most_probable)
            case "probabilities":
                yield from zip((f"probability_{name}" for name in names), self.probabilities.T, strict=True)
            case "support":
                yield "support", np.full(self.rows, np.nan) if self.support is None else self.support
            case _:
                for name, latent in (("latent_mean", self.latent_mean), ("latent_variance", self.latent_variance)):
                    if latent.ndim == 1:
                        yield name, latent
                    else:
                        yield from zip((f"{name}_{one}" for one in names), latent.T, strict=True)

    def arrays(self) -> dict[str, Array | Labels | Probabilities]:
        """Return labels and probabilities, and the support where it is known."""
        support = {} if self.support is None else {"support": self.support}
        return {"label": Labels(self.classes, self.most_probable), "probabilities": self.compared, **support}

    def joint_members(self) -> dict[str, object]:
        """Return unknown categories and missing values."""
        return _averaged_members(self.unknown_categories, self.nulls)

    def members(self, outputs: Sequence[str], functions: Sequence[ListedFunction], record: RecordClass) -> Members:
        """Return labels, probabilities and latents, then explanations and decisions."""
        classes, probabilities = self.classes, self.probabilities.tolist()
        columns: Members = {}
        for output in outputs:
            match output:
                case "label":
                    columns["label"] = [classes[place] for place in self.most_probable.tolist()]
                case "probabilities":
                    columns["probabilities"] = [
                        [{"label": label, "probability": p} for label, p in zip(classes, row, strict=True)]
                        for row in probabilities
                    ]
                case "support":
                    columns["support"] = _support_members(self.support, len(probabilities))
                case _:
                    columns["latent"] = self._latents()
        columns |= _explanation_members(self.explanation, functions)
        if self.decisions is not None:
            columns["decision"] = _decision_members(self.classes, self.decisions)
        return columns

    def _latents(self) -> list[object]:
        """Return one latent for two classes, a list with one for each where each class has its own."""
        means, variances = self.latent_mean, self.latent_variance
        if means.ndim == 1:
            pairs = zip(means.tolist(), variances.tolist(), strict=True)
            return [{"mean": mean, "variance": variance} for mean, variance in pairs]
        classes = self.classes
        each = variances.tolist() if variances.ndim > 1 else [[one] * len(classes) for one in variances.tolist()]
        return [
            [
                {"label": label, "mean": mean, "variance": variance}
                for label, mean, variance in zip(classes, row, spread, strict=True)
            ]
            for row, spread in zip(means.tolist(), each, strict=True)
        ]


def _averaged_members(unknown: tuple[UnknownCategory, ...], nulls: tuple[MissingValue, ...]) -> dict[str, object]:
    members: dict[str, object] = {}
    if unknown:
        members["unknown_categories"] = [asdict(cell) for cell in unknown]
    if nulls:
        members["nulls"] = [asdict(cell) for cell in nulls]
    return members


def _decided(found: Decisions, rows: Rows) -> Decisions:
    return Decisions(found.chosen[rows], found.expected_cost[rows], found.rejected[rows])
