"""The query parameters of lists: page, order and filters."""

from collections.abc import Mapping, Sequence
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, field_validator
from pydantic_core import PydanticCustomError

from app.database.pages import Order, PageRequest
from relevance_bayes.types.values import AnyTask
from relevance_bayes.types.webhooks import DeliveryState

MAX_TAG_FILTERS = 10


class ListQuery(BaseModel):
    """A stretch of a list. A parameter that it does not know is refused: a filter with a slip would let all through."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    limit: int = Field(20, ge=1, le=1000, description="Most items of the answer.")
    after: str | None = Field(None, description="`after` of the page before; without it, the first page.")
    order: Order = Field("newest", description="Which come first.")

    @property
    def part(self) -> PageRequest:
        """As the service has it."""
        return PageRequest(self.limit, self.after, self.order)


class DatasetsQuery(ListQuery):
    """Datasets, each of which says what all its columns hold."""

    limit: int = Field(20, ge=1, le=200, description="Most datasets of the answer.")
    name: str | None = Field(None, description="Only those of this name.")


class VersionsQuery(ListQuery):
    """Filters by tag."""

    tag: Sequence[Annotated[str, Field(json_schema_extra={"pattern": ":"})]] = Field(
        (),
        max_length=MAX_TAG_FILTERS,
        description="NAME:VALUE, for what has this tag; once more for each further one that it shall have.",
    )

    @field_validator("tag")
    @classmethod
    def _is_readable(cls, tag: Sequence[str]) -> Sequence[str]:
        if any(":" not in given for given in tag) or len({given.partition(":")[0] for given in tag}) < len(set(tag)):
            raise PydanticCustomError("tag", "NAME:VALUE, each name once, as in ?tag=stage:live&tag=team:ice")
        return tag

    @property
    def tags(self) -> Mapping[str, str]:
        """The tags that what is listed shall have."""
        return {name: value for name, _, value in (given.partition(":") for given in self.tag)}


class ModelsQuery(VersionsQuery):
    """Models by what they do and are called."""

    task: AnyTask | None = Field(None, description="Only those of this task.")


class DeliveriesQuery(ListQuery):
    """Filters of a webhook's deliveries."""

    state: DeliveryState | None = Field(None, description="Only those in this state.")
