"""Aliases of versions, and how they moved."""

from datetime import datetime
from typing import Annotated, Self, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from app.api.schemas.jobs import FromDomain
from app.domain.aliases import LONGEST_REASON, Alias, AliasMove
from relevance_bayes.types.references import ALIAS_PATTERN, GREATEST_NUMBER

Reason: TypeAlias = Annotated[str, Field(max_length=LONGEST_REASON, description="Why, for those who come later.")]


class AliasIn(BaseModel):
    """Where an alias shall point."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    version: Annotated[int, Field(ge=1, le=GREATEST_NUMBER)] | Annotated[str, Field(pattern=f"^{ALIAS_PATTERN}$")] = (
        Field(description="The version's number, or another alias, for the version to which that points now.")
    )
    reason: Reason | None = None


ALIAS_IN: TypeAdapter[AliasIn] = TypeAdapter(AliasIn)


class AliasOut(BaseModel):
    """Where an alias points, since when, by whom and why."""

    model: str
    alias: str
    version: int
    moved_at: datetime
    moved_by: str
    reason: str | None

    @classmethod
    def of(cls, alias: Alias) -> Self:
        """An alias as it goes out."""
        return cls(
            model=alias.model,
            alias=alias.name,
            version=alias.version,
            moved_at=alias.moved_at,
            moved_by=alias.moved_by,
            reason=alias.reason,
        )


class AliasMoveOut(FromDomain):
    """One move of an alias, numbered from 1."""

    number: int
    at: datetime
    by: str
    from_version: int | None = Field(description="Where it pointed before; null where there was no such alias.")
    to_version: int | None = Field(description="Where it pointed then; null where it was removed.")
    reason: str | None

    @classmethod
    def of(cls, move: AliasMove) -> Self:
        """A move as it goes out."""
        return cls.model_validate(move)
