"""Versions as files, as their reader meets them."""

import zipfile
from pathlib import Path
from typing import Literal, TypeAlias

import msgspec

from relevance_bayes.client.errors import ClientError, Problem

ExportFormat: TypeAlias = Literal["json", "npz", "onnx", "python"]

MAX_BYTES = 2**26
"""Of the text in an archive."""


class _Source(msgspec.Struct):
    model: str


class _Document(msgspec.Struct):
    source: _Source


def exported_name(file: Path) -> str:
    """The model's name where the version was exported; raises ClientError where the file says none, OSError."""
    try:
        if file.suffix.lower() == ".npz":
            with zipfile.ZipFile(file) as archive, archive.open("document.json") as member:
                text = member.read(MAX_BYTES)
        else:
            text = file.read_bytes()
        return msgspec.json.decode(text, type=_Document).source.model
    except (zipfile.BadZipFile, KeyError, msgspec.DecodeError, UnicodeDecodeError) as error:
        detail = f"{file.name} is no exported version: .json and .npz of `relevance export` can be imported ({error})"
        raise ClientError(Problem(title="No exported version", detail=detail)) from error
