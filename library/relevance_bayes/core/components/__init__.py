"""Sparse kernel principal components: few rows determine the covariance of all rows' images [TIPPING2001b; THEORY
20]."""

from relevance_bayes.core.components.learning import FOLDS, MAX_ROWS, components, drawn, typical_width, usual_densities
from relevance_bayes.core.components.space import Components

__all__ = ["FOLDS", "MAX_ROWS", "Components", "components", "drawn", "typical_width", "usual_densities"]
