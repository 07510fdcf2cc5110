"""The chain of the audit: canonical bytes, hashes, heads and checkpoints."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime

from relevance_bayes.records.audit import AuditAction, AuditEntry

GENESIS = "0" * 64
"""The `previous_hash` of the first entry of a chain."""


@dataclass(frozen=True)
class ChainHead:
    """An entry of an owner's chain by its number and hash, such as the last one, as it was at some time."""

    owner: str
    number: int
    hash: str


@dataclass(frozen=True)
class AuditFilter:
    """A filter of entries; what is None selects all. `since` is included, `until` is not."""

    action: AuditAction | None = None
    actor: str | None = None
    resource: str | None = None
    since: datetime | None = None
    until: datetime | None = None


EVERYTHING = AuditFilter()


def members(entry: AuditEntry) -> dict[str, object]:
    """Return an entry as members of JSON; its time is in UTC and has microseconds."""
    at = entry.at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    return {**asdict(entry), "at": at, "details": dict(entry.details)}


def canonical(content: Mapping[str, object]) -> bytes:
    """Return JSON by RFC 8785 of texts, integers, booleans and null: sorted members without spaces, in UTF-8."""
    return json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


def hash_of(entry: AuditEntry) -> str:
    """Return the hash that an entry must have, which covers all members but itself."""
    content = members(entry)
    del content["hash"]
    return hashlib.sha256(canonical(content)).hexdigest()
