"""Sparse kernel principal components: few rows tell the covariance of all rows' images [TIPPING2001b; SCIENCE 5]."""

from app.sparse_bayes.components.learning import MOST_ROWS, components, typical_width
from app.sparse_bayes.components.space import Components

__all__ = ["MOST_ROWS", "Components", "components", "typical_width"]
