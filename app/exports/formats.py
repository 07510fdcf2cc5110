"""The formats of exported versions, and archives of documents from clients."""

import io
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from math import prod
from tokenize import TokenError
from typing import Literal, TypeAlias

import numpy as np
from pydantic import JsonValue

from app.errors import ConflictError, MalformedBodyError, NotInstalledError, TooLargeError
from relevance_bayes.documents import schema as npz
from relevance_bayes.documents.reports import ExportedVersion
from relevance_bayes.documents.schema import DOCUMENT, DOCUMENT_NAME, ENDING, document_of
from relevance_bayes.records.errors import Fault, InvalidRequestError

Format: TypeAlias = Literal["json", "npz", "onnx", "python"]

"""Parses documents with all errors, writes them, and generates their JSON schema."""


@dataclass(frozen=True)
class Rendering:
    """A format: its media type, the suffix of its files, and its writer."""

    media_type: str
    ending: str
    render: Callable[[ExportedVersion], bytes]


def _json(exported: ExportedVersion) -> bytes:
    return DOCUMENT.dump_json(document_of(exported))


def _npz(exported: ExportedVersion) -> bytes:
    return npz.write(document_of(exported))


def _onnx(exported: ExportedVersion) -> bytes:
    _refuse(exported, "ONNX")
    try:
        # Imported here: other processes save its memory, and installations may lack the package.
        from app.exports.onnx_file.model import render
    except ModuleNotFoundError as missing:
        if missing.name != "onnx":
            raise
        raise NotInstalledError(
            "ONNX export needs the Python package `onnx`, which is not installed in this service."
            " The container image includes it; in a checkout of the source"
            " `pip install ./library '.[onnx]'` installs it."
        ) from missing
    return render(exported)


def _python(exported: ExportedVersion) -> bytes:
    _refuse(exported, "Python")
    # Imported here: the module reads its own sources.
    from app.exports.python_file.program import render

    return render(exported)


def _refuse(exported: ExportedVersion, name: str) -> None:
    """Raise ConflictError for a version that predicts from neighbours."""
    if exported.has_rows:
        raise ConflictError(
            f"The format {name} does not support versions that predict from nearest rows, which are not part of "
            'a program. Export it as "json" or "npz", or train with "local": {"type": "none"}.'
        )


NPZ = "application/x-npz"

RENDERINGS: Mapping[Format, Rendering] = {
    "json": Rendering("application/json", ".json", _json),
    "npz": Rendering(NPZ, ".npz", _npz),
    "onnx": Rendering("application/x-onnx", ".onnx", _onnx),
    "python": Rendering("text/x-python", ".py", _python),
}


MAX_MEMBERS = 1_000
_UNREADABLE = (
    ValueError, TypeError, SyntaxError, TokenError, EOFError, LookupError, OverflowError, MemoryError, RecursionError,
)  # fmt: skip
"""Exceptions of numpy for a malformed header, which is a Python literal."""


def read(data: bytes, *, max_bytes: int) -> tuple[bytes, dict[str, JsonValue]]:
    """Return the text of `document.json`, and the arrays by name, as lists.

    Raises MalformedBodyError for an invalid archive, TooLargeError where it would decompress to more than `max_bytes`,
    InvalidRequestError for an array of another type.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = dict(_unpacked(archive, max_bytes))
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError, NotImplementedError, RuntimeError, ValueError) as error:
        raise MalformedBodyError("The file can't be read as npz; is it truncated?") from error
    if DOCUMENT_NAME not in members:
        raise MalformedBodyError(f"The archive has no {DOCUMENT_NAME}: it is not an exported version.")
    text = members.pop(DOCUMENT_NAME)
    return text, {name.removesuffix(ENDING): _listed(name, content) for name, content in members.items()}


def _unpacked(archive: zipfile.ZipFile, max_bytes: int) -> Iterator[tuple[str, bytes]]:
    entries = archive.infolist()
    if len(entries) > MAX_MEMBERS:
        raise TooLargeError(f"Expected an archive of at most {MAX_MEMBERS:,} members, got {len(entries):,}.")
    left = max_bytes
    for entry in entries:
        if entry.compress_type not in {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED}:
            raise MalformedBodyError(f"{entry.filename!r} has an unsupported compression: store or deflate it.")
        with archive.open(entry) as member:
            # The sizes in an archive's directory may be wrong.
            content = member.read(left + 1)
        left -= len(content)
        if left < 0:
            raise TooLargeError(f"Expected at most {max_bytes:,} bytes once decompressed, got more.")
        yield entry.filename, content


def _listed(name: str, content: bytes) -> JsonValue:
    source = io.BytesIO(content)
    try:
        version = np.lib.format.read_magic(source)
        if version != (1, 0):
            raise ValueError(f"version {version}")
        shape, fortran, dtype = np.lib.format.read_array_header_1_0(source)
    except _UNREADABLE as error:
        raise MalformedBodyError(f"{name!r} can't be read as npy of version 1.0; is it truncated?") from error
    where = f"/{name.removesuffix(ENDING)}"
    if dtype.str not in {"<f8", "<i8"} or not _is_list_or_table(shape):
        detail = f"Expected a list or a table of <f8 or <i8, got shape {shape} of {dtype.str}."
        raise InvalidRequestError(f"At {where}: {detail}", [Fault(detail, where)])
    body = content[source.tell() :]
    # Checked before memory of that size is allocated: the header may be wrong.
    if len(body) != prod(shape) * dtype.itemsize:
        raise MalformedBodyError(f"{name!r} has {len(body):,} bytes, which is not the size in its header.")
    array = np.frombuffer(body, dtype).reshape(shape, order="F" if fortran else "C")
    if not np.isfinite(array).all():
        detail = "Expected finite numbers, got NaN or infinity."
        raise InvalidRequestError(f"At {where}: {detail}", [Fault(detail, where)])
    listed: JsonValue = array.tolist()
    return listed


def _is_list_or_table(shape: tuple[int, ...]) -> bool:
    """Return whether this is a vector or a matrix; one without columns has no bytes that bound its number of rows."""
    match shape:
        case (length,):
            return length >= 0
        case (rows, columns):
            return rows > 0 and columns > 0
        case _:
            return False


def with_arrays(document: JsonValue, arrays: dict[str, JsonValue]) -> JsonValue:
    """Return the document with its arrays; raises InvalidRequestError for a missing or an unused one."""
    unused = set(arrays)
    whole = _put_back(document, "", arrays, unused)
    if unused:
        name = min(unused)
        raise InvalidRequestError(f"The document does not refer to the array {name!r}.", [Fault("Unused.", f"/{name}")])
    return whole


def _put_back(value: JsonValue, where: str, arrays: dict[str, JsonValue], unused: set[str]) -> JsonValue:
    if isinstance(value, dict):
        if value.keys() == {"array"} and isinstance(name := value["array"], str):
            if f"/{name}" != where or name not in arrays:
                detail = f"Expected the array {where[1:]!r} of the archive, or numbers; got {name!r}."
                raise InvalidRequestError(f"At {where}: {detail}", [Fault(detail, where)])
            unused.discard(name)
            return arrays[name]
        return {member: _put_back(inner, f"{where}/{member}", arrays, unused) for member, inner in value.items()}
    if isinstance(value, list):
        return [_put_back(inner, f"{where}/{place}", arrays, unused) for place, inner in enumerate(value)]
    return value
