"""Where a version was before it came here."""

from dataclasses import dataclass


@dataclass(frozen=True)
class ImportedFrom:
    """The version that another one was imported from, by the names it had there; `digest` is SHA-256 of the file."""

    model: str
    version: int
    digest: str
