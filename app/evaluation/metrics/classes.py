"""Metrics and diagnostics of predicted classes, in memory that does not grow with the rows."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from app.evaluation.metrics.losses import Mean, losses
from app.evaluation.metrics.ranking import RankedScores
from relevance_bayes.core.types import Array
from relevance_bayes.records.evaluations import (
    Area,
    ClassDiagnostics,
    ClassMetrics,
    EvaluationResult,
    PositiveClassMetrics,
)
from relevance_bayes.records.values import Label
from relevance_bayes.tasks.labelled import LabelledClasses
from relevance_bayes.tasks.listing import CalibrationBins


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
