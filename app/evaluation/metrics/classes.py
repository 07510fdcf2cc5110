"""Metrics and diagnostics of predicted classes, in memory that does not grow with the rows."""

from dataclasses import dataclass, field, replace
from typing import Self

import numpy as np

from app.evaluation.metrics.losses import Mean, losses
from app.evaluation.metrics.ranking import Ranking
from relevance_bayes.core.types import Array
from relevance_bayes.records.annotations import is_none
from relevance_bayes.records.evaluations import Area, PositiveClassMetrics, ReliabilityBin
from relevance_bayes.records.values import Label
from relevance_bayes.tasks.labelled import LabelledClasses
from relevance_bayes.tasks.listing import CalibrationBins


@dataclass(frozen=True)
class ClassResult:
    """Metrics of predictions for `rows` classes; None without rows.

    `rows_of_unknown_class` have a class that the version does not know: each is an error, and is left out of `log_loss`
    and the curves of single classes. `brier` is half of the squared distance from the one-hot truth. `auc` is the mean
    of `auc_per_class`, one class against the rest, None without any. `ece` is the mean absolute difference between the
    probability of the predicted label and its frequency of being right, over bins, of which `confidence` has the curve;
    `reliability` has the curve of each class. `confusion` counts rows by true class and predicted label.
    """

    rows: int
    rows_of_unknown_class: int
    error: float | None
    log_loss: float | None
    brier: float | None
    auc: Area | None
    ece: float | None
    classes: tuple[Label, ...]
    auc_per_class: tuple[Area | None, ...]
    confusion: tuple[tuple[int, ...], ...]
    confidence: tuple[ReliabilityBin, ...]
    reliability: tuple[tuple[ReliabilityBin, ...], ...]
    positive: PositiveClassMetrics | None = field(default=None, metadata={"exclude_if": is_none})

    def of_positive(self, label: Label | None) -> Self:
        """Return the same metrics with those of the positive class, where one is named that is known."""
        if label not in self.classes:
            return self
        index = self.classes.index(label)
        counts = np.array(self.confusion)
        hits, rows, predicted = counts[index, index], counts[index].sum(), counts[:, index].sum()
        others = counts.sum() - rows
        positive = PositiveClassMetrics(
            label=self.classes[index],
            rows=int(rows),
            precision=_share(hits, predicted),
            recall=_share(hits, rows),
            specificity=_share(others - (predicted - hits), others),
            f1=_share(2 * hits, rows + predicted),
            auc=self.auc_per_class[index],
        )
        return replace(self, positive=positive)


def _share(part: np.int64, whole: np.int64) -> float | None:
    return float(part / whole) if whole else None


@dataclass(frozen=True, eq=False)
class ClassScores:
    """Accumulated scores of rows; scores of parts are added. `confusion` is (K, K)."""

    classes: tuple[Label, ...]
    error: Mean
    log_loss: Mean
    brier: Mean
    ranking: Ranking
    confidence: CalibrationBins
    reliability: tuple[CalibrationBins, ...]
    confusion: Array

    @classmethod
    def empty(cls, classes: tuple[Label, ...]) -> Self:
        """Return the scores of no rows."""
        count = len(classes)
        curves = CalibrationBins.empty(), (CalibrationBins.empty(),) * count
        return cls(classes, Mean(), Mean(), Mean(), Ranking.empty(count), *curves, np.zeros((count, count)))

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
            Ranking.of(probabilities, truth),
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

    def result(self) -> ClassResult:
        """Return the metrics."""
        areas = self.ranking.areas()
        reported = [area for area in areas if area is not None]
        return ClassResult(
            rows=self.error.rows,
            rows_of_unknown_class=self.log_loss.left_out,
            error=self.error.value,
            log_loss=self.log_loss.value,
            brier=self.brier.value,
            auc=_mean(reported) if reported else None,
            ece=self.confidence.expected_error,
            classes=self.classes,
            auc_per_class=areas,
            confusion=tuple(tuple(map(int, row)) for row in self.confusion),
            confidence=tuple(self.confidence.bins()),
            reliability=tuple(tuple(curve.bins()) for curve in self.reliability),
        )


def _mean(areas: list[Area]) -> Area:
    return Area(sum(one.value for one in areas) / len(areas), sum(one.tolerance for one in areas) / len(areas))
