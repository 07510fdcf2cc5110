"""Arrays of documents: lists in JSON, each number within its bounds, and arrays unchanged."""

import numpy as np
import pytest
from pydantic import TypeAdapter

from relevance_bayes.documents.codec import Matrix, Places, PositiveMatrix, PositiveVector, Shares, Vector
from relevance_bayes.records.errors import InvalidRequestError
from relevance_bayes.records.json import validate

ADAPTERS: dict[str, TypeAdapter[object]] = {
    "numbers": TypeAdapter(Vector),
    "positive": TypeAdapter(PositiveVector),
    "shares": TypeAdapter(Shares),
    "table": TypeAdapter(Matrix),
    "positive table": TypeAdapter(PositiveMatrix),
    "places": TypeAdapter(Places),
}


@pytest.mark.parametrize(
    ("name", "value", "place"),
    [
        ("numbers", [1.0, 10**400], "/1"),
        ("numbers", [1.0, "2"], "/1"),
        ("numbers", [True], "/0"),
        ("numbers", {"0": 1.0}, ""),
        ("positive", [1.0, 0.0], "/1"),
        ("shares", [1.0, 1.5], "/1"),
        ("table", [[1.0], [None]], "/1/0"),
        ("table", [1.0], "/0"),
        ("positive table", [[1.0, -1.0]], "/0/1"),
        ("places", [0, -1], "/1"),
        ("places", [0.5], "/0"),
        ("places", [2**53 + 1], "/0"),
    ],
)
def test_a_number_outside_its_bounds_is_refused_at_its_place(name: str, value: object, place: str) -> None:
    with pytest.raises(InvalidRequestError) as caught:
        validate(ADAPTERS[name], value)
    assert [fault.pointer or "" for fault in caught.value.faults] == [place]


@pytest.mark.parametrize("name", ADAPTERS)
def test_arrays_are_unchanged(name: str) -> None:
    array = np.array([[-1.0, np.nan]])
    assert validate(ADAPTERS[name], {"array": "one"}, arrays={"one": array}) is array


def test_an_index_may_be_written_as_a_float() -> None:
    found = validate(ADAPTERS["places"], [1, 2.0])
    assert isinstance(found, np.ndarray)
    assert found.dtype.kind == "i"
    assert found.tolist() == [1, 2]


@pytest.mark.parametrize("last", [-1.0, 0, "1", 10**400, True])
def test_of_many_numbers_only_the_first_invalid_one_is_named(last: object) -> None:
    many: list[object] = [*[0.5] * 100_000, last, last]
    with pytest.raises(InvalidRequestError) as caught:
        validate(ADAPTERS["positive"], many)
    assert [fault.pointer for fault in caught.value.faults] == ["/100000"]
