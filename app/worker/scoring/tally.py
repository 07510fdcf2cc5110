"""How good a version's predictions are, of one block after the other."""

from dataclasses import dataclass
from functools import reduce
from typing import TypeAlias

from app.domain.scoring import ClassScores, Evaluation, Judged, JudgedClasses, JudgedNumbers, NumberScores
from app.services.answering import JudgedBlock, ServedVersion, SupervisedAnswering

Scores: TypeAlias = NumberScores | ClassScores


@dataclass
class Tally:
    """What was seen of a version so far."""

    scores: Scores
    without_target: int = 0
    unanswered: int = 0

    @classmethod
    def of(cls, served: ServedVersion) -> "Tally":
        """Of no rows yet."""
        answering = served.answering
        classes = answering.predictor.encoding.target.classes if isinstance(answering, SupervisedAnswering) else ()
        return cls(ClassScores.empty(classes) if classes else NumberScores.empty())

    def add(self, found: JudgedBlock) -> None:
        """Take in a block's rows."""
        self.scores = reduce(_added, found.judged, self.scores)
        self.without_target += found.without_target
        self.unanswered += found.unanswered

    def result(self) -> Evaluation:
        """What all of them are worth."""
        return Evaluation(self.scores.result(), self.without_target, self.unanswered)


def _added(scores: Scores, judged: Judged) -> Scores:
    match scores, judged:
        case NumberScores(), JudgedNumbers():
            return scores + NumberScores.of(judged)
        case ClassScores(), JudgedClasses():
            return scores + ClassScores.of(judged)
        case _:
            raise TypeError(f"expected rows of one kind, got {type(judged).__name__} for {type(scores).__name__}")
