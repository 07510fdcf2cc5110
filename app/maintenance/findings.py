"""The findings of checks."""

from dataclasses import dataclass
from typing import Literal, TypeAlias

Level: TypeAlias = Literal["ok", "warning", "error"]


@dataclass(frozen=True)
class Finding:
    """The result of a check; a warning and an error have a remedy."""

    level: Level
    check: str
    detail: str
    remedy: str | None = None


def ok(check: str, detail: str) -> Finding:
    """Return a finding without fault."""
    return Finding("ok", check, detail)


def warning(check: str, detail: str, remedy: str) -> Finding:
    """Return the finding of a risk."""
    return Finding("warning", check, detail, remedy)


def error(check: str, detail: str, remedy: str) -> Finding:
    """Return the finding of a fault."""
    return Finding("error", check, detail, remedy)
