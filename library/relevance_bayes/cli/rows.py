"""Rows to predict for, read from a file."""

import csv
import gzip
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Annotated, Protocol, Self, TextIO, TypeAlias

import typer

from relevance_bayes.records.errors import InvalidDataError
from relevance_bayes.records.formats import CSV, NDJSON, RowReadOptions, by_suffix, content_encoding_of
from relevance_bayes.records.values import Cell, ColumnKind, DecimalMark, NumberForm, TextEncoding, ThousandsMark

Row: TypeAlias = dict[str, Cell]

DELIMITERS = "\t;|,"
"""The possible delimiters; the most frequent one in the header is used."""

BOOLEANS = {"true": True, "1": True, "false": False, "0": False}


@dataclass(frozen=True, kw_only=True)
class RowOptions:
    """Options of how the rows of a file are read, None where they are detected; commands have those with a help."""

    delimiter: Annotated[
        str | None, typer.Option(metavar="TEXT", show_default="detected", help="The delimiter of a CSV.")
    ] = None
    decimal: Annotated[
        DecimalMark | None, typer.Option(show_default="detected", help="The decimal separator of a CSV.")
    ] = None
    thousands: Annotated[
        ThousandsMark | None,
        typer.Option(show_default="a comma or point is detected", help="The thousands separator of a CSV."),
    ] = None
    date_format: Annotated[
        str | None,
        typer.Option(
            metavar="FORMAT",
            show_default="ISO 8601, 31.12.2025 and 12/31/2025 are detected",
            help="The format of the dates of a CSV, such as %d.%m.%y.",
        ),
    ] = None
    missing_values: Annotated[
        list[str] | None,
        typer.Option(
            "--missing-value",
            metavar="TEXT",
            show_default="NA, nan, null, ?, - and others, beside numbers, booleans and times",
            help="A text that means a missing value, in the place of the defaults. May be repeated.",
        ),
    ] = None
    encoding: Annotated[
        TextEncoding | None, typer.Option(show_default="UTF-8, or UTF-16 by its mark", help="The encoding of a CSV.")
    ] = None
    skip_rows: Annotated[
        int | None,
        typer.Option(
            min=0, max=1000, metavar="N", show_default="0", help="The number of lines or rows above the table."
        ),
    ] = None
    sheet: Annotated[
        str | None, typer.Option(metavar="NAME", show_default="the first visible", help="The sheet of a workbook.")
    ] = None
    forms: Mapping[str, NumberForm] = field(default_factory=dict)
    """The forms of the numbers by which the version was trained, by column."""
    has_header: bool = True
    """True where a CSV begins with the names of its columns."""
    as_written: bool = False
    """True where the cells of a CSV are read as texts, to the letter."""

    @property
    def of_client(self) -> RowReadOptions:
        """Return the options as the client has them."""
        return RowReadOptions(
            delimiter=self.delimiter,
            decimal=self.decimal,
            thousands=self.thousands,
            date_format=self.date_format,
            missing_values=self.missing_values,
            encoding=self.encoding,
            skip_rows=self.skip_rows,
            sheet=self.sheet,
        )

    def with_header(self, has_header: bool) -> Self:
        """Return the options for a file that has a header or not; rows to predict for always have one."""
        return self


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
    known = RowOptions(delimiter=options.delimiter, forms=options.forms, as_written=options.as_written)
    if options != known:
        raise InvalidDataError(_by_service("a file with these options"))
    try:
        with _opened(path) as opened:
            rows = _csv(opened, kinds, options) if written == CSV else _ndjson(opened)
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


def _csv(lines: TextIO, kinds: Mapping[str, ColumnKind], options: RowOptions) -> Iterator[Row]:
    header = lines.readline()
    delimiter = options.delimiter or max(DELIMITERS, key=header.count)
    names = [name.strip() for name in next(csv.reader([header], delimiter=delimiter), [])]
    reader = csv.reader(lines, delimiter=delimiter)
    for cells in reader:
        line = reader.line_num + 1
        if not cells and len(names) > 1:
            continue
        cells = cells or [""]
        if len(cells) != len(names):
            raise InvalidDataError(f"Expected {len(names)} cells as in the header, got {len(cells)} at line {line}.")
        if options.as_written:
            yield dict(zip(names, cells, strict=True))
            continue
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
