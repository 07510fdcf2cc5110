"""Exported versions as files, for import."""

import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

from relevance_bayes.client.errors import ClientError, Problem
from relevance_bayes.client.json import Form

ExportFormat: TypeAlias = Literal["json", "npz", "onnx", "python"]

MAX_BYTES = 2**26
"""The maximum size of the JSON in an archive."""


@dataclass(frozen=True)
class _Source:
    model: str


@dataclass(frozen=True)
class _Document:
    source: _Source


_DOCUMENT: Form[_Document] = Form(_Document)


def exported_name(file: Path) -> str:
    """Return the model's name in an exported version; raises ClientError for other files, OSError."""
    try:
        if file.suffix.lower() == ".npz":
            with zipfile.ZipFile(file) as archive, archive.open("document.json") as member:
                text = member.read(MAX_BYTES)
        else:
            text = file.read_bytes()
        return _DOCUMENT.read(text).source.model
    except (zipfile.BadZipFile, KeyError, ValueError) as error:
        detail = f"Expected a .json or .npz file of `relevance export`, got {file.name} ({error})"
        raise ClientError(Problem(title="Not an exported version", detail=detail)) from error
