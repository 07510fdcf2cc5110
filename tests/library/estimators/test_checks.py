"""scikit-learn's own checks of estimators: none is expected to fail."""

from collections.abc import Callable

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from relevance_bayes.estimators import RelevanceClassifier, RelevanceRegressor, SparseKernelPCA

ESTIMATORS = [RelevanceRegressor(effort="quick"), RelevanceClassifier(effort="quick"), SparseKernelPCA()]


@pytest.mark.thorough
@parametrize_with_checks(ESTIMATORS)  # type: ignore[untyped-decorator]
def test_an_estimator_passes_each_check_of_scikit_learn(estimator: object, check: Callable[[object], None]) -> None:
    check(estimator)
