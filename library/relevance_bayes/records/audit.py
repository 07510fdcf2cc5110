"""Entries of the audit: changes of an owner's resources, in one chain of hashes."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, TypeAlias, get_args

from relevance_bayes.records.annotations import wire

AuditAction = Literal[
    "dataset.created",
    "dataset.deleted",
    "model.updated",
    "model.deleted",
    "version.created",
    "version.updated",
    "version.deleted",
    "outcomes.recorded",
    "alias.moved",
    "alias.removed",
    "job.created",
    "job.cancelled",
    "job.deleted",
    "result.expired",
    "webhook.created",
    "webhook.updated",
    "webhook.disabled",
    "webhook.deleted",
    "webhook.tested",
    "delivery.repeated",
    "key.created",
    "key.rotated",
    "key.revoked",
    "member.invited",
    "member.created",
    "member.updated",
    "member.deleted",
    "project.joined",
    "project.left",
    "limits.updated",
    "session.created",
    "session.ended",
    "request.refused",
    "audit.expired",
]
"""The kinds of changes, each named for its resource and its effect."""

AUDIT_ACTIONS: tuple[AuditAction, ...] = get_args(AuditAction)

ActorKind = Literal["api_key", "session", "token", "anonymous", "command", "job", "service"]
"""The kinds of what makes a change: a request's credential, a command, a job, or the service itself."""

AuditDetail: TypeAlias = str | int | bool | None


@dataclass(frozen=True)
class AuditActor:
    """The cause of a change."""

    __pydantic_config__ = wire()

    kind: ActorKind
    id: str | None
    """The id of the API key, also that of a session's, the owner that a token names, the user and host of a command, or
    the id of the job; null if there is none."""


@dataclass(frozen=True)
class AuditEntry:
    """An entry of the audit of an owner."""

    __pydantic_config__ = wire()

    owner: str
    number: int
    """Its number in the chain of the owner, from 1 without gaps."""
    at: datetime
    action: AuditAction
    result: Literal["success", "refused"]
    actor: AuditActor
    resource: str
    """The path of the changed resource; of a refused request, its path."""
    address: str | None
    """The address of the client; null if there was no request."""
    user_agent: str | None
    request_id: str | None
    details: Mapping[str, AuditDetail]
    """Further facts, by action."""
    previous_hash: str
    """The hash of the entry before; 64 zeros in the first one."""
    hash: str
    """SHA-256 of the entry in canonical JSON (RFC 8785) without this member, in hexadecimal digits."""
