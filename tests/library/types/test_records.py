"""Records come back from their JSON, and what is none is refused at its place."""

import json
import math
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from threading import Barrier
from typing import Annotated, Generic, Literal, TypeVar
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from relevance_bayes.types.annotations import Bounds, OneBy, OneOf, is_none
from relevance_bayes.types.errors import InvalidRequestError
from relevance_bayes.types.records import Converter, decoder_of, encode


@dataclass(frozen=True)
class WithRare:
    """A member that is left out where it is None, beside one that is not."""

    known: int | None = None
    rare: float | None = field(default=None, metadata={"exclude_if": is_none})


def test_a_member_that_omits_none_is_left_out_where_it_is_none() -> None:
    assert encode(WithRare()) == {"known": None}
    assert encode(WithRare(1, 0.0)) == {"known": 1, "rare": 0.0}
    by_pydantic = TypeAdapter(WithRare)
    assert by_pydantic.dump_python(WithRare()) == {"known": None}
    assert by_pydantic.dump_python(WithRare(1, 0.0)) == {"known": 1, "rare": 0.0}
    converter = Converter[WithRare](WithRare)
    assert converter.decode({"known": None}) == converter.decode({"known": None, "rare": None}) == WithRare()


class Colour(StrEnum):
    """An enumeration."""

    RED = "red"
    BLUE = "blue"


@dataclass(frozen=True)
class Circle:
    """One member of a union, which has a member with a default and takes no others."""

    __pydantic_config__ = {"extra": "forbid"}

    radius: Annotated[float, Bounds(gt=0.0, allow_inf_nan=False)]
    type: Literal["circle"] = "circle"


@dataclass(frozen=True)
class Polygon:
    """Another, which ignores members that it has not."""

    sides: Annotated[int, Bounds(ge=3, le=2**53)]
    type: Literal["polygon"] = "polygon"


Shape = Annotated[Circle | Polygon, OneOf("type")]


@dataclass(frozen=True)
class Pair:
    """A member of a union that is distinguished by its members."""

    first: int
    second: int


def _one_or_two(members: object) -> type:
    return Pair if isinstance(members, dict) and "first" in members else Circle


@dataclass(frozen=True, kw_only=True)
class Drawing:
    """All shapes of members."""

    __pydantic_config__ = {"extra": "forbid"}

    name: Annotated[str, Bounds(pattern="^[a-z]+$", min_length=1, max_length=8)]
    key: UUID
    at: datetime
    colour: Colour
    visible: bool
    label: str | int | float | bool
    width: Literal["thin"] | float
    share: float = field(metadata={"ge": 0.0, "le": 1.0, "allow_inf_nan": False})
    shape: Shape
    bare: Circle | Polygon | None = None
    either: Annotated[Circle | Pair, OneBy(_one_or_two)]
    shapes: Annotated[list[Shape], Bounds(fail_fast=True)]
    points: tuple[int, ...] = ()
    figures: dict[str, dict[str, float]] = field(default_factory=dict)
    report: dict[str, object] = field(default_factory=dict)
    inner: "Drawing | None" = None
    former: int | None = field(default=None, metadata={"exclude": True})


DRAWING: Converter[Drawing] = Converter(Drawing)
PYDANTIC = TypeAdapter(Drawing)

reals = st.floats(allow_nan=False, allow_infinity=False)
circles = st.builds(Circle, st.floats(1e-300, 1e300))
shapes = circles | st.builds(Polygon, st.integers(3, 2**53))
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
        bare=st.none() | shapes,
        either=circles | st.builds(Pair, st.integers(), st.integers()),
        shapes=st.lists(shapes, max_size=3),
        points=st.lists(st.integers(), max_size=3).map(tuple),
        figures=st.dictionaries(st.text(), st.dictionaries(st.text(), reals, max_size=2), max_size=2),
        report=st.dictionaries(st.text(), st.none() | st.text() | st.lists(reals, max_size=2), max_size=2),
        inner=st.none() | drawings,
    )
)


