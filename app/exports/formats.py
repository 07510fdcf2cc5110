"""The formats of exported versions."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from app.errors import ConflictError, NotInstalledError
from relevance_bayes.documents import arrays as npz
from relevance_bayes.documents.exported import ExportedVersion
from relevance_bayes.documents.schema import DOCUMENT, document_of

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
