"""Members of all requests for jobs."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from app.domain.jobs import MAX_PRIORITY, MIN_PRIORITY

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


class JobIn(BaseModel):
    """Members of the job itself."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    priority: Priority = 0
