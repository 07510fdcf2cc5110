"""Reports of versions and JSON columns of their functions."""

from pydantic import TypeAdapter

from app.database.json_documents import Document
from relevance_bayes.documents.models import VersionReport
from relevance_bayes.types.functions import ClassWeight, InputShape
from relevance_bayes.types.values import Cell

REPORT = Document(TypeAdapter(VersionReport))
NAMES = Document(TypeAdapter(tuple[str, ...]))
WEIGHTS = Document(TypeAdapter(tuple[ClassWeight, ...]))
SHAPE = Document(TypeAdapter(tuple[InputShape, ...]))
CELLS: Document[dict[str, Cell]] = Document(TypeAdapter(dict[str, Cell]))
