"""Usage statistics of versions."""

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated

from relevance_bayes.types.json_schema import Stated, wire

MIN_SUPPORT = 0.5
"""A row of less is outside: the data speak for less than half of what the function may vary there."""


@dataclass(frozen=True)
class LatencyBucket:
    """Requests that took longer than the bucket before, and no longer than this one."""

    __pydantic_config__ = wire()

    upper_bound: float | None
    """Seconds; null for the last, which has no end."""
    requests: int


@dataclass(frozen=True)
class Latency:
    """Latency of requests, from the end of their body to the response, or the beginning of a long one."""

    __pydantic_config__ = wire()

    seconds: float
    """All of them together."""
    buckets: tuple[LatencyBucket, ...]


@dataclass(frozen=True)
class OutsideSupport:
    """Rows for which the data hardly speak."""

    __pydantic_config__ = wire()

    rows: Annotated[int, Stated(description=f"Rows whose `support` is below {MIN_SUPPORT}.")]
    of: int
    """Rows whose `support` is known."""
    share: Annotated[float, Stated(minimum=0, maximum=1)]


@dataclass(frozen=True)
class Statistics:
    """Usage statistics of one version, as the process that answers has counted it since it began."""

    __pydantic_config__ = wire()

    model: str
    version: int
    since: datetime
    """When the process began to count."""
    last_request_at: datetime | None
    """When the last request began; null where there was none."""
    requests: int
    """Requests for predictions, answered or not, by /v1 and /v2."""
    errors: int
    """Those of them that were refused, or failed."""
    rows: int
    """Rows that were answered."""
    outside_support: OutsideSupport | None
    """Null where the model has no support, or no row was predicted."""
    latency: Latency
