"""Approximations: what a request becomes, and all that can be wrong with it."""

from dataclasses import replace

import numpy as np
import pytest

from relevance_bayes.records.errors import InvalidRequestError
from relevance_bayes.records.values import IgnoredColumn, InputColumn
from relevance_bayes.tables.columns import Block, NumberArray
from relevance_bayes.tasks.approximation.request import MAX_TERMS, ApproximationRequest
from relevance_bayes.tasks.union import plan
from tests.small_tables import dataset_of, numbers, texts

TERMS: Block = {"x": numbers(0.0, 1.0, 2.0), "z": numbers(5.0, 5.0, 5.0), "c": numbers(1.0, -1.0, 0.5)}
DATASET = dataset_of(TERMS)
REQUEST = ApproximationRequest(DATASET.id, width=0.5, coefficients="c")


def faults(request: ApproximationRequest, table: Block = TERMS) -> list[tuple[str | None, str]]:
    with pytest.raises(InvalidRequestError) as refused:
        plan(request, dataset_of(table))
    return [(fault.pointer, fault.detail) for fault in refused.value.faults]


def test_every_other_column_of_numbers_states_where_terms_are() -> None:
    made = plan(REQUEST, dataset_of({**TERMS, "name": texts("a", "b", "c")}))
    assert made.inputs == (InputColumn("x", "number"), InputColumn("z", "number"))
    assert made.ignored == (IgnoredColumn("name", "it holds no numbers"),)
    assert (made.widths, made.tolerance, made.target) == ((0.5, 0.5), 0.01, "c")


def test_named_inputs_have_widths_of_their_own() -> None:
    made = plan(replace(REQUEST, inputs=("z", "x"), width=(1.0, 2.0), model="few"), DATASET)
    assert [column.name for column in made.inputs] == ["z", "x"]
    assert (made.widths, made.model) == ((1.0, 2.0), "few")


@pytest.mark.parametrize(
    ("request_", "pointer", "words"),
    [
        (replace(REQUEST, width=(1.0,)), "/width", "each of 2 inputs, got 1"),
        (replace(REQUEST, width=0.0), "/width", "got 0"),
        (replace(REQUEST, width=float("inf")), "/width", "got inf"),
        (replace(REQUEST, width=1e-80), "/width", "from 1e-75 to 1e+75, got 1e-80"),
        (replace(REQUEST, coefficients="d"), "/coefficients", "no column"),
        (replace(REQUEST, inputs=("x", "y")), "/inputs/1", "no column"),
        (replace(REQUEST, inputs=("x", "x")), "/inputs/1", "twice"),
        (replace(REQUEST, inputs=("c",)), "/inputs/0", "holds the coefficients"),
        (replace(REQUEST, tolerance=0.0), "/tolerance", "got 0"),
        (replace(REQUEST, tolerance=1.0), "/tolerance", "got 1"),
        (replace(REQUEST, max_functions=0), "/max_functions", "at least one term"),
        (replace(REQUEST, constant=float("nan")), "/constant", "finite"),
        (replace(REQUEST, constant=1.0, density=True), "/constant", "integral"),
        (replace(REQUEST, model="Few"), "/model", "lower-case"),
    ],
)
def test_what_is_wrong_is_reported_where_it_is(request_: ApproximationRequest, pointer: str, words: str) -> None:
    [(found, detail)] = faults(request_)
    assert found == pointer
    assert words in detail


@pytest.mark.parametrize("coefficients", [(-1.0, -1.0, -2.0), (1.0, -1.0, 0.0)], ids=["below 0", "cancel"])
def test_a_function_without_an_integral_above_0_is_no_density(coefficients: tuple[float, ...]) -> None:
    terms: Block = {"x": TERMS["x"], "c": numbers(*coefficients)}
    [(found, detail)] = faults(replace(REQUEST, density=True), terms)
    assert found == "/density"
    assert "the mean of `c` is" in detail
    assert "omit `density`" in detail
    assert plan(REQUEST, dataset_of(terms)).density is False


def test_terms_too_far_or_too_wide_to_compute_with_are_refused() -> None:
    [(found, detail)] = faults(REQUEST, {**TERMS, "x": numbers(0.0, 1.0, 1e200)})
    assert found == "/inputs"
    assert "`x` reaches 1e+200" in detail
    assert faults(replace(REQUEST, width=1e75), {**TERMS, "y": numbers(0.0, 1.0, 2.0)})[0][0] == "/width"


def test_gaps_and_texts_are_no_terms() -> None:
    with_gaps: Block = {"x": numbers(0.0, None), "c": numbers(None, 1.0), "t": texts("a", "b")}
    assert [pointer for pointer, _ in faults(REQUEST, with_gaps)] == ["/inputs", "/coefficients"]
    assert [pointer for pointer, _ in faults(replace(REQUEST, inputs=("t",)), with_gaps)] == [
        "/inputs/0",
        "/coefficients",
    ]
    assert [pointer for pointer, _ in faults(replace(REQUEST, coefficients="t"), with_gaps)] == [
        "/inputs",
        "/inputs",
        "/coefficients",
    ]


def test_a_table_without_numbers_has_no_terms() -> None:
    assert faults(REQUEST, {"c": numbers(1.0, 2.0)})[0][0] == "/inputs"


def test_coefficients_of_zero_are_no_function() -> None:
    assert faults(REQUEST, {"x": numbers(1.0, 2.0), "c": numbers(0.0, 0.0)})[0][0] == "/coefficients"


def test_terms_have_a_bound() -> None:
    many: Block = {"x": NumberArray(np.arange(MAX_TERMS + 1.0)), "c": NumberArray(np.ones(MAX_TERMS + 1))}
    assert faults(REQUEST, many)[0][0] == "/dataset_id"
