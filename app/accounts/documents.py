"""The scopes of a key as JSON, as the database stores them."""

from functools import cache

from pydantic import TypeAdapter

from app.database.json_documents import Document
from relevance_bayes.types.keys import KeyScope

SCOPES: Document[tuple[KeyScope, ...]] = Document(TypeAdapter(tuple[KeyScope, ...]))


@cache
def scopes_of(stored: str) -> frozenset[KeyScope]:
    """Return stored scopes as a set, the same one for the same text."""
    return frozenset(SCOPES.read(stored))
