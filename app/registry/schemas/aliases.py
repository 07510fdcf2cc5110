"""The API's schemas of aliases and their moves."""

from typing import Annotated, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from app.registry.aliases import MAX_REASON_LENGTH, Alias
from relevance_bayes.types import models as records
from relevance_bayes.types.references import ALIAS_PATTERN, MAX_NUMBER

Reason: TypeAlias = Annotated[
    str, Field(max_length=MAX_REASON_LENGTH, description="Why the alias moves, for its history.")
]


class AliasIn(BaseModel):
    """The version that an alias is to point to."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    version: Annotated[int, Field(ge=1, le=MAX_NUMBER)] | Annotated[str, Field(pattern=f"^{ALIAS_PATTERN}$")] = Field(
        description="The version's number, or another alias, resolved now."
    )
    reason: Reason | None = None


ALIAS_IN: TypeAdapter[AliasIn] = TypeAdapter(AliasIn)


def alias_record(alias: Alias) -> records.Alias:
    """Return the API's form of an alias."""
    return records.Alias(
        model=alias.model,
        alias=alias.name,
        version=alias.version,
        moved_at=alias.moved_at,
        moved_by=alias.moved_by,
        reason=alias.reason,
    )
