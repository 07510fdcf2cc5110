"""What a version was asked for, as it goes out."""

from collections.abc import Sequence
from datetime import datetime
from typing import Self

from pydantic import BaseModel, Field

from app.domain.models import Version
from app.services.counting import BOUNDS, LEAST_SUPPORT, Counted


class LatencyBucketOut(BaseModel):
    """Requests that took longer than the bucket before, and no longer than this one."""

    upper_bound: float | None = Field(description="Seconds; null for the last, which has no end.")
    requests: int


class LatencyOut(BaseModel):
    """How long answered requests took, from when their body was there until their answer was, or a long one began."""

    seconds: float = Field(description="All of them together.")
    buckets: Sequence[LatencyBucketOut]


class OutsideSupportOut(BaseModel):
    """Rows for which the data hardly speak."""

    rows: int = Field(description=f"Rows whose `support` is below {LEAST_SUPPORT}.")
    of: int = Field(description="Rows whose `support` is known.")
    share: float = Field(ge=0, le=1)


class StatisticsOut(BaseModel):
    """What one version was asked for, as the process that answers has counted it since it began."""

    model: str
    version: int
    since: datetime = Field(description="When the process began to count.")
    last_request_at: datetime | None = Field(description="When the last request began; null where there was none.")
    requests: int = Field(description="Requests for predictions, answered or not, by /v1 and /v2.")
    errors: int = Field(description="Those of them that were refused, or failed.")
    rows: int = Field(description="Rows that were answered.")
    outside_support: OutsideSupportOut | None = Field(description="Null where the model can't tell, or was not asked.")
    latency: LatencyOut

    @classmethod
    def of(cls, version: Version, since: datetime, counted: Counted) -> Self:
        """Counts as they go out."""
        outside = None
        if counted.placed:
            share = counted.outside / counted.placed
            outside = OutsideSupportOut(rows=counted.outside, of=counted.placed, share=share)
        buckets = [
            LatencyBucketOut(upper_bound=bound, requests=requests)
            for bound, requests in zip((*BOUNDS, None), counted.answered, strict=True)
        ]
        return cls(
            model=version.model,
            version=version.number,
            since=since,
            last_request_at=counted.last_at,
            requests=counted.requests,
            errors=counted.failed,
            rows=counted.rows,
            outside_support=outside,
            latency=LatencyOut(seconds=counted.answered_ns / 1e9, buckets=buckets),
        )
