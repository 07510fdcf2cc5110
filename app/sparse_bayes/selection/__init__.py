"""Choosing among whole fits: the width, then the prior and the likelihood, then figures of the best."""

from app.sparse_bayes.selection.alternatives import Alternative, Member, Score, ScoreKind
from app.sparse_bayes.selection.rows import Folding, Rows, Step
from app.sparse_bayes.selection.training import Trained, train

__all__ = ["Alternative", "Folding", "Member", "Rows", "Score", "ScoreKind", "Step", "Trained", "train"]
