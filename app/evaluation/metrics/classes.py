"""Metrics and diagnostics of predicted classes, in memory that does not grow with the rows."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Self

import numpy as np

from app.evaluation.metrics.losses import Mean, losses
from app.evaluation.metrics.ranking import Ranking
from relevance_bayes.core.types import Array
from relevance_bayes.tasks.labelled import LabelledClasses
from relevance_bayes.types.evaluations import Area, ReliabilityBin
from relevance_bayes.types.values import Label

BINS = 20


@dataclass(frozen=True, eq=False)
class Reliability:
    """Sums (3, BINS) over rows by probability, in bins of equal width: rows, probabilities, occurrences."""

    sums: Array

    @classmethod
    def empty(cls) -> Self:
        """Return the sums of no rows."""
        return cls(np.zeros((3, BINS)))

    @classmethod
    def of(cls, probability: Array, came: Array) -> Self:
        """Return the sums of rows (N,); `came` is 1 where the class occurred, else 0."""
        places = np.minimum((probability * BINS).astype(np.intp), BINS - 1)
        weights = (np.ones(len(places)), probability, came)
        return cls(np.array([np.bincount(places, weights=each, minlength=BINS) for each in weights]))

    def __add__(self, other: "Reliability") -> "Reliability":
        """Return the sums of both."""
        return Reliability(self.sums + other.sums)

    @property
    def expected_error(self) -> float | None:
        """Return the mean of |predicted - observed| over the rows, by bins; None without rows."""
        rows = self.sums[0].sum()
        return float(np.abs(self.sums[1] - self.sums[2]).sum() / rows) if rows else None

    def bins(self) -> Iterator[ReliabilityBin]:
        """Yield the bins that have rows."""
        for place, (rows, predicted, observed) in enumerate(self.sums.T.tolist()):
            if rows:
                yield ReliabilityBin(place / BINS, (place + 1) / BINS, int(rows), predicted / rows, observed / rows)


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


@dataclass(frozen=True, eq=False)
class ClassScores:
    """Accumulated scores of rows; scores of parts are added. `confusion` is (K, K)."""

    classes: tuple[Label, ...]
    error: Mean
    log_loss: Mean
    brier: Mean
    ranking: Ranking
    confidence: Reliability
    reliability: tuple[Reliability, ...]
    confusion: Array

    @classmethod
    def empty(cls, classes: tuple[Label, ...]) -> Self:
        """Return the scores of no rows."""
        count = len(classes)
        curves = Reliability.empty(), (Reliability.empty(),) * count
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
            Reliability.of(given, 1.0 - wrong),
            tuple(map(Reliability.of, probabilities.T, certain.T)),
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
