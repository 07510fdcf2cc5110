"""Sessions."""

from dataclasses import dataclass
from datetime import datetime

from relevance_bayes.types.annotations import wire
from relevance_bayes.types.keys import KeyScope


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
