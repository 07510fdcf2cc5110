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
        description="Of your queued jobs, those of greater priority begin sooner; of the same, in their order. It "
        "is no matter between owners, who take turns by chance.",
    ),
]


VersionSelector: TypeAlias = (
    Annotated[int, Field(ge=1, le=MAX_NUMBER)] | Annotated[str, Field(pattern=f"^{ALIAS_PATTERN}$")]
)
"""A version of a model that is named elsewhere: its number or an alias."""


class JobIn(BaseModel):
    """Members of the job itself."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    priority: Priority = 0