@given(drawings)
def test_a_record_comes_back_from_its_json(drawing: Drawing) -> None:
    text = json.dumps(encode(drawing))
    found = DRAWING.decode(json.loads(text))
    assert found == drawing
    assert encode(found) == encode(drawing)
    assert type(found.label) is type(drawing.label)
    assert PYDANTIC.validate_json(text, strict=True) == drawing
    assert json.loads(text) == json.loads(PYDANTIC.dump_json(drawing))


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
    "either": {"first": 1, "second": 2},
    "shapes": [{"type": "polygon", "sides": 3}],
}


def faults(value: object) -> list[tuple[str | None, str]]:
    """Where and what is wrong with a drawing."""
    with pytest.raises(InvalidRequestError) as caught:
        DRAWING.decode(value, "/drawing")
    assert caught.value.faults[0].detail in caught.value.detail
    return [(fault.pointer, fault.detail) for fault in caught.value.faults]


def test_whole_numbers_are_floats_where_these_are_expected_and_floats_integers_where_they_are_whole() -> None:
    found = DRAWING.decode({**COMPLETE, "points": [1.0, 2], "label": 3.0, "share": 1})
    assert (found.points, found.width, found.share) == ((1, 2), 2.0, 1.0)
    assert [type(one) for one in (*found.points, found.width, found.share, found.label)] == [
        int, int, float, float, float,
    ]  # fmt: skip


def test_members_that_are_left_out_have_their_defaults_and_unknown_ones_are_ignored_where_the_class_allows_it() -> None:
    found = DRAWING.decode({**COMPLETE, "shape": {"type": "polygon", "sides": 4, "colour": "red"}})
    assert (found.bare, found.points, found.figures, found.former) == (None, (), {}, None)
    assert found.shape == Polygon(4)
    assert "former" not in dict.fromkeys(encoded(found))


def encoded(drawing: Drawing) -> dict[str, object]:
    """The members of a drawing as JSON."""
    found = encode(drawing)
    assert isinstance(found, dict)
    return found


REFUSALS: list[tuple[str, object, str, str]] = [
    ("name", "House", "/name", "Should be a text that matches ^[a-z]+$, got \"House\"."),
    ("name", "", "/name", "Should be a text that matches ^[a-z]+$, got \"\"."),
    ("name", "abcdefghi", "/name", "Should be of length 8 at most, got \"abcdefghi\"."),
    ("name", 3, "/name", "Should be a valid string, got 3."),
    ("name", None, "/name", "Should be a valid string, got null."),
    ("key", "house", "/key", "Should be a UUID as text, got \"house\"."),
    ("at", "2024-05-01", "/at", "Should be an ISO 8601 date and time, got \"2024-05-01\"."),
    ("at", "2024-13-01T00:00:00Z", "/at", "Should be an ISO 8601 date and time, got \"2024-13-01T00:00:00Z\"."),
    ("at", 1714568400, "/at", "Should be a valid string, got 1714568400."),
    ("colour", "green", "/colour", "Should be one of 'red', 'blue', got \"green\"."),
    ("colour", ["red"], "/colour", "Should be one of 'red', 'blue', got [\"red\"]."),
    ("visible", 1, "/visible", "Should be a valid boolean, got 1."),
    ("label", None, "/label", "got null."),
    ("label", [1], "/label", "got [1]."),
    ("width", "thick", "/width", "Should be 'thin', got \"thick\"."),
    ("width", True, "/width", "got true."),
    ("width", 10**400, "/width", "Should be a finite number, got 1000"),
    ("share", 1.5, "/share", "Should be less than or equal to 1, got 1.5."),
    ("share", -1, "/share", "Should be greater than or equal to 0, got -1."),
    ("share", math.nan, "/share", "Should be a finite number, got NaN."),
    ("share", math.inf, "/share", "Should be a finite number, got Infinity."),
    ("share", "0.5", "/share", "Should be a valid number, got \"0.5\"."),
    ("share", True, "/share", "Should be a valid number, got true."),
    ("shape", {"type": "circle", "radius": 0}, "/shape/radius", "Should be greater than 0, got 0."),
    ("shape", {"type": "circle"}, "/shape/radius", "This member is required."),
    ("shape", {"type": "circle", "radius": 1.0, "a~/b": 1}, "/shape/a~0~1b", "The member 'a~/b' is unknown."),
    ("shape", {"type": "line"}, "/shape/type", "Expected one of 'circle', 'polygon', got \"line\"."),
    ("shape", {"type": ["circle"]}, "/shape/type", "Expected one of 'circle', 'polygon', got [\"circle\"]."),
    ("shape", {"radius": 1.0}, "/shape/type", "This member is required: it selects one of the alternatives."),
    ("shape", [], "/shape", "Should be an object, got []."),
    ("shape", None, "/shape", "Should be an object, got null."),
    ("bare", {"type": "polygon", "sides": 2}, "/bare/sides", "Should be greater than or equal to 3, got 2."),
    ("bare", {"type": "polygon", "sides": 2.5}, "/bare/sides", "Should be a valid integer, got 2.5."),
    ("bare", {"type": "polygon", "sides": True}, "/bare/sides", "Should be a valid integer, got true."),
    ("bare", {"type": "polygon", "sides": 2**53 + 1}, "/bare/sides", f"Should be less than or equal to {2**53}, got"),
    ("either", {"first": 1}, "/either/second", "This member is required."),
    ("either", 1, "/either", "Should be an object, got 1."),
    ("shapes", {}, "/shapes", "Should be a valid array, got {}."),
    ("shapes", [*[{"type": "polygon", "sides": 3}] * 2, {}, {}], "/shapes/2/type", "This member is required"),
    ("points", ["1"], "/points/0", "Should be a valid integer, got \"1\"."),
    ("figures", {"a": {"b": "c"}}, "/figures/a/b", "Should be a valid number, got \"c\"."),
    ("report", [], "/report", "Should be an object, got []."),
    ("inner", {**COMPLETE, "share": 2}, "/inner/share", "Should be less than or equal to 1, got 2."),
    ("lines", 1, "/lines", "The member 'lines' is unknown."),
]  # fmt: skip


