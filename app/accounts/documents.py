"""The scopes of a key as JSON, as the database stores them."""

from pydantic import TypeAdapter

from app.database.json_documents import Document
from relevance_bayes.types.keys import KeyScope

SCOPES: Document[tuple[KeyScope, ...]] = Document(TypeAdapter(tuple[KeyScope, ...]))
