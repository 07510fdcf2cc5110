from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

import pytest
from pydantic import TypeAdapter

from relevance_bayes.records.annotations import Id, MembersOf, Stated, wire
from relevance_bayes.records.errors import InvalidRequestError
from relevance_bayes.records.json import validate


@dataclass(frozen=True)
class Job:
    """Something to do."""

    __pydantic_config__ = wire()

    id: Id
    priority: int = 0
    """Those of greater priority
    begin sooner.
    """


@dataclass(frozen=True)
class FinishedJob(Job):
    """Something done."""

    __pydantic_config__ = wire(example={"id": "1", "priority": 2, "seconds": 0.5})

    seconds: float = 0.0
    """The seconds that it took."""


@dataclass(frozen=True)
class Limits:
    """Some limits."""

    __pydantic_config__ = wire(extra="forbid")

    rows: int | None = None
    ends: Job | None = None


def schema_of(record: type) -> dict[str, object]:
    return TypeAdapter(record).json_schema(mode="serialization")


def test_docstrings_of_attributes_are_descriptions_where_they_are_and_where_they_are_inherited() -> None:
    expected = {"type": "integer", "title": "Priority", "default": 0}
    expected |= {"description": "Those of greater priority begin sooner."}
    for record in (Job, FinishedJob):
        properties = schema_of(record)["properties"]
        assert isinstance(properties, dict)
        assert properties["priority"] == expected
        assert properties["id"] == {"type": "string", "format": "uuid", "title": "Id"}


def test_each_member_is_required_of_a_response_and_the_example_is_that_of_the_record() -> None:
    schema = schema_of(FinishedJob)
    assert schema["required"] == ["id", "priority", "seconds"]
    assert schema["example"] == {"id": "1", "priority": 2, "seconds": 0.5}
    assert schema["description"] == "Something done."
    assert "example" not in schema_of(Job)


def test_what_an_annotation_states_is_in_the_schema_and_before_the_docstring() -> None:
    @dataclass(frozen=True)
    class Share:
        __pydantic_config__ = wire()

        value: Annotated[float, Stated(maximum=1, description="Of all rows.")]
        """Not this."""

    properties = TypeAdapter(Share).json_schema()["properties"]
    assert properties["value"] == {"type": "number", "title": "Value", "maximum": 1, "description": "Of all rows."}


def test_members_of_a_record_are_those_that_an_object_has_validated_as_the_record_s() -> None:
    adapter: TypeAdapter[Mapping[str, object]] = TypeAdapter(Annotated[Mapping[str, object], MembersOf(Limits)])
    assert validate(adapter, {}) == {}
    assert validate(adapter, {"rows": None, "ends": {"id": "1"}}) == {"rows": None, "ends": Job("1")}
    assert validate(adapter, {"rows": 3.0}) == {"rows": 3}
    refused = (
        ({"columns": 1}, "The member 'columns' is unknown"),
        ({"rows": "1"}, "At /rows"),
        (1, "Should be an object"),
    )
    for invalid, message in refused:
        with pytest.raises(InvalidRequestError, match=message):
            validate(adapter, invalid)
    assert adapter.json_schema() == TypeAdapter(Limits).json_schema()
