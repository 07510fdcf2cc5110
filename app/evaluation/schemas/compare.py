"""The API's schemas of requests for comparisons."""

from typing import TypeAlias

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from app.jobs.request_schemas import VersionSelector
from relevance_bayes.types.references import Reference
from relevance_bayes.types.values import Cell


class VersionIn(BaseModel):
    """A version of a model, by number or alias."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    model: str
    version: VersionSelector | None = Field(None, description="Default: the newest version.")


class CompareOptions(BaseModel):
    """The options of a comparison, beside the table."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    other: str | VersionIn = Field(
        alias="with", description="The second version: `model@alias`, `model@3`, `model` for the newest, or an object."
    )

    @property
    def reference(self) -> Reference:
        """Return the reference to the second version; raises NotFoundError where it can name no version."""
        if isinstance(self.other, str):
            return Reference.read(self.other)
        return Reference(self.other.model, self.other.version)


class CompareColumnsIn(CompareOptions):
    """A table as columns."""

    columns: dict[str, list[Cell]]


class CompareRecordsIn(CompareOptions):
    """A table as rows, each an object by column names."""

    rows: list[dict[str, Cell]]


class CompareArraysIn(CompareOptions):
    """A table as rows of cells, with the column names once."""

    names: list[str]
    rows: list[list[Cell]]


CompareIn: TypeAlias = CompareColumnsIn | CompareRecordsIn | CompareArraysIn
COMPARE_IN: TypeAdapter[CompareIn] = TypeAdapter(CompareIn)
"""The three forms of a table, for the OpenAPI document only: app.formats reads tables, and locates faults in them."""
