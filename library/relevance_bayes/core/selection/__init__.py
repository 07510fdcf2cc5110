"""Choosing among whole fits: the width, then the prior and the likelihood, then figures of the best."""

from relevance_bayes.core.rows import Folding, Rows, Step
from relevance_bayes.core.selection.candidates import FitContext
from relevance_bayes.core.selection.scoring import (
    FOLDS,
    MAX_SCREENED_ROWS,
    NORMAL,
    THOROUGH,
    Bounds,
    Compared,
    DerivedColumns,
    LocalComparison,
    MeasuredRows,
    PoolMember,
    RankedModel,
    Trained,
)
from relevance_bayes.core.selection.training import MAX_SCORE_LOSS, Selection, train

__all__ = [
    "FOLDS",
    "MAX_SCORE_LOSS",
    "MAX_SCREENED_ROWS",
    "NORMAL",
    "THOROUGH",
    "Bounds",
    "Compared",
    "DerivedColumns",
    "FitContext",
    "Folding",
    "LocalComparison",
    "MeasuredRows",
    "PoolMember",
    "RankedModel",
    "Rows",
    "Selection",
    "Step",
    "Trained",
    "train",
]
