"""A model is the same to the bit whatever the order of the rows and columns that it is fitted to."""

import json
import zipfile
from io import BytesIO

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from relevance_bayes.core.types import Array
from relevance_bayes.documents.schema import DOCUMENT_NAME
from relevance_bayes.estimators import RelevanceClassifier, RelevanceRegressor, SparseKernelPCA
from tests.properties import examples

RANDOM = np.random.default_rng(11)
ROWS, INPUTS = 40, 3
X = RANDOM.uniform(-3.0, 3.0, (ROWS, INPUTS))
Y = np.sin(X[:, 0]) + 0.3 * X[:, 1] + RANDOM.normal(0.0, 0.1, ROWS)
NEW = RANDOM.uniform(-3.0, 3.0, (7, INPUTS))
COUNTS = RANDOM.poisson(np.exp(0.4 * X[:, 1] + 1.0)).astype(np.float64)

ORDERS = (st.permutations(range(ROWS)), st.permutations(range(INPUTS)))


def weights(model: RelevanceRegressor | RelevanceClassifier) -> list[object]:
    """The functions with their weights, but for the numbers of rows and the names of columns."""
    return [
        (one.weight_mean, one.weight_sd, one.weight_means, one.alpha, sorted(map(str, (one.inputs or {}).values())))
        for one in model.relevance_vectors_
    ]


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("target", "options"),
    [
        (Y, {"effort": "normal"}),
        (Y, {"effort": "normal", "holdout": 0.2, "split": {"type": "order", "column": "x0"}}),
        (Y, {"effort": "quick", "likelihood": {"type": "student_t"}}),
        (COUNTS, {"effort": "quick", "likelihood": {"type": "poisson"}}),
    ],
    ids=["normal", "order", "student t", "counts"],
)
@settings(max_examples=examples(2))
@given(*ORDERS)
def test_numbers(target: Array, options: dict[str, object], rows: list[int], columns: list[int]) -> None:
    before = RelevanceRegressor().set_params(**options).fit(X, target)
    if "split" in options:
        options = {**options, "split": {"type": "order", "column": f"x{columns.index(0)}"}}
    after = RelevanceRegressor().set_params(**options).fit(X[np.ix_(rows, columns)], target[rows])
    here, there = before.predict(NEW, return_std=True), after.predict(NEW[:, columns], return_std=True)
    np.testing.assert_array_equal(here, there)
    np.testing.assert_array_equal(before.predict(NEW[:1]), after.predict(NEW[:1, columns]))
    assert weights(after) == weights(before)
    assert after.report_.score == before.report_.score
    assert after.report_.metrics == before.report_.metrics


@settings(max_examples=examples(2))
@given(*ORDERS)
def test_classes(rows: list[int], columns: list[int]) -> None:
    labels = np.array(["low", "high"])[(Y > 0.0).astype(int)]
    before = RelevanceClassifier().fit(X, labels)
    after = RelevanceClassifier().fit(X[np.ix_(rows, columns)], labels[rows])
    np.testing.assert_array_equal(before.predict_proba(NEW), after.predict_proba(NEW[:, columns]))
    assert weights(after) == weights(before)
    assert after.report_.score == before.report_.score


@settings(max_examples=examples(2))
@given(*ORDERS)
def test_components(rows: list[int], columns: list[int]) -> None:
    before, after = SparseKernelPCA().fit(X), SparseKernelPCA().fit(X[np.ix_(rows, columns)])
    np.testing.assert_array_equal(before.transform(NEW), after.transform(NEW[:, columns]))


def test_inputs_keep_the_order_of_the_array_in_a_document_in_reports_and_in_exports() -> None:
    """Of whatever columns: of six orders of three columns five are not that of the model."""
    names, orders = ["x0", "x1", "x2"], set[tuple[str, ...]]()
    for seed in range(3):
        x = np.random.default_rng(seed).uniform(-3.0, 3.0, (ROWS, INPUTS))
        model = RelevanceRegressor(effort="quick", holdout=0.2).fit(x, np.sin(x[:, 0]) + 0.1 * x[:, 1])
        with zipfile.ZipFile(BytesIO(model.document_)) as archive:
            document = json.loads(archive.read(DOCUMENT_NAME))
        orders.add(tuple(column["name"] for column in document["inputs"]))
        again = RelevanceRegressor.from_document(model.document_)
        assert [column.name for column in again.report_.plan.inputs] == names
        np.testing.assert_array_equal(again.predict(NEW), model.predict(NEW))
        assert [one.input for one in model.members_[0].hyperparameters.widths] == names
        assert model.report_.baseline is not None
        assert [one.name for one in model.report_.baseline.inputs] == names
        assert again.report_ == model.report_
        assert again.document_ == model.document_
    assert orders != {tuple(names)}
