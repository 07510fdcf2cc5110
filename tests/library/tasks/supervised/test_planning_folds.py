from dataclasses import replace

import numpy as np
import pytest

from app.datasets.records import Dataset
from relevance_bayes.records.errors import Fault, InvalidRequestError
from relevance_bayes.tables.columns import Block
from relevance_bayes.tasks.supervised.request import (
    GroupSplit,
    OrderSplit,
    RandomSplit,
    Split,
    SupervisedRequest,
    Validation,
)
from relevance_bayes.tasks.union import plan
from tests.small_tables import DATASET_ID, dataset_of, moments, numbers, texts

TABLE: Block = {
    "x": numbers(0.5, 1.5, 2.0, 3.5),
    "colour": texts("red", "blue", "red", "blue"),
    "when": moments(0, 10, 20, 31),
    "y": numbers(1, 2.5, 3, 5),
}
LONG_TABLE: Block = {"x": numbers(*np.linspace(0.0, 1.0, 30)), "y": numbers(*np.linspace(0.0, 1.0, 30) ** 2)}
DATASET, LONG = dataset_of(TABLE), dataset_of(LONG_TABLE)


def requesting() -> SupervisedRequest:
    return SupervisedRequest(DATASET_ID, "y")


def only_fault(request: SupervisedRequest, dataset: Dataset = DATASET) -> Fault:
    with pytest.raises(InvalidRequestError) as caught:
        plan(request, dataset)
    (fault,) = caught.value.faults
    return fault


@pytest.mark.parametrize("folds", [-1, 0, 1, 21])
def test_folds_are_from_2_to_20(folds: int) -> None:
    fault = only_fault(replace(requesting(), validation=Validation(folds)), LONG)
    assert fault == Fault(f"Expected from 2 to 20 folds, got {folds}.", "/validation/folds")


@pytest.mark.parametrize(
    ("requested", "needed", "there"),
    [
        (SupervisedRequest(DATASET_ID, "y", validation=Validation(5)), 5, 4),
        (SupervisedRequest(DATASET_ID, "y", validation=Validation(4), split=OrderSplit()), 5, 4),
        (SupervisedRequest(DATASET_ID, "y", validation=Validation(4), holdout=0.25), 4, 3),
    ],
    ids=["rows", "stretches", "rows not held out"],
)
def test_more_folds_than_rows_are_refused(requested: SupervisedRequest, needed: int, there: int) -> None:
    fault = only_fault(requested)
    assert fault.pointer == "/validation/folds"
    assert f"need at least {needed} rows to train on, and there are {there}" in fault.detail


def test_rows_with_gaps_are_no_rows_of_a_fold() -> None:
    dataset = dataset_of({**TABLE, "z": numbers(1, None, 3, 5)})
    assert only_fault(replace(requesting(), validation=Validation(4), missing="drop_rows"), dataset).pointer == (
        "/validation/folds"
    )
    assert plan(replace(requesting(), validation=Validation(4), missing="indicator"), dataset).validation == Validation(
        4
    )


@pytest.mark.parametrize(("holdout", "maximum"), [(0.0, 3), (0.3, 2)])
def test_more_folds_than_groups_are_refused(holdout: float, maximum: int) -> None:
    dataset = dataset_of({**LONG_TABLE, "g": texts(*"abc" * 10)})
    request = replace(requesting(), split=GroupSplit("g"), holdout=holdout)
    assert plan(replace(request, validation=Validation(maximum)), dataset).validation == Validation(maximum)
    fault = only_fault(replace(request, validation=Validation(maximum + 1)), dataset)
    assert (fault.pointer, fault.column) == ("/validation/folds", "g")
    assert f"at most {maximum} " in fault.detail


@pytest.mark.parametrize("split", [OrderSplit("when"), OrderSplit(), GroupSplit("colour"), RandomSplit()])
def test_as_many_folds_as_rows_or_groups_allow_are_planned(split: Split) -> None:
    found = plan(replace(requesting(), split=split, validation=Validation(2)), DATASET)
    assert found.validation == Validation(2)


def test_nothing_is_validated_unless_it_is_requested() -> None:
    assert plan(requesting(), DATASET).validation is None
    assert Validation().folds == 5
