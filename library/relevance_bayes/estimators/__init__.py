"""scikit-learn estimators: regression, classification and kernel principal components as the service learns them.

A model that is fitted here and one that the service trains of the same table by the same options have the same arrays,
and their predictions are the same to the bit.
"""

from collections.abc import Mapping

from relevance_bayes.estimators.classifier import RelevanceClassifier
from relevance_bayes.estimators.kernel_pca import SparseKernelPCA
from relevance_bayes.estimators.regressor import RelevanceRegressor

ESTIMATORS: Mapping[str, type[RelevanceRegressor | RelevanceClassifier | SparseKernelPCA]] = {
    one._task: one for one in (RelevanceRegressor, RelevanceClassifier, SparseKernelPCA)
}
"""Estimators by the task of their models."""

__all__ = ["ESTIMATORS", "RelevanceClassifier", "RelevanceRegressor", "SparseKernelPCA"]