@pytest.mark.parametrize(("member", "value", "place", "detail"), REFUSALS)
def test_what_is_no_such_record_is_refused_with_its_place(member: str, value: object, place: str, detail: str) -> None:
    ((pointer, message),) = faults({**COMPLETE, member: value})
    assert pointer == f"/drawing{place}"
    assert detail in message


@pytest.mark.parametrize(("member", "value", "place", "detail"), REFUSALS)
def test_pydantic_refuses_the_same(member: str, value: object, place: str, detail: str) -> None:
    if value == 10**400 or (isinstance(value, float) and not math.isfinite(value)):
        return  # infinity to pydantic, and no JSON
    with pytest.raises(ValidationError):
        PYDANTIC.validate_json(json.dumps({**COMPLETE, member: value}), strict=True)


def test_all_that_is_wrong_with_members_is_reported_and_of_a_list_the_first() -> None:
    value = {**COMPLETE, "name": 1, "share": 2.0, "points": ["a", "b"], "shapes": [1, 2]}
    assert [place for place, _ in faults(value)] == [
        "/drawing/name", "/drawing/share", "/drawing/shapes/0", "/drawing/points/0",
    ]  # fmt: skip


def test_what_is_no_object_is_refused_where_it_is() -> None:
    assert faults([1]) == [("/drawing", "Should be an object, got [1].")]


@pytest.mark.parametrize("annotation", [set[int], tuple[int, str], dict[int, str], complex])
def test_an_annotation_that_is_not_known_is_refused(annotation: object) -> None:
    with pytest.raises(TypeError, match="expected"):
        decoder_of(annotation)


def test_values_that_json_has_not_stay_as_they_are() -> None:
    value = object()
    assert encode({"a": [value]}) == {"a": [value]}


