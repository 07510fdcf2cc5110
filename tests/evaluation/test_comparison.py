"""Two versions on the same rows, each also predicted alone."""

from dataclasses import replace

import numpy as np
import pytest

from app.errors import ConflictError
from app.evaluation.comparison import ComparedClasses, ComparedNumbers, compare, require_one_question
from app.prediction import PredictRequest, ServedVersion, predict
from relevance_bayes.records.errors import InvalidRequestError
from relevance_bayes.records.values import InputColumn
from relevance_bayes.tables.columns import Block
from relevance_bayes.tasks.supervised.predictions import ClassificationPrediction, RegressionPrediction
from relevance_bayes.tasks.supervised.request import SupervisedPlan
from tests.served_versions import served
from tests.small_approximation import version_of_a_term
from tests.small_components import version_of_components
from tests.small_models import small_version, version_of_three_classes
from tests.small_tables import numbers, texts

BLOCK: Block = {"x": numbers(-1.0, 0.0, 1.0, 2.5), "colour": texts("red", "blue", "red", "blue")}


def other_numbers() -> ServedVersion:
    made = small_version(name="other")
    model = replace(made.predictor.model, mean=np.array([0.5, -1.0, 1.0]), noise_sd=0.3)
    return served(replace(made, predictor=replace(made.predictor, learned=model)))


def test_numbers_are_those_that_each_predicts_alone() -> None:
    first, second = served(small_version()), other_numbers()
    compared = compare(first, second, BLOCK)
    one, other = predict(first, PredictRequest(BLOCK)), predict(second, PredictRequest(BLOCK))
    assert isinstance(compared, ComparedNumbers)
    assert isinstance(one, RegressionPrediction)
    assert isinstance(other, RegressionPrediction)
    assert compared.first.mean.tolist() == one.mean.tolist()
    assert compared.second.sd is not None
    assert compared.second.sd.tolist() == other.sd.tolist()
    assert compared.difference.tolist() == (other.mean - one.mean).tolist()
    assert np.abs(compared.difference).min() > 0.0
    back = compare(second, first, BLOCK)
    assert isinstance(back, ComparedNumbers)
    assert back.difference.tolist() == (one.mean - other.mean).tolist()


def test_a_version_does_not_differ_from_itself() -> None:
    for made in (small_version(), small_version("classification"), version_of_a_term()):
        one = served(made)
        block = BLOCK if "colour" in dict(one.columns) else {name: numbers(0.0, 1.0) for name, _ in one.columns}
        compared = compare(one, one, block)
        if isinstance(compared, ComparedNumbers):
            assert not compared.difference.any()
        else:
            assert not compared.total_variation.any()
            assert compared.labels[0].tolist() == compared.labels[1].tolist()


def test_classes_are_matched_by_their_labels_not_by_their_order() -> None:
    first = served(small_version("classification", classes=("no", "yes")))
    second = served(small_version("classification", name="other", classes=("yes", "no")))
    compared, alone = compare(first, second, BLOCK), predict(first, PredictRequest(BLOCK))
    assert isinstance(compared, ComparedClasses)
    assert isinstance(alone, ClassificationPrediction)
    assert compared.classes == ("no", "yes")
    assert compared.first.tolist() == alone.probabilities.tolist()
    assert compared.second.tolist() == alone.probabilities[:, ::-1].tolist()
    assert compared.total_variation == pytest.approx(np.abs(1.0 - 2.0 * alone.probabilities[:, 0]))
    one, other = compared.labels
    assert (one != other).all()


def test_a_class_that_one_does_not_know_has_no_probability_there() -> None:
    first = served(version_of_three_classes(classes=("a", "b", "c")))
    second = served(version_of_three_classes(name="other", classes=("c", "d", "b")))
    compared = compare(first, second, BLOCK)
    assert isinstance(compared, ComparedClasses)
    assert compared.classes == ("a", "b", "c", "d")
    assert not compared.first[:, 3].any()
    assert not compared.second[:, 0].any()
    assert compared.first.sum(axis=1) == pytest.approx(1.0)
    assert compared.second.sum(axis=1) == pytest.approx(1.0)
    # Of all sets of classes, the one on which they differ most: the definition of total variation.
    subsets = np.array([[bit >> place & 1 for place in range(4)] for bit in range(16)], float)
    maxima = np.abs((compared.second - compared.first) @ subsets.T).max(axis=1)
    assert compared.total_variation == pytest.approx(maxima)


def test_true_is_not_one() -> None:
    first = served(small_version("classification", classes=(False, True)))
    second = served(small_version("classification", name="other", classes=(0, 1)))
    compared = compare(first, second, BLOCK)
    assert isinstance(compared, ComparedClasses)
    assert len(compared.classes) == 4
    assert compared.total_variation == pytest.approx(1.0)


def test_versions_with_another_target_are_not_compared() -> None:
    made = small_version(name="other")
    plan = made.report.plan
    first = served(small_version())

    def reported(plan: SupervisedPlan) -> ServedVersion:
        return served(replace(made, report=replace(made.report, plan=plan)))

    for second, why in (
        (served(small_version("classification", name="classes")), "its task is classification, not regression"),
        (reported(replace(plan, target="z")), "its target is 'z', not 'y'"),
        (reported(replace(plan, inputs=(InputColumn("x", "number"),))), "it reads 'x' \\(number\\), not"),
    ):
        with pytest.raises(ConflictError, match=why) as refused:
            require_one_question(first, second)
        assert refused.value.faults[0].pointer == "/with"
    require_one_question(first, reported(replace(plan, inputs=tuple(reversed(plan.inputs)))))


def test_components_are_not_compared() -> None:
    one = served(version_of_components())
    with pytest.raises(InvalidRequestError, match="Versions of the task components have no target"):
        compare(one, one, BLOCK)
