"""Metrics and diagnostics of predicted classes, in memory that does not grow with the rows."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from app.evaluation.metrics.losses import Mean, losses
from relevance_bayes.core.types import Array, Indices
from relevance_bayes.records.evaluations import (
    Area,
    ClassDiagnostics,
    ClassMetrics,
    EvaluationResult,
    PositiveClassMetrics,
)
from relevance_bayes.records.values import Label
from relevance_bayes.tasks.listing import CalibrationBins
from relevance_bayes.tasks.prediction import LabelledClasses

MAX_NUMBERS = 2**20
"""The number of scores that are kept exactly; more are counted in bins of their logits."""

BINS = 8_192
MAX_LOGIT = 40.0
"""The absolute logit at which the bins end: probabilities beyond it are 0 or 1 to nearly float64 precision."""


@dataclass(frozen=True, eq=False)
class RankedScores:
    """Scores (N, K) of rows with the classes `truth` (N,), or binned `counts` (2, K, BINS) of the rows of other classes
    and of the class itself."""

    scores: Array
    truth: Indices
    counts: Array | None = None

    @classmethod
    def of(cls, scores: Array, truth: Indices) -> "RankedScores":
        """Return the ranking of some rows."""
        return cls(scores, truth)._bounded()

    @classmethod
    def empty(cls, classes: int) -> Self:
        """Return the ranking of no rows."""
        return cls(np.empty((0, classes)), np.empty(0, np.intp))

    def __add__(self, other: "RankedScores") -> "RankedScores":
        """Return the ranking of both."""
        if self.counts is None and other.counts is None:
            scores, truth = np.concatenate([self.scores, other.scores]), np.concatenate([self.truth, other.truth])
            return RankedScores(scores, truth)._bounded()
        return self._counted(self._counts() + other._counts())

    def areas(self) -> tuple[Area | None, ...]:
        """Return the area of each class, None where all rows or none have it."""
        classes = self.scores.shape[1]
        if self.counts is not None:
            return tuple(_area(self.counts[0, k], self.counts[1, k], binned=True) for k in range(classes))
        return tuple(self._exact(k) for k in range(classes))

    def _exact(self, place: int) -> Area | None:
        values, where = np.unique(self.scores[:, place], return_inverse=True)
        ours = self.truth == place
        return _area(*(np.bincount(where[mask], minlength=len(values)) for mask in (~ours, ours)), binned=False)

    def _bounded(self) -> "RankedScores":
        return self if self.counts is not None or self.scores.size <= MAX_NUMBERS else self._counted(self._counts())

    def _counted(self, counts: Array) -> "RankedScores":
        return RankedScores(self.scores[:0], self.truth[:0], counts)

    def _counts(self) -> Array:
        if self.counts is not None:
            return self.counts
        with np.errstate(divide="ignore"):
            logits = np.log(self.scores) - np.log1p(-self.scores)
        scaled = (np.clip(logits, -MAX_LOGIT, MAX_LOGIT) + MAX_LOGIT) * (BINS / (2.0 * MAX_LOGIT))
        places = np.minimum(scaled.astype(np.intp), BINS - 1)
        ours = self.truth[:, None] == np.arange(self.scores.shape[1])
        by_class = [
            [np.bincount(places[mask[:, k], k], minlength=BINS) for k in range(self.scores.shape[1])]
            for mask in (~ours, ours)
        ]
        return np.array(by_class, np.float64)


def _area(others: Array | Indices, ours: Array | Indices, *, binned: bool) -> Area | None:
    """Return the area from the numbers of rows at each score, ascending, with its uncertainty where `binned`."""
    pairs = float(others.sum()) * float(ours.sum())
    if not pairs:
        return None
    tied = float(ours @ others)
    above = float(ours @ (np.cumsum(others) - others))
    return Area((above + 0.5 * tied) / pairs, 0.5 * tied / pairs if binned else 0.0)


@dataclass(frozen=True, eq=False)
class ClassScores:
    """Accumulated scores of rows; scores of parts are added. `confusion` is (K, K)."""

    classes: tuple[Label, ...]
    error: Mean
    log_loss: Mean
    brier: Mean
    ranking: RankedScores
    confidence: CalibrationBins
    reliability: tuple[CalibrationBins, ...]
    confusion: Array

    @classmethod
    def empty(cls, classes: tuple[Label, ...]) -> Self:
        """Return the scores of no rows."""
        count = len(classes)
        curves = CalibrationBins.empty(), (CalibrationBins.empty(),) * count
        return cls(classes, Mean(), Mean(), Mean(), RankedScores.empty(count), *curves, np.zeros((count, count)))

    @classmethod
    def of(cls, labelled: LabelledClasses) -> Self:
        """Return the scores of some rows."""
        count, known = len(labelled.classes), labelled.truth >= 0
        given = np.take_along_axis(labelled.probabilities, labelled.chosen[:, None], axis=1)[:, 0]
        wrong = losses(labelled, "error")
        truth, probabilities, certain = labelled.truth[known], labelled.probabilities[known], labelled.certain[known]
        pairs = truth * count + labelled.chosen[known]
        return cls(
            labelled.classes,
            Mean.of(wrong),
            Mean.of(losses(labelled, "log_loss")),
            Mean.of(losses(labelled, "brier")),
            RankedScores.of(probabilities, truth),
            CalibrationBins.of(given, 1.0 - wrong),
            tuple(map(CalibrationBins.of, probabilities.T, certain.T)),
            np.bincount(pairs, minlength=count * count).reshape(count, count).astype(np.float64),
        )

    def __add__(self, other: "ClassScores") -> "ClassScores":
        """Return the scores of both."""
        return ClassScores(
            self.classes,
            self.error + other.error,
            self.log_loss + other.log_loss,
            self.brier + other.brier,
            self.ranking + other.ranking,
            self.confidence + other.confidence,
            tuple(one + more for one, more in zip(self.reliability, other.reliability, strict=True)),
            self.confusion + other.confusion,
        )

    def result(self, positive_class: Label | None = None) -> EvaluationResult[ClassMetrics, ClassDiagnostics]:
        """Return the metrics of these rows, with those of the positive class where it is one of the classes."""
        areas = self.ranking.areas()
        reported = [area for area in areas if area is not None]
        metrics = ClassMetrics(
            error=self.error.value,
            log_loss=self.log_loss.value,
            brier=self.brier.value,
            auc=_mean(reported) if reported else None,
            ece=self.confidence.expected_error,
            rows_of_unknown_class=self.log_loss.left_out,
            positive=self._of_class(positive_class, areas),
        )
        diagnostics = ClassDiagnostics(
            classes=self.classes,
            auc_per_class=areas,
            confusion=tuple(tuple(map(int, row)) for row in self.confusion),
            confidence=tuple(self.confidence.bins()),
            reliability=tuple(tuple(curve.bins()) for curve in self.reliability),
        )
        return EvaluationResult(
            rows=self.error.rows, rows_without_target=0, rows_not_predicted=0, metrics=metrics, diagnostics=diagnostics
        )

    def _of_class(self, label: Label | None, areas: Sequence[Area | None]) -> PositiveClassMetrics | None:
        """Return the metrics of a class against all others; None for a label that is not a class."""
        if label not in self.classes:
            return None
        index = self.classes.index(label)
        counts = self.confusion
        hits, rows, predicted = counts[index, index], counts[index].sum(), counts[:, index].sum()
        others = counts.sum() - rows
        return PositiveClassMetrics(
            label=self.classes[index],
            rows=int(rows),
            precision=_share(hits, predicted),
            recall=_share(hits, rows),
            specificity=_share(others - (predicted - hits), others),
            f1=_share(2 * hits, rows + predicted),
            auc=areas[index],
        )


def _share(part: np.float64, whole: np.float64) -> float | None:
    return float(part / whole) if whole else None


def _mean(areas: list[Area]) -> Area:
    return Area(sum(one.value for one in areas) / len(areas), sum(one.tolerance for one in areas) / len(areas))
