"""A document as JSON."""

from pydantic import TypeAdapter

from relevance_bayes.documents.schema import VersionDocument

DOCUMENT: TypeAdapter[VersionDocument] = TypeAdapter(VersionDocument)
"""Reads documents with all that is wrong with them, writes them, and gives their JSON schema."""


def write(document: VersionDocument) -> bytes:
    """A document as compact JSON."""
    return DOCUMENT.dump_json(document)
