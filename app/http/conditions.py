"""Preconditions of changes by entity tags (RFC 9110, section 13)."""

from dataclasses import dataclass

from app.errors import PreconditionFailedError

ANY = "*"
"""Stands for whatever tag a thing has; tags themselves are quoted."""


@dataclass(frozen=True)
class Condition:
    """Tags of which a thing is to have one (`match`), or to have none (`none_match`); None is no condition.

    Each state of a thing has a tag of its own, in quotation marks; ANY is every one of them.
    """

    match: frozenset[str] | None = None
    none_match: frozenset[str] | None = None

    def require(self, what: str, tag: str | None) -> None:
        """Raise PreconditionFailedError unless a thing with this tag (None: there is no such thing) may be changed."""
        if self.match is not None and tag is None:
            raise PreconditionFailedError(f"{what} is not there.")
        if self.match is not None and not self.match & {tag, ANY}:
            raise PreconditionFailedError(f"{what} has changed since it was looked at: look again.")
        if self.none_match is not None and tag is not None and self.none_match & {tag, ANY}:
            raise PreconditionFailedError(f"{what} is there already.")


UNCONDITIONAL = Condition()
