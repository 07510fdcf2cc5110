"""Which versions are compared, and on which rows."""

from typing import TypeAlias

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from app.jobs.request_schemas import VersionSelector
from relevance_bayes.types.references import Reference
from relevance_bayes.types.values import Cell


class VersionIn(BaseModel):
    """A version of a model, by its number or an alias."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    model: str
    version: VersionSelector | None = Field(None, description="The newest where it is left out.")


class CompareOptions(BaseModel):
    """Options beside the table."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    other: str | VersionIn = Field(
        alias="with", description="The second version: `model@alias`, `model@3`, `model` for the newest, or an object."
    )

    @property
    def reference(self) -> Reference:
        """The second version as it is asked for; raises NotFoundError for what can name none."""
        if isinstance(self.other, str):
            return Reference.read(self.other)
        return Reference(self.other.model, self.other.version)


class CompareColumnsIn(CompareOptions):
    """A table by columns."""

    columns: dict[str, list[Cell]]


class CompareRecordsIn(CompareOptions):
    """A table by rows, each naming its columns."""

    rows: list[dict[str, Cell]]


class CompareArraysIn(CompareOptions):
    """A table by rows, the columns named once."""

    names: list[str]
    rows: list[list[Cell]]


CompareIn: TypeAlias = CompareColumnsIn | CompareRecordsIn | CompareArraysIn
COMPARE_IN: TypeAdapter[CompareIn] = TypeAdapter(CompareIn)
"""The three forms of a table, for OpenAPI alone: tables are read by app.formats, which names rows and columns."""
