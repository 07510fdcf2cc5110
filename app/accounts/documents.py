"""The scopes of a key as JSON, and roles, as the database stores them."""

from functools import cache

from pydantic import TypeAdapter

from app.accounts.records import ProjectRole
from app.database.json_documents import Document
from relevance_bayes.types.keys import KeyScope
from relevance_bayes.types.members import Role

SCOPES: Document[tuple[KeyScope, ...]] = Document(TypeAdapter(tuple[KeyScope, ...]))
ROLE: TypeAdapter[Role] = TypeAdapter(Role)
PROJECT_ROLE: TypeAdapter[ProjectRole] = TypeAdapter(ProjectRole)


@cache
def scopes_of(stored: str) -> frozenset[KeyScope]:
    """Return stored scopes as a set, the same one for the same text."""
    return frozenset(SCOPES.read(stored))
