"""The limits of an owner, and the use that it makes of them."""

from dataclasses import dataclass, fields

from relevance_bayes.records.annotations import wire


@dataclass(frozen=True)
class OwnerLimits:
    """The limits of an owner; null is none."""

    __pydantic_config__ = wire()

    requests_per_second: int | None = None
    """The maximum number of requests a second, over all processes of the service."""
    rows_per_second: int | None = None
    """The maximum number of predicted rows a second, over all processes of the service."""
    datasets: int | None = None
    """The maximum number of datasets, uploads in progress included."""
    dataset_bytes: int | None = None
    """The maximum number of uncompressed bytes of datasets."""
    models: int | None = None
    """The maximum number of models, those of unfinished training jobs included."""
    unfinished_jobs: int | None = None
    """The maximum number of queued and running jobs, of all kinds together."""
    training_seconds_per_day: int | None = None
    """The maximum time for which training jobs run in a day, from 00:00 UTC on; each is complete before the next."""


LIMIT_NAMES = tuple(one.name for one in fields(OwnerLimits))


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
