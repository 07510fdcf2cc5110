"""Records as JSON and back; invalid values are refused at their places."""

import json
import math
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from typing import Annotated, Generic, Literal, TypeVar
from uuid import UUID

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import Field, TypeAdapter, ValidationError

from relevance_bayes.documents.codec import Vector
from relevance_bayes.documents.schema import CONTENT
from relevance_bayes.records.annotations import OneOf, is_none
from relevance_bayes.records.errors import InvalidRequestError
from relevance_bayes.records.json import Timestamp, encode, validate


class Colour(StrEnum):
    """An enumeration."""

    RED = "red"
    BLUE = "blue"


@dataclass(frozen=True)
class Circle:
    """One member of a union, which has a member with a default and takes no others."""

    __pydantic_config__ = {"extra": "forbid"}

    radius: Annotated[float, Field(gt=0.0, allow_inf_nan=False)]
    type: Literal["circle"] = "circle"


@dataclass(frozen=True)
class Polygon:
    """Another, which ignores members that it does not have."""

    __pydantic_config__ = {"extra": "ignore"}

    sides: Annotated[int, Field(ge=3, le=2**53)]
    type: Literal["polygon"] = "polygon"


Shape = Annotated[Circle | Polygon, OneOf("type")]


@dataclass(frozen=True, kw_only=True)
class Drawing:
    """Members of all kinds."""

    __pydantic_config__ = {"extra": "forbid"}

    name: Annotated[str, Field(pattern="^[a-z]+$", min_length=1, max_length=8)]
    key: UUID
    at: datetime
    colour: Colour
    visible: bool
    label: str | int | float | bool
    width: Literal["thin"] | float
    share: float = field(metadata={"ge": 0.0, "le": 1.0, "allow_inf_nan": False})
    shape: Shape
    shapes: list[Shape] = field(default_factory=list)
    points: tuple[int, ...] = ()
    figures: dict[str, dict[str, float]] = field(default_factory=dict)
    report: dict[str, object] = field(default_factory=dict)
    inner: "Drawing | None" = None
    rare: float | None = field(default=None, metadata={"exclude_if": is_none})
    former: int | None = field(default=None, metadata={"exclude": True})


DRAWING: TypeAdapter[Drawing] = TypeAdapter(Drawing)

reals = st.floats(allow_nan=False, allow_infinity=False)
shapes = st.builds(Circle, st.floats(1e-300, 1e300)) | st.builds(Polygon, st.integers(3, 2**53))
drawings: st.SearchStrategy[Drawing] = st.deferred(
    lambda: st.builds(
        Drawing,
        name=st.from_regex("[a-z]{1,8}", fullmatch=True),
        key=st.uuids(),
        at=st.datetimes(timezones=st.just(UTC)) | st.datetimes(),
        colour=st.sampled_from(Colour),
        visible=st.booleans(),
        label=st.text() | st.integers() | reals | st.booleans(),
        width=st.just("thin") | reals,
        share=st.floats(0.0, 1.0),
        shape=shapes,
        shapes=st.lists(shapes, max_size=3),
        points=st.lists(st.integers(), max_size=3).map(tuple),
        figures=st.dictionaries(st.text(), st.dictionaries(st.text(), reals, max_size=2), max_size=2),
        report=st.dictionaries(st.text(), st.none() | st.text() | st.lists(reals, max_size=2), max_size=2),
        inner=st.none() | drawings,
        rare=st.none() | reals,
    )
)


@given(drawings)
def test_a_record_is_read_from_its_json_unchanged(drawing: Drawing) -> None:
    value = encode(drawing)
    found = validate(DRAWING, value)
    assert found == drawing
    assert type(found.label) is type(drawing.label)
    assert value == json.loads(DRAWING.dump_json(drawing))


COMPLETE: dict[str, object] = {
    "name": "house",
    "key": "00000000-0000-0000-0000-000000000001",
    "at": "2024-05-01T13:00:00Z",
    "colour": "red",
    "visible": True,
    "label": 3,
    "width": 2,
    "share": 0.5,
    "shape": {"type": "circle", "radius": 1.0},
}


