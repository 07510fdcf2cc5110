"""The parameters of estimators are the options of the request, and their docstrings explain each."""

import inspect
import re
from dataclasses import fields

import pytest

from relevance_bayes.estimators import RelevanceClassifier, RelevanceRegressor, SparseKernelPCA
from relevance_bayes.tasks.components.request import ComponentsRequest
from relevance_bayes.tasks.supervised.request import SupervisedRequest

OF_THE_SERVICE = {"dataset_id", "target", "task", "model", "priority"}
"""Members of requests that no estimator has: it is given its table, and is of one task."""

OF_ROWS = {"missing_values", "unknown_categories", "nulls", "components"}
"""Parameters of how a table is read, and of predictions."""

each_estimator = pytest.mark.parametrize(
    ("estimator", "request_of"),
    [
        (RelevanceRegressor, SupervisedRequest),
        (RelevanceClassifier, SupervisedRequest),
        (SparseKernelPCA, ComponentsRequest),
    ],
    ids=lambda one: one.__name__,
)


def parameters(estimator: type) -> set[str]:
    return set(inspect.signature(estimator).parameters)


@each_estimator
def test_an_option_of_the_request_is_a_parameter(estimator: type, request_of: type) -> None:
    options = {one.name for one in fields(request_of)} - OF_THE_SERVICE
    assert options - parameters(estimator) == set(), f"add each to __init__ of {estimator.__name__} or its base"
    assert parameters(estimator) - options <= OF_ROWS


@each_estimator
def test_the_docstring_explains_every_parameter(estimator: type, request_of: type) -> None:
    explained = str(inspect.getdoc(estimator)).split("Parameters\n")[1].split("\nAttributes\n")[0]
    lacking = parameters(estimator) - set(re.findall(r"(?m)^(\w+) : ", explained))
    assert lacking == set(), f"explain each under Parameters of {estimator.__name__}"
