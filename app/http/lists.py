"""Query parameters of lists: keyset pagination and long polling."""

from collections.abc import Mapping, Sequence
from typing import Annotated

from fastapi import Query
from pydantic import BaseModel, ConfigDict, Field, field_validator
from pydantic_core import PydanticCustomError

from app.database.keyset import Order, PageRequest
from relevance_bayes.records.values import AnyTask
from relevance_bayes.records.webhooks import DeliveryState

Limit = Annotated[int, Query(ge=1, le=1000, description="The maximum number of items.")]
After = Annotated[str | None, Query(description="`after` of the previous page; without it, the first page.")]

MAX_WAIT_SECONDS = 60.0
Wait = Annotated[
    float, Query(ge=0, le=MAX_WAIT_SECONDS, description="Maximum seconds to wait for a change (long polling).")
]


MAX_TAG_FILTERS = 10


class ListQuery(BaseModel):
    """The query of a page. Unknown parameters are refused: a misspelt filter would not filter."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    limit: int = Field(20, ge=1, le=1000, description="The maximum number of items.")
    after: str | None = Field(None, description="`after` of the previous page; without it, the first page.")
    order: Order = Field("newest", description="The order of the items.")

    @property
    def part(self) -> PageRequest:
        """Return the page for the service."""
        return PageRequest(self.limit, self.after, self.order)


class DatasetsQuery(ListQuery):
    """The query of datasets, whose items are large: each describes all of its columns."""

    limit: int = Field(20, ge=1, le=200, description="The maximum number of datasets.")
    name: str | None = Field(None, description="Only datasets of this name.")


class VersionsQuery(ListQuery):
    """Filters by tag."""

    tag: Sequence[Annotated[str, Field(json_schema_extra={"pattern": ":"})]] = Field(
        (),
        max_length=MAX_TAG_FILTERS,
        description="Only items with this tag, as NAME:VALUE; repeat it for further tags.",
    )

    @field_validator("tag")
    @classmethod
    def _is_readable(cls, tag: Sequence[str]) -> Sequence[str]:
        if any(":" not in given for given in tag) or len({given.partition(":")[0] for given in tag}) < len(set(tag)):
            raise PydanticCustomError("tag", "Expected NAME:VALUE, each name once, as in ?tag=stage:live&tag=team:ice")
        return tag

    @property
    def tags(self) -> Mapping[str, str]:
        """Return the tags that items must have."""
        return {name: value for name, _, value in (given.partition(":") for given in self.tag)}


class ModelsQuery(VersionsQuery):
    """Filters of models by task and tags."""

    task: AnyTask | None = Field(None, description="Only models of this task.")


class DeliveriesQuery(ListQuery):
    """Filters of a webhook's deliveries."""

    state: DeliveryState | None = Field(None, description="Only deliveries in this state.")
