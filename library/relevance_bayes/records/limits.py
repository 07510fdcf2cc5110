"""The limits of an owner, and the use that it makes of them."""

from dataclasses import dataclass, fields
from typing import Annotated, TypeAlias

from pydantic import Field

from relevance_bayes.records.annotations import wire

MAX_LIMIT = 2**53 - 1
"""The maximum of all limits: the integers that JSON has everywhere."""

Rate: TypeAlias = Annotated[int, Field(ge=1, le=MAX_LIMIT)]
Quota: TypeAlias = Annotated[int, Field(ge=0, le=MAX_LIMIT)]


@dataclass(frozen=True)
class OwnerLimits:
    """The limits of an owner; null is none."""

    __pydantic_config__ = wire()

    requests_per_second: Rate | None = None
    """The maximum number of requests a second, over all processes of the service."""
    rows_per_second: Rate | None = None
    """The maximum number of predicted rows a second, over all processes of the service."""
    datasets: Quota | None = None
    """The maximum number of datasets, uploads in progress included."""
    dataset_bytes: Quota | None = None
    """The maximum number of uncompressed bytes of datasets."""
    models: Quota | None = None
    """The maximum number of models, those of unfinished training jobs included."""
    unfinished_jobs: Quota | None = None
    """The maximum number of queued and running jobs, of all kinds together."""
    training_seconds_per_day: Quota | None = None
    """The maximum time for which training jobs run in a day, from 00:00 UTC on; each is complete before the next."""


LIMIT_NAMES = tuple(one.name for one in fields(OwnerLimits))


@dataclass(frozen=True)
class OwnerLimitsRequest(OwnerLimits):
    """Limits of one owner. null is no limit; a member that is left out is the limit of the settings."""

    __pydantic_config__ = wire(extra="forbid")


@dataclass(frozen=True)
class OwnerUse:
    """The use that an owner makes of its quotas."""

    __pydantic_config__ = wire()

    datasets: int
    """The number of datasets, uploads in progress included."""
    dataset_bytes: int
    """The uncompressed bytes of the cells of datasets."""
    models: int
    """The number of models, those of unfinished training jobs included."""
    unfinished_jobs: int
    """The number of queued and running jobs."""
    training_seconds_per_day: float
    """The seconds for which training jobs have run since 00:00 UTC."""


@dataclass(frozen=True)
class LimitedOwner:
    """An owner with its limits, and what it uses."""

    __pydantic_config__ = wire()

    owner: str
    limits: OwnerLimits
    own: tuple[str, ...]
    """The names of the limits that are set for this owner; the others are those of the settings."""
    use: OwnerUse
