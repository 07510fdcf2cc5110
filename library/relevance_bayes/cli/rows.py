"""Rows to predict for, read from a file."""

import csv
import gzip
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Literal, Protocol, TextIO, TypeAlias

from relevance_bayes.types.errors import InvalidDataError
from relevance_bayes.types.formats import CSV, NDJSON, by_suffix, content_encoding_of
from relevance_bayes.types.values import Cell, ColumnKind

Row: TypeAlias = dict[str, Cell]

DecimalMark: TypeAlias = Literal[".", ","]
ThousandsMark: TypeAlias = Literal[".", ",", " ", "'"]

DELIMITERS = "\t;|,"
"""The possible delimiters; the most frequent one in the header is used."""

BOOLEANS = {"true": True, "1": True, "false": False, "0": False}


@dataclass(frozen=True, kw_only=True)
class RowOptions:
    """Options of how the rows of a file are read, None where they are detected."""

    delimiter: str | None = None
    decimal: DecimalMark | None = None
    thousands: ThousandsMark | None = None
    date_format: str | None = None
    sheet: str | None = None


class RowReader(Protocol):
    """Reads the rows of a file, at most `size` at a time; columns that are not in `kinds` are texts.

    Raises RelevanceError where the file is not of the format of its suffix, or a value is not of its kind.
    """

    def __call__(
        self, path: Path, kinds: Mapping[str, ColumnKind], *, size: int, options: RowOptions
    ) -> Iterator[Sequence[Row]]: ...


@dataclass(frozen=True)
class CommandContext:
    """The context that a program gives its commands."""

    read_rows: RowReader


def text_rows(
    path: Path, kinds: Mapping[str, ColumnKind], *, size: int, options: RowOptions
) -> Iterator[Sequence[Row]]:
    """The rows of a file of NDJSON, or of CSV under a header."""
    written = by_suffix(path) or CSV
    if written not in (CSV, NDJSON):
        raise InvalidDataError(_by_service(written.name))
    if options != RowOptions(delimiter=options.delimiter):
        raise InvalidDataError(_by_service("a file with these options"))
    try:
        with _opened(path) as opened:
            rows = _csv(opened, kinds, options.delimiter) if written == CSV else _ndjson(opened)
            while batch := list(islice(rows, size)):
                yield batch
    except UnicodeDecodeError as broken:
        raise InvalidDataError(f"The file is not UTF-8: {broken.reason} at byte {broken.start}.") from broken


def _opened(path: Path) -> TextIO:
    """The file as text, decompressed where it is gzip."""
    match content_encoding_of(path):
        case None:
            return path.open(encoding="utf-8-sig", newline="")
        case "gzip":
            return gzip.open(path, "rt", encoding="utf-8-sig", newline="")
        case encoding:
            raise InvalidDataError(_by_service(encoding))


def _by_service(form: str) -> str:
    return (
        f"Rows of {form} are read by the service only: pass --format to send the file as it is, "
        "or use the server's command, relevance."
    )


def _csv(lines: TextIO, kinds: Mapping[str, ColumnKind], delimiter: str | None) -> Iterator[Row]:
    header = lines.readline()
    delimiter = delimiter or max(DELIMITERS, key=header.count)
    names = [name.strip() for name in next(csv.reader([header], delimiter=delimiter), [])]
    reader = csv.reader(lines, delimiter=delimiter)
    for cells in reader:
        line = reader.line_num + 1
        if not cells:
            continue
        if len(cells) != len(names):
            raise InvalidDataError(f"Expected {len(names)} cells as in the header, got {len(cells)} at line {line}.")
        yield {
            name: _cell(text.strip(), name, kinds.get(name, "category"), line)
            for name, text in zip(names, cells, strict=True)
        }


def _cell(text: str, name: str, kind: ColumnKind, line: int) -> Cell:
    """A CSV cell as a value of a kind; None where it is empty."""
    if not text:
        return None
    if kind == "number":
        try:
            return float(text)
        except ValueError as broken:
            raise InvalidDataError(f"Expected a number, got {text!r} at line {line}, column {name}.") from broken
    if kind == "boolean":
        if text.lower() not in BOOLEANS:
            raise InvalidDataError(f"Expected true or false, got {text!r} at line {line}, column {name}.")
        return BOOLEANS[text.lower()]
    return text


def _ndjson(lines: TextIO) -> Iterator[Row]:
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except json.JSONDecodeError as broken:
            raise InvalidDataError(f"Line {number} is not JSON: {broken}.") from broken
        if not isinstance(row, dict):
            raise InvalidDataError(f"Expected an object with a member for each column, got another at line {number}.")
        yield row
