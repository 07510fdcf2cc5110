"""Choosing among whole fits: the width, then the prior and the likelihood, then figures of the best."""

from relevance_bayes.core.selection.local import LocalComparison
from relevance_bayes.core.selection.pool_reduction import MAX_SCORE_LOSS
from relevance_bayes.core.selection.pooled import Member
from relevance_bayes.core.selection.ranking import RankedModel
from relevance_bayes.core.selection.rows import Folding, Rows, Step
from relevance_bayes.core.selection.scoring import FOLDS, NORMAL, THOROUGH, Bounds, Compared, MeasuredRows, Score
from relevance_bayes.core.selection.trained import DerivedColumns, Trained
from relevance_bayes.core.selection.training import train

__all__ = [
    "FOLDS",
    "MAX_SCORE_LOSS",
    "NORMAL",
    "THOROUGH",
    "Bounds",
    "Compared",
    "DerivedColumns",
    "Folding",
    "LocalComparison",
    "MeasuredRows",
    "Member",
    "RankedModel",
    "Rows",
    "Score",
    "Step",
    "Trained",
    "train",
]