def test_integers_are_floats_where_floats_are_expected_and_integral_floats_are_integers() -> None:
    found = validate(DRAWING, {**COMPLETE, "points": [1.0, 2], "label": 3.0, "share": 1})
    assert (found.points, found.width, found.share) == ((1, 2), 2.0, 1.0)
    assert [type(one) for one in (*found.points, found.width, found.share, found.label)] == [
        int, int, float, float, float,
    ]  # fmt: skip
    with pytest.raises(InvalidRequestError, match="At /points/0: Should be a valid integer"):
        validate(DRAWING, {**COMPLETE, "points": [1.0]}, converts_integers=False)


def test_absent_members_have_their_defaults_and_unknown_ones_are_ignored_where_the_class_allows_it() -> None:
    found = validate(DRAWING, {**COMPLETE, "shape": {"type": "polygon", "sides": 4, "colour": "red"}})
    assert (found.inner, found.points, found.figures, found.former) == (None, (), {}, None)
    assert found.shape == Polygon(4)


def test_members_are_left_out_where_their_class_or_they_state_it() -> None:
    value = encode(validate(DRAWING, COMPLETE))
    assert isinstance(value, dict)
    assert {"former", "rare"} & value.keys() == set()
    assert encode((Sparse(1), Sparse(second=0.0))) == [{"first": 1}, {"second": 0.0}]


@dataclass(frozen=True)
class Sparse:
    """Members that are None are not written."""

    __omits_none__ = True

    first: int | None = None
    second: float | None = None


REFUSALS: list[tuple[str, object, str, str]] = [
    ("name", "House", "/name", "Should match pattern '^[a-z]+$', got \"House\"."),
    ("name", 3, "/name", "Should be a valid string, got 3."),
    ("key", "house", "/key", "Should be a valid UUID"),
    ("at", "2024-13-01T00:00:00Z", "/at", "got \"2024-13-01T00:00:00Z\"."),
    ("colour", "green", "/colour", "Should be 'red' or 'blue', got \"green\"."),
    ("visible", 1, "/visible", "Should be a valid boolean, got 1."),
    ("label", [1], "/label", "got [1]."),
    ("width", "thick", "/width", "Should be 'thin', got \"thick\"."),
    ("share", 1.5, "/share", "Should be less than or equal to 1, got 1.5."),
    ("share", "0.5", "/share", "Should be a valid number, got \"0.5\"."),
    ("share", True, "/share", "Should be a valid number, got true."),
    ("shape", {"type": "circle", "radius": 0}, "/shape/radius", "Should be greater than 0, got 0."),
    ("shape", {"type": "circle"}, "/shape/radius", "This member is required."),
    ("shape", {"type": "circle", "radius": 1.0, "a~/b": 1}, "/shape/a~0~1b", "The member 'a~/b' is unknown."),
    ("shape", {"type": "line"}, "/shape/type", "Expected one of 'circle', 'polygon', got 'line'."),
    ("shape", {"radius": 1.0}, "/shape/type", "This member is required: it selects one of the alternatives."),
    ("shape", [], "/shape", "Should be an object, got []."),
    ("shapes", {}, "/shapes", "Should be a valid array, got {}."),
    ("points", ["1"], "/points/0", "Should be a valid integer, got \"1\"."),
    ("figures", {"a": {"b": "c"}}, "/figures/a/b", "Should be a valid number, got \"c\"."),
    ("report", [], "/report", "Should be an object, got []."),
    ("inner", {**COMPLETE, "share": 2}, "/inner/share", "Should be less than or equal to 1, got 2."),
    ("lines", 1, "/lines", "The member 'lines' is unknown."),
]  # fmt: skip


@pytest.mark.parametrize(("member", "value", "place", "detail"), REFUSALS)
def test_an_invalid_member_is_refused_with_its_place(member: str, value: object, place: str, detail: str) -> None:
    with pytest.raises(InvalidRequestError) as caught:
        validate(DRAWING, {**COMPLETE, member: value}, "/drawing")
    (fault,) = caught.value.faults
    assert fault.pointer == f"/drawing{place}"
    assert detail in fault.detail
    assert fault.detail.removesuffix(".") in caught.value.detail


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_a_number_that_json_does_not_have_is_refused(value: float) -> None:
    with pytest.raises(InvalidRequestError, match="not finite"):
        validate(DRAWING, {**COMPLETE, "share": value})


def test_all_invalid_members_are_reported() -> None:
    with pytest.raises(InvalidRequestError) as caught:
        validate(DRAWING, {**COMPLETE, "name": 1, "share": 2.0, "points": ["a"]})
    assert [one.pointer for one in caught.value.faults] == ["/name", "/share", "/points/0"]
    assert caught.value.detail.endswith("(and 2 more).")


