"""Profile requests: the inputs whose effect is shown, options, and the table of rows to average over."""

from typing import Annotated, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from relevance_bayes.records.values import Cell

MAX_POINTS = 101
MAX_ROWS = 500
MAX_INDIVIDUAL = 100


class ProfileOptionsIn(BaseModel):
    """The options of a profile."""

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        json_schema_extra={"example": {"inputs": ["temperature"], "rows": [{"temperature": 12.5}]}},
    )

    inputs: list[str] = Field(min_length=1, max_length=2, description="One input of the version, or two.")
    points: int | None = Field(
        None,
        ge=2,
        le=MAX_POINTS,
        description="The number of values of each input that is a number or a time, from its least to its greatest "
        "among the rows: by default 41 for one input, and 11 for two. Of categories all are shown, at most 101.",
    )
    interval: float = Field(0.95, gt=0, lt=1, description="The probability between `lower` and `upper`.")
    individual: int = Field(
        0,
        ge=0,
        le=MAX_INDIVIDUAL,
        description="The number of rows, the first, whose own predictions are returned too; of one input, for numbers "
        "and two classes.",
    )


class ProfileColumnsIn(ProfileOptionsIn):
    """A profile over the rows of a table by columns, at most 500."""

    columns: dict[str, list[Cell]]


class ProfileRecordsIn(ProfileOptionsIn):
    """A profile over the rows of a table by rows, each with the names of its columns."""

    rows: list[dict[str, Cell]]


class ProfileArraysIn(ProfileOptionsIn):
    """A profile over the rows of a table by rows, with the names of the columns once."""

    names: list[str]
    rows: list[list[Cell]]


ProfileIn: TypeAlias = Annotated[ProfileColumnsIn | ProfileRecordsIn | ProfileArraysIn, Field(title="ProfileIn")]
PROFILE_IN: TypeAdapter[ProfileIn] = TypeAdapter(ProfileIn)
"""For OpenAPI."""
PROFILE_OPTIONS: TypeAdapter[ProfileOptionsIn] = TypeAdapter(ProfileOptionsIn)
