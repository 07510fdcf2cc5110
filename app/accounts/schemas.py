"""The API's schemas of API keys and members."""

from typing import Annotated, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from app.accounts.records import MAX_NAME_LENGTH, ApiKey
from app.accounts.service import DEFAULT_SCOPES
from app.http.timestamps import Timestamp
from relevance_bayes.records import keys as records
from relevance_bayes.records.keys import KeyScope
from relevance_bayes.records.members import Role

DAY_SECONDS = 86_400
MAX_OVERLAP_SECONDS = 30 * DAY_SECONDS

Overlap: TypeAlias = Annotated[
    int, Field(ge=0, le=MAX_OVERLAP_SECONDS, description="The seconds for which the old key stays valid; 0 for none.")
]


class ApiKeyIn(BaseModel):
    """A new API key."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: Annotated[str, Field(min_length=1, max_length=MAX_NAME_LENGTH, description="What the key is for.")]
    scopes: Annotated[
        tuple[KeyScope, ...], Field(min_length=1, description="Its scopes; `admin` permits everything.")
    ] = DEFAULT_SCOPES
    expires_at: Annotated[Timestamp | None, Field(description="Its time of expiry; null for none.")] = None


class RotationIn(BaseModel):
    """The rotation of an API key."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    overlap_seconds: Overlap = DAY_SECONDS


class MemberIn(BaseModel):
    """The role of a member."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    role: Annotated[
        Role, Field(description="`viewer`: read and predict; `editor`: train too; `admin`: members and API keys too.")
    ]


API_KEY_IN: TypeAdapter[ApiKeyIn] = TypeAdapter(ApiKeyIn)
ROTATION_IN: TypeAdapter[RotationIn] = TypeAdapter(RotationIn)
MEMBER_IN: TypeAdapter[MemberIn] = TypeAdapter(MemberIn)


def key_record(key: ApiKey) -> records.ApiKey:
    """Return the API's form of a key."""
    times = key.created_at, key.expires_at, key.revoked_at
    return records.ApiKey(str(key.id), key.name, key.prefix, key.scopes, *times, made_by=key.made_by)


def new_key_record(made: tuple[ApiKey, str]) -> records.NewApiKey:
    """Return the API's form of a new key, with its secret."""
    key, secret = made
    return records.NewApiKey(**vars(key_record(key)), secret=secret)