@pytest.mark.parametrize("depth", [30, 100_000])
def test_a_fault_deep_inside_is_found_once_and_deeper_nesting_is_refused(depth: int) -> None:
    value = {**COMPLETE, "share": 2}
    for _ in range(depth):
        value = {**COMPLETE, "inner": value}
    with pytest.raises(InvalidRequestError) as caught:
        validate(DRAWING, value)
    if depth == 30:
        assert [fault.pointer for fault in caught.value.faults] == ["/inner" * depth + "/share"]
    else:
        assert "nested too deeply" in caught.value.detail


def test_values_without_a_json_form_are_unchanged() -> None:
    value = object()
    assert encode({"a": [value]}) == {"a": [value]}


@dataclass(frozen=True)
class Figure:
    """A shape of an unknown type."""

    type: str


def test_a_record_with_any_tag_is_that_of_unknown_tags() -> None:
    adapter: TypeAdapter[Circle | Polygon | Figure] = TypeAdapter(Annotated[Circle | Polygon | Figure, OneOf("type")])
    assert validate(adapter, {"type": "circle", "radius": 2}) == Circle(2.0)
    assert validate(adapter, {"type": "spiral", "turns": 3}) == Figure("spiral")
    assert adapter.dump_python(Figure("spiral")) == {"type": "spiral"}
    with pytest.raises(InvalidRequestError, match=r"At /type: Should be a valid string, got 3"):
        validate(adapter, {"type": 3})
    with pytest.raises(InvalidRequestError, match="At /type: This member is required"):
        validate(adapter, {"turns": 3})


T = TypeVar("T")


@dataclass(frozen=True)
class Box(Generic[T]):
    """A generic record."""

    inside: T
    others: tuple[T, ...] = ()


def test_a_generic_record_is_read_with_its_type() -> None:
    adapter: TypeAdapter[Box[Shape]] = TypeAdapter(Box[Shape])
    circle = {"type": "circle", "radius": 1.0}
    assert validate(adapter, {"inside": circle, "others": [circle]}) == Box(Circle(1.0), (Circle(1.0),))
    with pytest.raises(InvalidRequestError, match="At /inside/radius"):
        validate(adapter, {"inside": {**circle, "radius": "one"}})


@dataclass(frozen=True)
class Line:
    """A record with an array."""

    points: Vector


def test_a_named_array_is_unchanged_and_a_list_is_validated() -> None:
    adapter: TypeAdapter[Line] = TypeAdapter(Line)
    points = np.array([1.0, 2.0])
    named = {"points": {"array": "line"}}
    assert validate(adapter, named, arrays={"line": points}).points is points
    np.testing.assert_array_equal(validate(adapter, {"points": [1, 2.0]}, arrays={}).points, points)
    with pytest.raises(KeyError):
        validate(adapter, named, arrays={})
    with pytest.raises(InvalidRequestError, match="At /points"):
        validate(adapter, named)


@pytest.mark.parametrize("model", [None, 3, [], "model"])
def test_a_model_of_another_type_is_refused_at_its_place(model: object) -> None:
    with pytest.raises(InvalidRequestError) as caught:
        validate(CONTENT, {"task": "regression", "inputs": [], "target": None, "model": model})
    assert "/model" in [fault.pointer for fault in caught.value.faults]


TIMESTAMP: TypeAdapter[datetime] = TypeAdapter(Timestamp)


@pytest.mark.parametrize("text", ["2026-01-31T12:00:00Z", "2026-01-31t13:00:00+01:00", "2026-01-31 12:00:00.000Z"])
def test_a_date_with_a_time_and_an_offset_is_a_time_in_utc(text: str) -> None:
    for read in (TIMESTAMP.validate_python(text), TIMESTAMP.validate_json(f'"{text}"', strict=True)):
        assert read == datetime(2026, 1, 31, 12, tzinfo=UTC)
        assert read.tzinfo is UTC


@pytest.mark.parametrize(
    "text",
    ['"0.5"', '"1769860800"', "1769860800", "0.5", '"2026-01-31"', '"2026-01-31T12:00:00"', '"0001-01-01T00:00+01:00"'],
)
def test_anything_but_a_point_in_time_is_refused(text: str) -> None:
    with pytest.raises(ValidationError):
        TIMESTAMP.validate_json(text, strict=True)
    with pytest.raises(ValidationError):
        TIMESTAMP.validate_json(text)
