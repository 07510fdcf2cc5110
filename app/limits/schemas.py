"""The API's schema of the limits that are set for an owner."""

from typing import Annotated, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

MAX_LIMIT = 2**53 - 1
"""The maximum of all limits: the integers that JSON has everywhere."""

Rate: TypeAlias = Annotated[int, Field(ge=1, le=MAX_LIMIT)]
Quota: TypeAlias = Annotated[int, Field(ge=0, le=MAX_LIMIT)]


class OwnerLimitsIn(BaseModel):
    """Limits of one owner. null is no limit; a member that is left out is the limit of the settings."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    requests_per_second: Annotated[Rate | None, Field(description="The maximum number of requests a second.")] = None
    rows_per_second: Annotated[Rate | None, Field(description="The maximum number of predicted rows a second.")] = None
    datasets: Annotated[Quota | None, Field(description="The maximum number of datasets.")] = None
    dataset_bytes: Annotated[
        Quota | None, Field(description="The maximum number of uncompressed bytes of datasets.")
    ] = None
    models: Annotated[Quota | None, Field(description="The maximum number of models.")] = None
    unfinished_jobs: Annotated[Quota | None, Field(description="The maximum number of queued and running jobs.")] = None
    training_seconds_per_day: Annotated[
        Quota | None, Field(description="The maximum time for which training jobs run in a day, from 00:00 UTC on.")
    ] = None

    def given(self) -> dict[str, int | None]:
        """Return the members that were not left out."""
        return {name: limit for name, limit in self if name in self.model_fields_set}


OWNER_LIMITS_IN: TypeAdapter[OwnerLimitsIn] = TypeAdapter(OwnerLimitsIn)
