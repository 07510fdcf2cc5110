"""The arrays of a document and their file.

In place of an array is {"array": name}; its name is its path, as in `model/members/0/mean`.

`document.json` is the document with {"array": name} in place of arrays; numbers are `<f8`, indices `<i8`. There are no
pickles and no dates: the same version gives the same bytes.
"""

import io
import json
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from relevance_bayes.documents.exported import ExportedVersion
from relevance_bayes.documents.schema import DOCUMENT, VersionDocument, version_of
from relevance_bayes.records.errors import InvalidDataError
from relevance_bayes.records.json import encode, validate

Json: TypeAlias = "bool | int | float | str | Sequence[Json] | dict[str, Json] | None"
Stored: TypeAlias = NDArray[np.float64] | NDArray[np.int64]


def extract_arrays(document: object) -> tuple[Json, dict[str, Stored]]:
    """Return the JSON of a document without the arrays of its model, and these by name: `<f8`, or `<i8` for indices."""
    arrays: dict[str, Stored] = {}
    return _apart(encode(document), "", arrays), arrays


def _apart(value: object, name: str, arrays: dict[str, Stored]) -> Json:
    match value:
        case bool() | int() | float() | str() | None:
            return value
        case np.ndarray() if value.size:
            arrays[name] = value.astype("<i8" if value.dtype.kind == "i" else "<f8", order="C", copy=False)
            return {"array": name}
        case np.ndarray():
            empty: Json = value.tolist()
            return empty
        case dict():
            below = f"{name}/" if name else ""
            return {member: _apart(inner, f"{below}{member}", arrays) for member, inner in value.items()}
        case list():
            return [_apart(inner, f"{name}/{place}", arrays) for place, inner in enumerate(value)]
    raise TypeError(f"expected arrays and JSON, got {type(value).__name__}")


DOCUMENT_NAME = "document.json"
ENDING = ".npy"
NO_DATE = (1980, 1, 1, 0, 0, 0)
"""The earliest date of a zip archive."""


def write(document: VersionDocument) -> bytes:
    """Return a document as an archive."""
    reported, arrays = extract_arrays(document)
    sink = io.BytesIO()
    with zipfile.ZipFile(sink, "w", zipfile.ZIP_STORED) as archive:
        content = json.dumps(reported, ensure_ascii=False, separators=(",", ":")).encode()
        archive.writestr(zipfile.ZipInfo(DOCUMENT_NAME, NO_DATE), content)
        for name, array in arrays.items():
            member = io.BytesIO()
            np.lib.format.write_array(member, array, version=(1, 0), allow_pickle=False)
            archive.writestr(zipfile.ZipInfo(f"{name}{ENDING}", NO_DATE), member.getvalue())
    return sink.getvalue()


def read(data: bytes) -> ExportedVersion:
    """Return the version in an archive that `write` made; raises InvalidDataError, InvalidRequestError.

    The size of the archive is not limited: for files of others, see the service's import.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            content = json.loads(archive.read(DOCUMENT_NAME))
            arrays = {
                name.removesuffix(ENDING): _array(archive, name) for name in archive.namelist() if name.endswith(ENDING)
            }
            content |= {place: _with_lists(content[place], arrays) for place in ("sums", "groups") if place in content}
            document = validate(DOCUMENT, content, arrays=arrays)
    except (zipfile.BadZipFile, zlib.error, KeyError, ValueError, EOFError) as error:
        raise InvalidDataError("The data can't be read as a version in npz.") from error
    return version_of(document)


def _with_lists(value: object, arrays: Mapping[str, Stored]) -> object:
    """Return JSON that is not known here with lists in place of its arrays."""
    match value:
        case {"array": str(name)}:
            return arrays[name].tolist()
        case dict():
            return {member: _with_lists(inner, arrays) for member, inner in value.items()}
        case list():
            return [_with_lists(inner, arrays) for inner in value]
    return value


def _array(archive: zipfile.ZipFile, name: str) -> Stored:
    with archive.open(name) as member:
        found: Stored = np.lib.format.read_array(io.BytesIO(member.read()), allow_pickle=False)
    return found
