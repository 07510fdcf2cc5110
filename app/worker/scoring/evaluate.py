"""How good a version's predictions for a dataset are, in one pass over it.

Nothing is kept on the way: a pass costs what predicting costs, seconds for a million rows, and a start that died leaves
nothing behind that the next one could take for its own.
"""

from functools import reduce
from typing import TypeAlias

from app.domain.jobs import Job
from app.domain.requests import EvaluationPlan
from app.domain.scoring import ClassScores, Evaluation, Judged, JudgedClasses, JudgedNumbers, NumberScores
from app.services.answering import ServedVersion, SupervisedAnswering, judge
from app.worker.attempts import Attempt
from app.worker.scoring.rows import told_blocks, version_at_hand

Scores: TypeAlias = NumberScores | ClassScores


def evaluate(attempt: Attempt, job: Job, plan: EvaluationPlan) -> Evaluation:
    """What the version's predictions were worth; raises NoLongerOurs, HandedBack."""
    served = version_at_hand(attempt, job, plan.version)
    scores = _nothing(served)
    without_target = unanswered = 0
    for block in told_blocks(attempt, job, phase="evaluate"):
        found = judge(served, block)
        scores = reduce(_added, found.judged, scores)
        without_target += found.without_target
        unanswered += found.unanswered
    return Evaluation(scores.result(), without_target, unanswered)


def _nothing(served: ServedVersion) -> Scores:
    answering = served.answering
    classes = answering.predictor.encoding.target.classes if isinstance(answering, SupervisedAnswering) else ()
    return ClassScores.empty(classes) if classes else NumberScores.empty()


def _added(scores: Scores, judged: Judged) -> Scores:
    match scores, judged:
        case NumberScores(), JudgedNumbers():
            return scores + NumberScores.of(judged)
        case ClassScores(), JudgedClasses():
            return scores + ClassScores.of(judged)
        case _:
            raise TypeError(f"expected rows of one kind, got {type(judged).__name__} for {type(scores).__name__}")
