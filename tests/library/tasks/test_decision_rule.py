"""Decision rules of requests, against the classes that there are."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from relevance_bayes.records.errors import Fault, InvalidRequestError
from relevance_bayes.records.predictions import ClassPrior, DecisionOptions
from relevance_bayes.records.reports import ClassRows
from relevance_bayes.records.values import Label
from relevance_bayes.tasks.decisions import decided, rule_of, with_priors

CLASSES: tuple[Label, ...] = ("gas", "liquid", "solid")
ROWS = tuple(map(ClassRows, CLASSES, (10, 6, 4)))
PROBABILITIES = np.array([[0.5, 0.25, 0.25], [0.1, 0.2, 0.7]])
COSTS = ((0.0, 1.0, 2.0), (3.0, 0.0, 1.0), (9.0, 1.0, 0.0))


def priors(**given: float) -> tuple[ClassPrior, ...]:
    return tuple(ClassPrior(label, prior) for label, prior in given.items())


def refused(
    requested: DecisionOptions, *, classes: tuple[Label, ...] = CLASSES, rows: tuple[ClassRows, ...] = ROWS
) -> list[Fault]:
    with pytest.raises(InvalidRequestError) as refusal:
        rule_of(requested, classes, rows)
    assert refusal.value.detail
    return list(refusal.value.faults)


def test_priors_in_any_order_are_those_of_their_classes() -> None:
    rule = rule_of(DecisionOptions(priors(solid=0.7, gas=0.2, liquid=0.1)), CLASSES, ROWS)
    found, decisions = rule.apply(PROBABILITIES)
    expected = with_priors(PROBABILITIES, np.array([0.5, 0.3, 0.2]), np.array([0.2, 0.1, 0.7]))
    assert_allclose(found, expected, rtol=1e-14)
    assert_array_equal(decisions.chosen, decided(expected).chosen)


def test_costs_and_a_limit_alone_leave_the_probabilities_as_they_are() -> None:
    found, decisions = rule_of(DecisionOptions(costs=COSTS, reject_cost=0.8), CLASSES, ()).apply(PROBABILITIES)
    expected = decided(PROBABILITIES, np.array(COSTS), 0.8)
    assert_array_equal(found, PROBABILITIES)
    assert_array_equal(decisions.chosen, expected.chosen)
    assert_array_equal(decisions.expected_cost, expected.expected_cost)
    assert_array_equal(decisions.rejected, expected.rejected)


def test_numbers_are_one_class_however_they_are_written_and_true_is_not_one() -> None:
    rows = (ClassRows(1, 3), ClassRows(2.5, 5))
    rule = rule_of(DecisionOptions((ClassPrior(2.5, 0.75), ClassPrior(1.0, 0.25))), (1, 2.5), rows)
    assert rule.priors is not None
    assert_allclose(rule.priors, [[0.375, 0.625], [0.25, 0.75]])
    (fault,) = refused(DecisionOptions((ClassPrior(True, 0.25), ClassPrior(2.5, 0.75))), classes=(1, 2.5), rows=rows)
    assert fault == Fault("There is no class true; the classes are 1, 2.5.", pointer="/class_priors/0/label")


def test_thirds_of_six_digits_are_near_enough_and_made_to_sum_to_one() -> None:
    rule = rule_of(DecisionOptions(priors(gas=0.333333, liquid=0.333333, solid=0.333333)), CLASSES, ROWS)
    assert rule.priors is not None
    assert_allclose(rule.priors[1], np.full(3, 1.0 / 3.0), rtol=1e-15)


@pytest.mark.parametrize(
    ("given", "pointer", "detail"),
    [
        (priors(gas=0.5, plasma=0.5), "/class_priors/1/label", "There is no class 'plasma'; the classes are 'gas'"),
        ((*priors(gas=0.5), *priors(gas=0.5)), "/class_priors/1/label", "The class 'gas' has a prior already."),
        (priors(gas=1.0), "/class_priors", "Each class needs a prior; there is none for 'liquid', 'solid'."),
        (priors(gas=0.5, liquid=0.3, solid=0.1), "/class_priors", "The priors sum to 0.9; they should sum to 1."),
        (priors(gas=0.5, liquid=0.3, solid=float("nan")), "/class_priors", "The priors sum to nan"),
    ],
    ids=["unknown", "twice", "missing", "sum", "nan"],
)
def test_priors_that_are_none_of_the_classes_are_refused(
    given: tuple[ClassPrior, ...], pointer: str, detail: str
) -> None:
    (fault,) = refused(DecisionOptions(given))
    assert fault.pointer == pointer
    assert fault.detail.startswith(detail)


@pytest.mark.parametrize(
    ("costs", "pointer", "detail"),
    [
        (COSTS[:2], "/costs", "Expected 3 rows, one for each true class in the order of `classes`, got 2."),
        ((*COSTS[:2], (1.0, 2.0)), "/costs/2", "Expected 3 costs, one for each class that may be decided for, got 2."),
    ],
)
def test_costs_that_are_not_square_are_refused(costs: tuple[tuple[float, ...], ...], pointer: str, detail: str) -> None:
    assert refused(DecisionOptions(costs=costs)) == [Fault(detail, pointer=pointer)]


def test_all_that_is_wrong_is_reported_at_once() -> None:
    found = refused(DecisionOptions(priors(gas=1.0), COSTS[:1]))
    assert [fault.pointer for fault in found] == ["/class_priors", "/costs"]


def test_about_a_number_there_is_nothing_to_decide() -> None:
    found = refused(DecisionOptions(costs=((0.0,),), reject_cost=1.0), classes=(), rows=())
    assert [fault.pointer for fault in found] == ["/costs", "/reject_cost"]


def test_a_class_without_rows_can_not_be_expected() -> None:
    rows = tuple(map(ClassRows, CLASSES, (10, 0, 4)))
    (fault,) = refused(DecisionOptions(priors(gas=0.2, liquid=0.3, solid=0.5)), rows=rows)
    assert fault == Fault("No training row has the class 'liquid', so its prior has to be 0.", pointer="/class_priors")
    probabilities, _ = rule_of(DecisionOptions(priors(gas=0.5, liquid=0.0, solid=0.5)), CLASSES, rows).apply(
        PROBABILITIES
    )
    assert_array_equal(probabilities[:, 1], [0.0, 0.0])
