"""Arrays of documents: lists in JSON, each number within its bounds, and arrays as they are."""

import json
import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from relevance_bayes.documents.numbers import Matrix, Places, PositiveMatrix, PositiveVector, Shares, Vector
from relevance_bayes.types.errors import InvalidRequestError
from relevance_bayes.types.records import Converter

BOTH: dict[str, tuple[Converter[object], TypeAdapter[object]]] = {
    "numbers": (Converter(Vector), TypeAdapter(Vector)),
    "positive": (Converter(PositiveVector), TypeAdapter(PositiveVector)),
    "shares": (Converter(Shares), TypeAdapter(Shares)),
    "table": (Converter(Matrix), TypeAdapter(Matrix)),
    "positive table": (Converter(PositiveMatrix), TypeAdapter(PositiveMatrix)),
    "places": (Converter(Places), TypeAdapter(Places)),
}

numbers = st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.sampled_from([0.5, 1.0, 5e-324, 2**53])
values = st.one_of(
    st.lists(st.floats(0.0, 2.0)), st.lists(st.floats(1e-9, 1.0)), st.lists(st.integers(0, 9)), st.lists(numbers),
    st.lists(st.lists(numbers, max_size=3), max_size=3), st.lists(numbers | st.booleans() | st.text() | st.none()),
    st.dictionaries(st.text(), numbers),
)  # fmt: skip


@pytest.mark.parametrize("name", BOTH)
@given(value=values)
def test_lists_are_read_or_refused_as_pydantic_does(name: str, value: object) -> None:
    converter, adapter = BOTH[name]
    if name == "places":
        value = with_integers(value)  # the converter takes 3.0 for 3
    try:
        expected = adapter.validate_json(json.dumps(value), strict=True)
    except ValidationError as refused:
        with pytest.raises(InvalidRequestError) as caught:
            converter.decode(value)
        place = "".join(f"/{step}" for step in refused.errors()[0]["loc"])
        assert [fault.pointer or "" for fault in caught.value.faults] == [place]
    else:
        found = converter.decode(value)
        assert found == expected
        assert json.dumps(found) == json.dumps(expected)  # of the same types


def with_integers(value: object) -> object:
    """A list without whole numbers that are floats."""
    if not isinstance(value, list):
        return value
    return [int(one) if isinstance(one, float) and one.is_integer() else one for one in value]


@pytest.mark.parametrize("name", BOTH)
def test_arrays_pass_as_they_are(name: str) -> None:
    array = np.array([[-1.0, np.nan]])
    assert BOTH[name][0].decode(array) is array


def test_a_whole_number_is_a_place_however_it_is_written() -> None:
    found = Converter[list[int]](Places).decode([1, 2.0])
    assert found == [1, 2]
    assert set(map(type, found)) == {int}


@pytest.mark.thorough
@pytest.mark.parametrize("last", [float("nan"), float("inf"), -1.0, 0, "1", 10**400, True])
def test_a_million_numbers_are_read_in_a_moment_and_the_one_that_is_wrong_is_named(last: object) -> None:
    many: list[object] = [0.5] * 1_000_000
    started = time.process_time()
    assert Converter[object](PositiveVector).decode(many) is many
    assert time.process_time() - started < 0.25, "about .03 s"
    many.append(last)
    with pytest.raises(InvalidRequestError) as caught:
        Converter[object](PositiveVector).decode(many, "/model/alpha")
    assert [fault.pointer for fault in caught.value.faults] == ["/model/alpha/1000000"]
