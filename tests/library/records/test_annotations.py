from dataclasses import dataclass
from typing import Annotated

from pydantic import TypeAdapter

from relevance_bayes.records.annotations import Id, Stated, wire


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
