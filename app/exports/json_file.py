"""A document as JSON."""

from pydantic import TypeAdapter

from relevance_bayes.documents.schema import VersionDocument

DOCUMENT: TypeAdapter[VersionDocument] = TypeAdapter(VersionDocument)
"""Parses documents with all errors, writes them, and generates their JSON schema."""


def write(document: VersionDocument) -> bytes:
    """Return a document as compact JSON."""
    return DOCUMENT.dump_json(document)
