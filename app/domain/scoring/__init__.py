"""How good predictions are: metrics, pictures and comparisons of rows that come block by block."""

from app.domain.scoring.cells import ResidualBin
from app.domain.scoring.classes import ClassResult, ClassScores
from app.domain.scoring.evaluation import Evaluation
from app.domain.scoring.judged import COVERAGES, Judged, JudgedClasses, JudgedNumbers
from app.domain.scoring.losses import CLASS_METRICS, NUMBER_METRICS, ClassMetric, Metric, NumberMetric, losses
from app.domain.scoring.numbers import Coverage, NumberResult, NumberScores
from app.domain.scoring.paired import Improvement, PairedDifferences
from app.domain.scoring.promotion import MIN_GROUPS, MIN_ROWS, Promotion, Proof, verdict
from app.domain.scoring.ranking import Area
from app.domain.scoring.reliability import ReliabilityBin

__all__ = [
    "CLASS_METRICS",
    "COVERAGES",
    "MIN_GROUPS",
    "MIN_ROWS",
    "NUMBER_METRICS",
    "Area",
    "ClassMetric",
    "ClassResult",
    "ClassScores",
    "Coverage",
    "Evaluation",
    "Improvement",
    "Judged",
    "JudgedClasses",
    "JudgedNumbers",
    "Metric",
    "NumberMetric",
    "NumberResult",
    "NumberScores",
    "PairedDifferences",
    "Promotion",
    "Proof",
    "ReliabilityBin",
    "ResidualBin",
    "losses",
    "verdict",
]
