"""Members of projects and their roles."""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal, TypeAlias, get_args

from relevance_bayes.records.accounts import ApiKey, KeyScope
from relevance_bayes.records.annotations import wire

Role = Literal["viewer", "editor", "admin"]
"""Roles of members: reads and predicts; trains, uploads and changes too; manages members and API keys too."""

ROLES: tuple[Role, ...] = get_args(Role)

ProjectRole: TypeAlias = Role | Literal["owner"]
"""The role of a member, or `owner` in its own project."""

MemberState = Literal["member", "invited"]
"""States of a membership: `invited` becomes `member` when the other owner accepts."""


@dataclass(frozen=True)
class MemberRequest:
    """The role of a member."""

    __pydantic_config__ = wire(extra="forbid")

    role: Role
    """`viewer`: read and predict; `editor`: train too; `admin`: members and API keys too."""


@dataclass(frozen=True)
class Member:
    """A member of a project: another owner, whose API keys and tokens may act in the project once it has accepted."""

    __pydantic_config__ = wire()

    subject: str
    """The owner of the member's API keys, or the owner that its tokens have."""
    role: Role
    created_at: datetime
    state: MemberState = "member"


KeysOfMember = Literal["revoke", "keep"]
"""Treatments of the API keys that a removed member has made in the project."""


@dataclass(frozen=True)
class RemovedMember:
    """A member that was removed, and the API keys that it has made in the project and that were valid until then."""

    __pydantic_config__ = wire()

    subject: str
    keys: tuple[ApiKey, ...]
    """Revoked ones have `revoked_at`."""


@dataclass(frozen=True)
class Project:
    """A project in which the API key, token or session of the request may act."""

    __pydantic_config__ = wire()

    name: str
    """The owner that the header `Relevance-Project` names."""
    role: ProjectRole
    """The role of the request's owner in the project; `owner`: it is its own project."""
    scopes: tuple[KeyScope, ...]
    """The scopes of the request in the project: those of its key or token that the role permits."""
    state: MemberState = "member"
