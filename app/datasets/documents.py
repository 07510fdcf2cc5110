"""The columns of a dataset as JSON."""

from pydantic import TypeAdapter

from app.database.json_documents import Document
from relevance_bayes.tables.columns import ColumnSummary

COLUMNS = Document(TypeAdapter(tuple[ColumnSummary, ...]))
