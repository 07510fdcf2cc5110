"""API keys and sessions."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Annotated, Literal, get_args

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
