"""Objects of too many members are found without decoding them."""

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.errors import MalformedBodyError, TooLargeError
from app.formats import json_body
from app.formats.cells import JSON
from app.formats.json_body import check_containers, check_members
from relevance_bayes.records.errors import InvalidDataError

VALUES: st.SearchStrategy[JSON] = st.recursive(
    st.none() | st.integers() | st.text(alphabet='ab"\\,:{}[]\n', max_size=8),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(alphabet='a"\\,:{', max_size=4), inner, max_size=6)
    ),
    max_leaves=30,
)


def max_members(value: JSON) -> int:
    """The number of members of the object that has most."""
    if isinstance(value, dict):
        return max(len(value), *map(max_members, value.values()), 0)
    return max(map(max_members, value), default=0) if isinstance(value, list) else 0


@given(VALUES, st.integers(1, 12), st.booleans())
def test_the_largest_object_is_found_wherever_chunks_end(value: JSON, chunk: int, spaced: bool) -> None:
    text = json.dumps(value, separators=(" , ", " : ") if spaced else (",", ":")).encode()
    count = max_members(value)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(json_body, "CHUNK_BYTES", chunk)
        patch.setattr(json_body, "MAX_UNCHECKED", -1)
        check_members(text, count)
        if count:
            with pytest.raises(InvalidDataError):
                check_members(text, count - 1)


@pytest.mark.parametrize(
    "row", [b'{"x":1.25,"colour":"red","longer":17.5}', b'{"x":"\\\\","colour":"\\"a, b\\"","n":17}']
)
def test_rows_that_may_be_cost_less_than_a_second(row: bytes) -> None:
    body = b'{"rows":[%b]}' % b",".join([row] * 800_000)
    began = time.process_time()
    check_members(body, 3)
    assert time.process_time() - began < 1.0


def test_a_row_of_a_million_members_is_refused_at_once() -> None:
    body = b'{"rows":[{%b}]}' % b",".join(b'"name%d" : %d' % (place, place) for place in range(1_000_000))
    began = time.process_time()
    with pytest.raises(InvalidDataError, match="Expected objects of at most 1,000 members"):
        check_members(body, 1_000)
    assert time.process_time() - began < 0.1


def test_objects_within_each_other_are_bounded() -> None:
    with pytest.raises(MalformedBodyError, match="at most 64 nested"):
        check_members(b'{"a":' * 100_000 + b"1" + b"}" * 100_000, 1_000)


def test_strings_full_of_structure_count_for_nothing() -> None:
    check_members(json.dumps({"x": ',:{"\\' * 200_000}).encode(), 1)


def containers(value: JSON) -> int:
    """The number of objects and arrays in a value, itself included."""
    if isinstance(value, dict):
        return 1 + sum(map(containers, value.values()))
    return 1 + sum(map(containers, value)) if isinstance(value, list) else 0


@given(VALUES, st.integers(1, 12), st.booleans())
def test_objects_and_arrays_are_counted_wherever_chunks_end(value: JSON, chunk: int, spaced: bool) -> None:
    text = json.dumps(value, separators=(" , ", " : ") if spaced else (",", ":")).encode()
    count = containers(value)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(json_body, "CHUNK_BYTES", chunk)
        check_containers(text + b" " * 1_000, count)
        if count:
            with pytest.raises(TooLargeError, match=f"at most {count - 1} objects"):
                check_containers(text + b" " * 1_000, count - 1)


@pytest.mark.parametrize("piece", [b"{}", b"[]", b'{"a":[]}', b'"[{", {}'])
def test_ten_million_objects_are_refused_at_once(piece: bytes) -> None:
    body = b"[" + (piece + b",") * 9_999_999 + piece + b"]"
    began = time.process_time()
    with pytest.raises(TooLargeError, match="at most 200,000 objects and arrays"):
        check_containers(body, 200_000)
    assert time.process_time() - began < 1.0


def test_arrays_within_each_other_are_too_deep_and_not_too_many() -> None:
    with pytest.raises(MalformedBodyError, match="at most 64 nested"):
        check_containers(b'{"a":' + b"[" * 100_000 + b"]" * 100_000 + b"}", 1_000)
