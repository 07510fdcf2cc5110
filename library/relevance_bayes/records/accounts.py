"""API keys and sessions, and the limits of an owner."""

from dataclasses import dataclass, field, fields
from datetime import datetime
from typing import Annotated, Literal, TypeAlias, get_args

from pydantic import Field

from relevance_bayes.records.annotations import Id, is_none, wire
from relevance_bayes.records.json import Timestamp

KeyScope = Literal["predict", "read", "train", "admin"]
"""Permissions of a key: predictions; reading all else; uploads, jobs and changes of models; everything, keys too."""

KEY_SCOPES: tuple[KeyScope, ...] = get_args(KeyScope)

DEFAULT_SCOPES: tuple[KeyScope, ...] = ("predict", "read", "train")

MAX_NAME_LENGTH = 100

DAY_SECONDS = 86_400
MAX_OVERLAP_SECONDS = 30 * DAY_SECONDS


@dataclass(frozen=True)
class ApiKeyRequest:
    """A new API key."""

    __pydantic_config__ = wire(extra="forbid")

    name: Annotated[str, Field(min_length=1, max_length=MAX_NAME_LENGTH)]
    """Its purpose."""
    scopes: Annotated[tuple[KeyScope, ...], Field(min_length=1)] = DEFAULT_SCOPES
    """Its scopes; `admin` permits everything."""
    expires_at: Timestamp | None = None
    """Its time of expiry; null for none."""


@dataclass(frozen=True)
class RotationRequest:
    """The rotation of an API key."""

    __pydantic_config__ = wire(extra="forbid")

    overlap_seconds: Annotated[int, Field(ge=0, le=MAX_OVERLAP_SECONDS)] = DAY_SECONDS
    """The seconds for which the old key stays valid; 0 for none."""


@dataclass(frozen=True)
class ApiKey:
    """An API key, without its secret."""

    __pydantic_config__ = wire()

    id: Id
    name: str
    prefix: str
    """The first characters of the key, by which it is recognised."""
    scopes: tuple[KeyScope, ...]
    created_at: datetime
    expires_at: datetime | None
    """Its time of expiry; null for none."""
    revoked_at: datetime | None
    """The time of its revocation; null if it was not revoked."""
    made_by: str | None = field(default=None, kw_only=True, metadata={"exclude_if": is_none})
    """The owner of the key, token or session that made it, such as a member of the project, or that made the key which
    made it; missing where a command did."""

    def is_valid(self, at: datetime) -> bool:
        """Return whether the key is valid at a time."""
        return self.revoked_at is None and (self.expires_at is None or self.expires_at > at)


@dataclass(frozen=True)
class NewApiKey(ApiKey):
    """A new API key, with its secret."""

    secret: str
    """The key itself, to be sent as `Authorization: Bearer`; it is not stored, and not shown again."""


@dataclass(frozen=True)
class Session:
    """The owner and scopes of requests with a session, an API key or a token."""

    __pydantic_config__ = wire()

    owner: str
    """The owner of the datasets, models and jobs that requests see."""
    scopes: tuple[KeyScope, ...]
    expires_at: datetime | None
    """When the session, or else the API key or token, expires; null: never."""
    subject: str
    """The owner of the API key or token; another one than `owner` where it acts in a project that is shared with it."""


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
