"""Usage statistics of versions."""

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated

from relevance_bayes.records.annotations import Stated, wire

MIN_SUPPORT = 0.5
"""The support below which a row is outside: the data determine less than half of the function's variance there."""


@dataclass(frozen=True)
class LatencyBucket:
    """Requests that took longer than the previous bucket's bound, and at most this one's."""

    __pydantic_config__ = wire()

    upper_bound: float | None
    """In seconds; null for the last, which is unbounded."""
    requests: int


@dataclass(frozen=True)
class Latency:
    """The latency of requests, from the end of their body to the response, or to the beginning of a long one."""

    __pydantic_config__ = wire()

    seconds: float
    """The total of all requests."""
    buckets: tuple[LatencyBucket, ...]


@dataclass(frozen=True)
class OutsideSupport:
    """Rows outside the support of the training data."""

    __pydantic_config__ = wire()

    rows: Annotated[int, Stated(description=f"Rows whose `support` is below {MIN_SUPPORT}.")]
    of: int
    """Rows with a known `support`."""
    share: Annotated[float, Stated(minimum=0, maximum=1)]


@dataclass(frozen=True)
class Statistics:
    """Usage statistics of a version, counted by the process that responds since it started."""

    __pydantic_config__ = wire()

    model: str
    version: int
    since: datetime
    """The beginning of the counts."""
    last_request_at: datetime | None
    """The beginning of the last request; null without any."""
    requests: int
    """Prediction requests, successful or not, of /v1 and /v2."""
    errors: int
    """Those of them that failed."""
    rows: int
    """Predicted rows."""
    outside_support: OutsideSupport | None
    """Null where the model can't determine it, or without rows."""
    latency: Latency
