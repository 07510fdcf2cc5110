"""JSON pointers to what is wrong, also where unions put names between."""

from dataclasses import dataclass, field
from typing import Annotated, Literal

import pytest
from pydantic import Field, TypeAdapter, ValidationError

from relevance_bayes.records.json import faults_of


@dataclass
class Kernel:
    """A member of a union whose name is also a field's."""

    kernel: int
    kind: Literal["kernel"] = "kernel"


@dataclass
class Other:
    """The other one."""

    size: float = field(metadata={"gt": 0})
    kind: Literal["other"] = "other"


@dataclass
class Wrapper:
    """A list of a union."""

    parts: list[Kernel | Other]
    labels: dict[str, int] = field(default_factory=dict)
    either: int | Literal["all"] = "all"


@dataclass
class Tagged:
    """A union distinguished by its kind."""

    part: Kernel | Other = field(metadata={"discriminator": "kind"})


def pointers(kind: type[Wrapper] | type[Tagged], sent: object) -> list[str | None]:
    with pytest.raises(ValidationError) as wrong:
        TypeAdapter(kind).validate_python(sent, strict=False)
    return [fault.pointer for fault in faults_of(wrong.value, sent)]


@pytest.mark.parametrize(
    ("sent", "expected"),
    [
        ({"part": {"kind": "kernel", "kernel": "x"}}, ["/part/kernel"]),
        ({"part": {"kind": "kernel"}}, ["/part/kernel"]),
        ({"part": {"kind": "other", "size": -1}}, ["/part/size"]),
        ({"part": {"kind": "third"}}, ["/part/kind"]),
        ({"part": {"size": 1}}, ["/part/kind"]),
        ({"part": 3}, ["/part"]),
        ({}, ["/part"]),
        ([], [""]),
    ],
)
def test_the_name_of_a_union_member_is_no_step(sent: object, expected: list[str]) -> None:
    assert pointers(Tagged, sent) == expected


def test_names_are_escaped_as_json_pointers_are() -> None:
    assert pointers(Wrapper, {"parts": [], "labels": {"a/b~c": "x"}}) == ["/labels/a~1b~0c"]


def test_alternatives_that_all_fail_are_one_fault() -> None:
    with pytest.raises(ValidationError) as wrong:
        TypeAdapter(Wrapper).validate_python({"parts": [], "either": "some"})
    (fault,) = faults_of(wrong.value, {"parts": [], "either": "some"})
    assert fault.pointer == "/either"
    assert " Or: " in fault.detail


@dataclass
class Wide:
    """A number above 0, or a list of them."""

    width: Annotated[float, Field(gt=0)] | tuple[float, ...]


def test_of_alternatives_those_are_reported_whose_type_the_value_has() -> None:
    with pytest.raises(ValidationError) as wrong:
        TypeAdapter(Wide).validate_json('{"width": 0}', strict=True)
    (fault,) = faults_of(wrong.value, {"width": 0})
    assert fault.detail == "Should be greater than 0, got 0."


@pytest.mark.parametrize("number", [2**64, -(2**70), 10**40])
def test_a_whole_number_beyond_64_bits_is_shown_as_it_is(number: int) -> None:
    sent = {"parts": [{"kind": "kernel", "kernel": number, "more": 1}], "either": [number]}
    with pytest.raises(ValidationError) as wrong:
        TypeAdapter(Wrapper).validate_python(sent)
    assert str(number) in " ".join(fault.detail for fault in faults_of(wrong.value, sent))