@pytest.mark.parametrize("depth", [30, 100_000])
def test_a_fault_deep_inside_is_found_once_and_what_is_nested_too_deeply_is_refused(depth: int) -> None:
    value = {**COMPLETE, "share": 2}
    for _ in range(depth):
        value = {**COMPLETE, "inner": value}
    with pytest.raises(InvalidRequestError) as caught:
        DRAWING.decode(value)
    if depth == 30:
        assert [fault.pointer for fault in caught.value.faults] == ["/inner" * depth + "/share"]
    else:
        assert "nested too deeply" in caught.value.detail


def test_a_tag_that_a_record_has_not_is_refused() -> None:
    with pytest.raises(TypeError, match="a literal member 'type'"):
        decoder_of(Annotated[Circle | Pair, OneOf("type")])


@dataclass(frozen=True)
class Chain:
    """A class in its own members, which no test but one reads."""

    next: "Chain | None" = None


def test_many_threads_that_read_a_class_for_the_first_time_all_read_it() -> None:
    converter: Converter[Chain] = Converter(Chain)
    start = Barrier(8)

    def read() -> Chain:
        start.wait()
        return converter.decode({"next": {"next": None}})

    with ThreadPoolExecutor(8) as threads:
        futures = [threads.submit(read) for _ in range(8)]
        assert {one.result() for one in futures} == {Chain(Chain())}


@dataclass(frozen=True)
class Figure:
    """A shape of a type that is not known here."""

    type: str


def test_a_record_of_any_tag_represents_those_that_are_not_known() -> None:
    converter: Converter[Circle | Polygon | Figure] = Converter(Annotated[Circle | Polygon | Figure, OneOf("type")])
    assert converter.decode({"type": "circle", "radius": 2}) == Circle(2.0)
    assert converter.decode({"type": "spiral", "turns": 3}) == Figure("spiral")
    with pytest.raises(InvalidRequestError, match=r"At /type: Expected one of .*, got 3"):
        converter.decode({"type": 3})
    with pytest.raises(TypeError, match="a literal member 'type'"):
        decoder_of(Annotated[Circle | Figure | Pair, OneOf("type")])


T = TypeVar("T")
M = TypeVar("M")


@dataclass(frozen=True)
class Box(Generic[T]):
    """A generic record."""

    inside: T
    others: tuple[T, ...] = ()


@dataclass(frozen=True)
class Crate(Generic[T, M]):
    """One that has another of its types, in another order."""

    box: Box[M] | None
    boxes: tuple[Box[T], ...]


def test_a_generic_record_is_read_as_what_it_is_of() -> None:
    converter: Converter[Crate[Shape, int]] = Converter(Crate[Shape, int])
    circle = {"type": "circle", "radius": 1.0}
    value = {"box": {"inside": 1, "others": [2, 3]}, "boxes": [{"inside": circle}]}
    assert converter.decode(value) == Crate(Box(1, (2, 3)), (Box(Circle(1.0)),))
    with pytest.raises(InvalidRequestError, match="At /boxes/0/inside/radius"):
        converter.decode({"box": None, "boxes": [{"inside": {**circle, "radius": "one"}}]})
    with pytest.raises(InvalidRequestError, match="At /box/inside: Should be a valid integer"):
        converter.decode({"box": {"inside": "one"}, "boxes": []})


@dataclass(frozen=True)
class Sparse:
    """Members that are None are not written."""

    __omits_none__ = True

    first: int | None = None
    second: float | None = None


@dataclass(frozen=True)
class LaterMember:
    """A member that later documents have."""

    first: int | None = None
    later: float | None = field(default=None, metadata={"exclude_if": is_none})


def test_a_member_that_is_none_is_left_out_where_it_states_it() -> None:
    assert encode((LaterMember(), LaterMember(1, 0.0))) == [{"first": None}, {"first": 1, "later": 0.0}]
    assert Converter[LaterMember](LaterMember).decode({"first": 1}) == LaterMember(1, None)


def test_members_that_are_none_are_left_out_where_the_class_states_it() -> None:
    assert encode((Sparse(1), Sparse(second=0.0))) == [{"first": 1}, {"second": 0.0}]
    assert Converter[Sparse](Sparse).decode({"first": None, "second": 2}) == Sparse(None, 2.0)
