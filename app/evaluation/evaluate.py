"""Evaluation of a version on a dataset, in one pass over it.

No checkpoint is stored: a pass costs as much as predicting, seconds for a million rows, so a new attempt starts from
the beginning.
"""

from dataclasses import dataclass, replace
from functools import reduce
from typing import TypeAlias

from app.evaluation.jobs import EvaluationPlan
from app.evaluation.metrics.classes import ClassScores
from app.evaluation.metrics.numbers import NumberScores
from app.jobs.records import Job
from app.jobs.worker.attempts import JobAttempt
from app.prediction import ServedVersion, evaluate_block
from app.prediction.dataset_rows import KnownRows, reported_blocks, seen_rows, training_rows_of, version_at_hand
from relevance_bayes.core.types import Mask
from relevance_bayes.records.evaluations import AnyEvaluationResult
from relevance_bayes.records.values import Label
from relevance_bayes.tasks.prediction import Labelled, LabelledBlock, LabelledClasses, LabelledNumbers

Scores: TypeAlias = NumberScores | ClassScores


@dataclass
class ScoreAccumulator:
    """The metrics of a version, accumulated over blocks."""

    scores: Scores
    positive_class: Label | None = None
    without_target: int = 0
    not_predicted: int = 0
    seen_in_training: int | None = None

    @classmethod
    def of(cls, served: ServedVersion, training_rows: KnownRows) -> "ScoreAccumulator":
        """Return an accumulator without rows, for a version whose training rows may be known."""
        classes = served.model.classes
        scores = ClassScores.empty(classes) if classes else NumberScores.empty()
        return cls(scores, served.model.positive_class, seen_in_training=None if training_rows is None else 0)

    def add(self, found: LabelledBlock) -> None:
        """Add the rows of a block."""
        self.scores = reduce(_added, found.labelled, self.scores)
        self.without_target += found.without_target
        self.not_predicted += found.not_predicted

    def count_seen(self, seen: Mask) -> None:
        """Count the rows, True in the mask (N,), that the version was trained on."""
        if self.seen_in_training is not None:
            self.seen_in_training += int(seen.sum())

    def result(self) -> AnyEvaluationResult:
        """Return the metrics of all rows."""
        result: AnyEvaluationResult
        match self.scores:
            case ClassScores():
                result = self.scores.result(self.positive_class)
            case NumberScores():
                result = self.scores.result()
        return replace(
            result,
            rows_without_target=self.without_target,
            rows_not_predicted=self.not_predicted,
            rows_seen_in_training=self.seen_in_training,
        )


def _added(scores: Scores, labelled: Labelled) -> Scores:
    match scores, labelled:
        case NumberScores(), LabelledNumbers():
            return scores + NumberScores.of(labelled)
        case ClassScores(), LabelledClasses():
            return scores + ClassScores.of(labelled)
        case _:
            raise TypeError(f"expected rows of one kind, got {type(labelled).__name__} for {type(scores).__name__}")


def evaluate(attempt: JobAttempt, job: Job, plan: EvaluationPlan) -> AnyEvaluationResult:
    """Return the metrics of the version's predictions; raises Superseded, Interrupted."""
    served = version_at_hand(attempt, job, plan.version)
    training_rows = training_rows_of(attempt, job, served.version)
    accumulator = ScoreAccumulator.of(served, training_rows)
    for block in reported_blocks(attempt, job, phase="evaluate"):
        found = evaluate_block(served, block)
        accumulator.add(found)
        accumulator.count_seen(found.chosen & seen_rows(block, training_rows))
    return accumulator.result()
