"""Predictors as bytes: the members of their documents, not compressed, so that bytes can be compared.

The value of the frame is {"format_version": that of the documents, "arrays": their names, sorted, "content": the
members `task`, `inputs`, `target` and `model` with {"array": name} in the place of each array}.
"""

from pydantic import TypeAdapter

from app.database.base import Columns, Document
from app.database.frame import Arrays, Content, Json, UnreadableBytesError, read, write
from relevance_bayes.documents.arrays import Stored, extract_arrays
from relevance_bayes.documents.schema import CONTENT, FORMAT_VERSION, content_of, predictor_of
from relevance_bayes.records.diagnostics import Diagnostics
from relevance_bayes.records.errors import InvalidRequestError
from relevance_bayes.records.functions import ClassWeight, InputShape, RelevanceVector
from relevance_bayes.records.json import validate
from relevance_bayes.records.values import Cell
from relevance_bayes.tasks.union import Predictor, VersionReport


def encode_predictor(predictor: Predictor) -> bytes:
    """Return a predictor as bytes: the same bytes for the same predictor."""
    content, arrays = extract_arrays(content_of(predictor))
    value: Json = {"format_version": FORMAT_VERSION, "arrays": sorted(arrays), "content": content}
    return write(Content.VERSION, value, [arrays[name] for name in sorted(arrays)], compressible=False)


def decode_predictor(data: bytes) -> Predictor:
    """Return a predictor from its bytes; raises UnreadableBytesError."""
    value, arrays = read(Content.VERSION, data)
    match value:
        case {"format_version": int(version), "arrays": [*names], "content": content}:
            if version != FORMAT_VERSION:
                raise UnreadableBytesError(f"expected a version of document format {FORMAT_VERSION}, got {version}")
        case _:
            raise UnreadableBytesError("expected the content of a version's document")
    named = {str(name): _array(arrays, number) for number, name in enumerate(names)}
    try:
        return predictor_of(validate(CONTENT, content, arrays=named))
    except KeyError as error:
        raise UnreadableBytesError(f"the array {error} is missing") from error
    except InvalidRequestError as error:
        raise UnreadableBytesError(f"expected the content of a version's document: {error}") from error


def _array(arrays: Arrays, number: int) -> Stored:
    return arrays.real(number) if arrays.dtype(number) == "<f8" else arrays.indices(number)


REPORT = Document(TypeAdapter(VersionReport))
DIAGNOSTICS = Document(TypeAdapter(Diagnostics))
NAMES = Document(TypeAdapter(tuple[str, ...]))
WEIGHTS = Document(TypeAdapter(tuple[ClassWeight, ...]))
SHAPE = Document(TypeAdapter(tuple[InputShape, ...]))
VECTOR = Columns(RelevanceVector)
CELLS: Document[dict[str, Cell]] = Document(TypeAdapter(dict[str, Cell]))
