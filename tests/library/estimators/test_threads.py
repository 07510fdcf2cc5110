"""Fits and predictions use one thread of BLAS, and set the number back."""

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from relevance_bayes.core.types import Array
from relevance_bayes.estimators import RelevanceClassifier, RelevanceRegressor, SparseKernelPCA, fitting
from relevance_bayes.tasks.components.report import ComponentsModel
from relevance_bayes.tasks.supervised.prediction import SupervisedModel

X = np.random.default_rng(5).normal(size=(40, 2))
TARGETS = {RelevanceRegressor: np.sin(X[:, 0]), RelevanceClassifier: X[:, 0] > 0.0, SparseKernelPCA: X[:, 0]}


def blas_threads() -> set[int]:
    return {library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"}


@pytest.mark.parametrize(("estimator", "y"), TARGETS.items())
def test_a_fit_and_a_prediction_have_one_thread(
    estimator: type[RelevanceRegressor], y: Array, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: dict[str, set[int]] = {}

    def noted(name: str, place: object, attribute: str) -> None:
        inner = getattr(place, attribute)

        def call(*values: object, **options: object) -> object:
            seen[name] = blas_threads()
            return inner(*values, **options)

        monkeypatch.setattr(place, attribute, call)

    noted("fit", fitting, "expected")
    noted("predict", SupervisedModel, "predict")
    noted("predict", ComponentsModel, "predict")
    with threadpool_limits(2, user_api="blas"):
        model = estimator().set_params(**({} if estimator is SparseKernelPCA else {"effort": "quick"})).fit(X, y)
        assert blas_threads() == {2}
        (model.transform if isinstance(model, SparseKernelPCA) else model.predict)(X)
        assert blas_threads() == {2}
    assert seen == {"fit": {1}, "predict": {1}}
