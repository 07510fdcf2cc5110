"""Evaluation of predictions: metrics, diagnostics and comparisons of rows that come block by block."""

from app.domain.scoring.classes import ClassResult, ClassScores
from app.domain.scoring.evaluation import Evaluation
from app.domain.scoring.labelled import COVERAGES, Labelled, LabelledClasses, LabelledNumbers
from app.domain.scoring.losses import CLASS_METRICS, NUMBER_METRICS, losses
from app.domain.scoring.numbers import NumberResult, NumberScores
from app.domain.scoring.paired import PairedDifferences
from app.domain.scoring.promotion import MIN_GROUPS, MIN_ROWS, Promotion, verdict

__all__ = [
    "CLASS_METRICS",
    "COVERAGES",
    "MIN_GROUPS",
    "MIN_ROWS",
    "NUMBER_METRICS",
    "ClassResult",
    "ClassScores",
    "Evaluation",
    "Labelled",
    "LabelledClasses",
    "LabelledNumbers",
    "NumberResult",
    "NumberScores",
    "PairedDifferences",
    "Promotion",
    "losses",
    "verdict",
]
