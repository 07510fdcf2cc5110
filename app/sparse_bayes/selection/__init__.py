"""Choosing among whole fits: the width, then the prior and the likelihood, then figures of the best."""

from app.sparse_bayes.selection.pooled import MAX_SCORE_LOSS, Member
from app.sparse_bayes.selection.ranking import Contender
from app.sparse_bayes.selection.rows import Folding, Rows, Step
from app.sparse_bayes.selection.scoring import FOLDS, NORMAL, THOROUGH, Bounds, Compared, Score
from app.sparse_bayes.selection.training import Trained, train

__all__ = [
    "FOLDS",
    "MAX_SCORE_LOSS",
    "NORMAL",
    "THOROUGH",
    "Bounds",
    "Compared",
    "Contender",
    "Folding",
    "Member",
    "Rows",
    "Score",
    "Step",
    "Trained",
    "train",
]
