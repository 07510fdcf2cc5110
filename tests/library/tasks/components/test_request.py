"""Components: what a request becomes, and all that can be wrong with it."""

from dataclasses import replace

import pytest

from relevance_bayes.core.kernels import Gaussian, Matern32
from relevance_bayes.records.errors import InvalidRequestError
from relevance_bayes.records.values import IgnoredColumn, InputColumn
from relevance_bayes.tables.columns import Block
from relevance_bayes.tasks.components.request import ComponentsRequest
from relevance_bayes.tasks.union import plan
from tests.small_tables import dataset_of, numbers, texts

ROWS: Block = {
    "x": numbers(0.0, 1.0, 2.0, 4.0),
    "same": numbers(5.0, 5.0, 5.0, 5.0),
    "colour": texts("red", "blue", "red", "red"),
}
GAPS: Block = {"x": numbers(0.0, None, 2.0, 4.0), "z": numbers(1.0, 2.0, None, None)}
DATASET = dataset_of(ROWS, name="Rows.csv")
REQUEST = ComponentsRequest(DATASET.id)


def faults(request: ComponentsRequest, table: Block = ROWS) -> list[tuple[str | None, str]]:
    with pytest.raises(InvalidRequestError) as refused:
        plan(request, dataset_of(table))
    return [(fault.pointer, fault.detail) for fault in refused.value.faults]


def test_every_column_that_is_fit_is_looked_at() -> None:
    made = plan(REQUEST, DATASET)
    assert made.inputs == (InputColumn("x", "number"), InputColumn("colour", "category", ("blue", "red")))
    assert made.ignored == (IgnoredColumn("same", "it is the same in every row"),)
    assert (made.model, made.kernel, made.widths, made.min_explained_variance) == ("rows", Gaussian(), None, 0.9)
    assert (made.standardise, made.missing, made.target) == (True, "error", None)


def test_a_width_that_is_given_is_one_of_the_inputs_as_they_are() -> None:
    made = plan(
        replace(REQUEST, width=2.0, kernel=Matern32(), model="near", seed=7, min_explained_variance=0.5), DATASET
    )
    assert (made.widths, made.standardise, made.kernel) == ((2.0,), False, Matern32())
    assert (made.model, made.seed, made.min_explained_variance) == ("near", 7, 0.5)
    assert plan(replace(REQUEST, width=2.0, standardise=True), DATASET).standardise
    several = plan(replace(REQUEST, inputs=("colour", "x"), width=(1.0, 3.0)), DATASET)
    assert several.widths == (1.0, 3.0)
    assert [column.name for column in several.inputs] == ["colour", "x"]


def test_gaps_may_be_filled_or_left_out() -> None:
    table = dataset_of(GAPS)
    assert plan(replace(REQUEST, missing="indicator"), table).missing == "indicator"
    assert plan(replace(REQUEST, missing="drop_rows"), table).missing == "drop_rows"
    assert plan(REQUEST, table).missing == "indicator"
    assert "`x` (1 row)" in plan(REQUEST, table).missing_reason
    assert [pointer for pointer, _ in faults(replace(REQUEST, missing="error"), GAPS)] == ["/inputs", "/inputs"]
    few: Block = {"x": numbers(0.0, None, None), "z": numbers(1.0, 2.0, 3.0)}
    left = replace(REQUEST, inputs=("x", "z"), width=1.0, missing="drop_rows")
    assert [pointer for pointer, _ in faults(left, few)] == ["/missing"]


@pytest.mark.parametrize(
    ("request_", "pointer", "words"),
    [
        (replace(REQUEST, inputs=("y",)), "/inputs/0", "no column"),
        (replace(REQUEST, inputs=("x", "x")), "/inputs/1", "twice"),
        (replace(REQUEST, inputs=()), "/inputs", "empty"),
        (replace(REQUEST, inputs=("x", "same")), "/inputs/1", "can't be standardised"),
        (replace(REQUEST, min_explained_variance=0.0), "/min_explained_variance", "got 0"),
        (replace(REQUEST, min_explained_variance=1.0), "/min_explained_variance", "got 1"),
        (replace(REQUEST, min_explained_variance=float("nan")), "/min_explained_variance", "got nan"),
        (replace(REQUEST, width=0.0), "/width", "got 0"),
        (replace(REQUEST, width=float("nan")), "/width", "got nan"),
        (replace(REQUEST, inputs=("x", "colour"), width=(1.0, -1.0)), "/width/1", "got -1"),
        (replace(REQUEST, inputs=("x",), width=(1.0, 2.0)), "/width", "expected 1, got 2"),
        (replace(REQUEST, width=(1.0, 2.0)), "/inputs", "order of `inputs`"),
        (replace(REQUEST, seed=-1), "/seed", "integer"),
        (replace(REQUEST, model="Few"), "/model", "lower-case"),
    ],
)
def test_what_is_wrong_is_reported_where_it_is(request_: ComponentsRequest, pointer: str, words: str) -> None:
    [(found, detail)] = faults(request_)
    assert found == pointer
    assert words in detail


def test_one_row_is_like_nothing() -> None:
    assert faults(REQUEST, {"x": numbers(1.0)})[0][0] == "/dataset_id"


def test_rows_without_a_column_that_differs_have_nothing_to_learn() -> None:
    [(pointer, detail)] = faults(REQUEST, {"same": numbers(5.0, 5.0)})
    assert (pointer, "left to learn from" in detail) == ("/inputs", True)


def test_numbers_too_large_to_be_used_as_they_are_are_to_be_standardised() -> None:
    far: Block = {"x": numbers(1e80, 2e80, 0.0)}
    assert faults(replace(REQUEST, width=1.0), far)[0][0] == "/inputs"
    assert plan(REQUEST, dataset_of(far)).standardise
