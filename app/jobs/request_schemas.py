"""Members of all requests for jobs."""

from typing import Annotated, TypeAlias

from pydantic import BaseModel, ConfigDict, Field

from app.jobs.records import MAX_PRIORITY, MIN_PRIORITY
from relevance_bayes.types.references import ALIAS_PATTERN, MAX_NUMBER

NameIn = Annotated[str, Field(pattern=r"^[a-z][a-z0-9._-]{0,62}$")]


Priority = Annotated[
    int,
    Field(
        ge=MIN_PRIORITY,
        le=MAX_PRIORITY,
        description="Your queued jobs with a greater priority start first; those of equal priority in their order of "
        "submission. It has no effect between owners, who take turns at random.",
    ),
]


VersionSelector: TypeAlias = (
    Annotated[int, Field(ge=1, le=MAX_NUMBER)] | Annotated[str, Field(pattern=f"^{ALIAS_PATTERN}$")]
)
"""A selector of a version in a request: its number or an alias."""


class JobIn(BaseModel):
    """The members of all requests for jobs."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    priority: Priority = 0
