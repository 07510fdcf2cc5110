"""Classes and their probabilities."""

import re

import numpy as np
import pytest
from sklearn.ensemble import AdaBoostClassifier

from relevance_bayes.core.types import Array
from relevance_bayes.estimators import RelevanceClassifier

RANDOM = np.random.default_rng(4)
X = RANDOM.normal(size=(60, 2)).round(1)
KIND = (X[:, 0] > 0.0).astype(np.intp) + (X[:, 1] > 0.5)
LABELS = {
    "integers": np.array([2, 5, 9])[KIND],
    "numbers": np.array([0.0, 1.0, 3.0])[KIND],
    "texts": np.array(["a", "b", "c"])[KIND],
    "objects": np.array(["a", "b", "c"], object)[KIND],
    "truth values": KIND > 0,
}


@pytest.mark.parametrize("labels", LABELS.values(), ids=LABELS)
def test_classes_are_those_of_the_targets_whatever_their_type(labels: Array) -> None:
    model = RelevanceClassifier(effort="quick").fit(X, labels)
    assert model.classes_.tolist() == np.unique(labels).tolist()
    assert model.classes_.dtype == labels.dtype
    probabilities = model.predict_proba(X)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1.0)
    np.testing.assert_array_equal(model.predict(X), model.classes_[probabilities.argmax(axis=1)])
    np.testing.assert_array_equal(model.predict_log_proba(X), np.log(probabilities))
    assert model.score(X, labels) > 0.8


@pytest.mark.parametrize(("labels", "named"), [("texts", "b"), ("integers", np.int64(5)), ("truth values", True)])
def test_the_positive_class_is_kept_and_changes_no_prediction(labels: str, named: object) -> None:
    plain = RelevanceClassifier(effort="quick").fit(X, LABELS[labels])
    model = RelevanceClassifier(effort="quick", positive_class=named).fit(X, LABELS[labels])
    assert (model.report_.plan.positive_class, plain.report_.plan.positive_class) == (named, None)
    np.testing.assert_array_equal(model.predict_proba(X), plain.predict_proba(X))


def test_a_positive_class_of_no_row_is_refused() -> None:
    with pytest.raises(ValueError, match="has the classes '2', '5', '9', got '4'"):
        RelevanceClassifier(effort="quick", positive_class=np.int64(4)).fit(X, LABELS["integers"])


def test_a_weight_of_two_is_a_row_given_twice_in_any_order() -> None:
    weights = RANDOM.integers(0, 3, 60)
    order = RANDOM.permutation(60)
    labels = LABELS["texts"]
    weighted = RelevanceClassifier(effort="quick").fit(X[order], labels[order], sample_weight=weights[order])
    repeated = RelevanceClassifier(effort="quick").fit(X.repeat(weights, axis=0), labels.repeat(weights))
    np.testing.assert_array_equal(weighted.predict_proba(X), repeated.predict_proba(X))
    assert weighted.report_.temperature == repeated.report_.temperature


@pytest.mark.parametrize("weights", [None, np.arange(63) % 3], ids=["none", "integers"])
def test_rows_of_functions_are_those_of_the_table_that_was_given(weights: Array | None) -> None:
    order = [*range(59, -1, -1), 0, 1, 2]
    table, labels = X[order], KIND[order]
    model = RelevanceClassifier(effort="quick").fit(table, labels, sample_weight=weights)
    centred = [one for one in model.relevance_vectors_ if one.row is not None]
    assert centred
    for one in centred:
        assert one.inputs == dict(zip(("x0", "x1"), table[one.row].tolist(), strict=True))


def test_rows_in_time_keep_their_order() -> None:
    twice = [*range(60), 0]
    model = RelevanceClassifier(effort="quick", split={"type": "order"}, holdout=0.1)
    model.fit(X[twice], LABELS["texts"][twice])
    rows = [one.row for one in model.relevance_vectors_ if one.row is not None]
    held_out = {*range(55, 61)}
    assert rows
    assert not held_out & {*rows}


def test_a_class_that_only_rows_of_weight_zero_have_is_none() -> None:
    weights = (LABELS["integers"] != 9).astype(np.float64)
    model = RelevanceClassifier(effort="quick").fit(X, LABELS["integers"], sample_weight=weights)
    assert model.classes_.tolist() == [2, 5]


@pytest.mark.parametrize("kind", ["int64", "uint64"])
def test_integers_that_are_no_float64_are_refused_as_classes(kind: str) -> None:
    labels = np.where(KIND > 0, 10**17, 3).astype(kind)
    with pytest.raises(ValueError, match=re.escape("at most 2**53")):
        RelevanceClassifier(effort="quick").fit(X, labels)
    largest = np.where(KIND > 0, 2**53, 3).astype(kind)
    assert RelevanceClassifier(effort="quick").fit(X, largest).classes_.tolist() == [3, 2**53]


@pytest.mark.parametrize("gap", [None, float("nan")], ids=["none", "nan"])
def test_a_gap_among_the_classes_is_refused_with_its_row(gap: float | None) -> None:
    labels = LABELS["objects"].copy()
    labels[[7, 9]] = gap
    with pytest.raises(ValueError, match="y has a missing value in row 8 of the data"):
        RelevanceClassifier(effort="quick").fit(X, labels)


def test_boosting_is_refused_as_its_weights_are_fractions() -> None:
    with pytest.raises(ValueError, match="Expected sample weights that are integers"):
        AdaBoostClassifier(RelevanceClassifier(effort="quick"), n_estimators=2).fit(X, KIND > 0)
