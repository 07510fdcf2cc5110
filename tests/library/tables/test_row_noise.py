"""A column that has the noise of each row: what a plan makes of it, and what becomes of its numbers."""

from dataclasses import replace

import numpy as np
import pytest

from app.datasets.records import Dataset
from relevance_bayes.core.likelihoods import GaussianNoise
from relevance_bayes.records.errors import Fault, InvalidRequestError
from relevance_bayes.records.values import IgnoredColumn
from relevance_bayes.tables.columns import Block, Column, block_rows
from relevance_bayes.tables.encoding import EncodedTarget, encode_noise, encode_target
from relevance_bayes.tables.encoding.table import MAX_SCALED
from relevance_bayes.tasks.supervised.request import OrderSplit, SupervisedRequest, named_likelihood
from relevance_bayes.tasks.supervised.rows import TrainingStatistics
from relevance_bayes.tasks.union import plan
from tests.small_tables import DATASET_ID, dataset_of, flags, numbers, texts

TABLE: Block = {
    "x": numbers(0.5, 1.5, 2.0, 3.5),
    "sd": numbers(0.1, 0.4, 0.2, 0.2),
    "y": numbers(10, 25, 30, 55),
}
BY_ROW = GaussianNoise("rows")
REQUEST = SupervisedRequest(DATASET_ID, "y", likelihood=named_likelihood(BY_ROW, "sd"))
POINTER = "/likelihood/noise_sd/column"
TARGET = EncodedTarget("y", "number", 5.0, 2.0, (), noise_column="sd")


def with_noise(column: Column) -> Dataset:
    return dataset_of({**TABLE, "sd": column})


def only_fault(request: SupervisedRequest, dataset: Dataset) -> Fault:
    with pytest.raises(InvalidRequestError) as caught:
        plan(request, dataset)
    (fault,) = caught.value.faults
    return fault


def test_the_column_is_planned_with_and_is_no_input() -> None:
    found = plan(REQUEST, dataset_of(TABLE))
    assert (found.noise_column, found.spec.likelihood) == ("sd", BY_ROW)
    assert [column.name for column in found.inputs] == ["x"]
    assert found.ignored == (IgnoredColumn("sd", "it has the noise of each row"),)
    assert {alternative.likelihood for alternative in found.compared_models} == {BY_ROW}


def test_a_column_may_order_the_rows_and_hold_their_noise() -> None:
    found = plan(replace(REQUEST, split=OrderSplit("sd")), dataset_of(TABLE))
    assert found.ignored == (IgnoredColumn("sd", "it has the noise of each row"),)


def test_as_an_input_it_is_refused_where_it_was_named() -> None:
    fault = only_fault(replace(REQUEST, inputs=("x", "sd")), dataset_of(TABLE))
    assert (fault.pointer, fault.column) == ("/inputs/1", "sd")
    assert "has the noise of each row" in fault.detail


@pytest.mark.parametrize(
    ("column", "given"),
    [
        (numbers(0.1, 0.0, 0.2, 0.2), "goes down to 0;"),
        (numbers(0.1, -3.0, 0.2, 0.2), "goes down to -3;"),
        (texts("low", "high", "low", "low"), "has no numbers"),
        (flags(True, True, False, True), "has no numbers"),
        (numbers(0.1, None, 0.2, 0.2), "1 missing value in 4 rows"),
    ],
)
def test_what_is_no_noise_is_refused(column: Column, given: str) -> None:
    fault = only_fault(replace(REQUEST, missing="error"), with_noise(column))
    assert (fault.pointer, fault.column) == (POINTER, "sd")
    assert given in fault.detail


def test_a_column_of_nothing_but_gaps_is_refused() -> None:
    with pytest.raises(InvalidRequestError) as caught:
        plan(REQUEST, with_noise(numbers(None, None, None, None)))
    assert {fault.pointer for fault in caught.value.faults} >= {POINTER}


@pytest.mark.parametrize(("name", "given"), [("sds", "did you mean `sd`"), ("y", "is the target")])
def test_a_column_that_is_not_there_or_is_the_target_is_refused(name: str, given: str) -> None:
    fault = only_fault(replace(REQUEST, likelihood=named_likelihood(BY_ROW, name)), dataset_of(TABLE))
    assert fault.pointer == POINTER
    assert given in fault.detail


def test_targets_are_standardised_and_their_noise_with_them() -> None:
    statistics = TrainingStatistics(plan(REQUEST, dataset_of(TABLE)))
    statistics.add(TABLE, np.ones(block_rows(TABLE), np.bool_), np.arange(block_rows(TABLE), dtype=np.uint64))
    target = statistics.encoding().target
    assert (target.noise_column, target.shift) == ("sd", 30.0)
    t, (noise_sd, faults) = encode_target(target, TABLE), encode_noise(target, TABLE)
    assert faults == ()
    assert noise_sd is not None
    np.testing.assert_allclose(t.std(), 1.0)
    np.testing.assert_allclose(noise_sd * target.scale, [0.1, 0.4, 0.2, 0.2])


def test_rows_without_the_column_have_no_noise_of_their_own() -> None:
    without: Block = {"x": TABLE["x"]}
    assert encode_noise(TARGET, without) == (None, ())
    assert encode_noise(replace(TARGET, noise_column=None), TABLE) == (None, ())
    assert encode_noise(TARGET, {"sd": numbers(None, None)}) == (None, ())


@pytest.mark.parametrize(
    ("sd", "given"),
    [(None, "is missing"), (0.0, "above 0"), (-1.0, "above 0"), (1e300, "too far"), (1e-300, "too far")],
)
def test_a_row_whose_noise_is_none_is_named(sd: float | None, given: str) -> None:
    noise_sd, (fault,) = encode_noise(TARGET, {"sd": numbers(0.5, sd, 3.0)})
    assert (fault.row, fault.column) == (1, "sd")
    assert given in fault.detail
    assert noise_sd is not None
    np.testing.assert_array_equal(noise_sd, [0.25, np.nan, 1.5])


def test_the_smallest_and_the_largest_noise_are_accepted_and_those_beyond_are_not() -> None:
    smallest, largest = TARGET.scale * (1.0 / MAX_SCALED), TARGET.scale * MAX_SCALED
    noise_sd, faults = encode_noise(TARGET, {"sd": numbers(smallest, largest)})
    assert (noise_sd is not None, faults) == (True, ())
    outside = numbers(np.nextafter(smallest, 0.0), np.nextafter(largest, np.inf))
    assert [fault.row for fault in encode_noise(TARGET, {"sd": outside})[1]] == [0, 1]
