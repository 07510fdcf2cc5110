"""The base classes of formats: media types, suffixes, and a method for each direction.

A format derives from each of `TableFormat` (uploads), `RowFormat` (rows to predict for) and `WritableFormat`
(predictions) that it supports; from `PartsFormat` or `AssembledFormat` where batch predictions support it. Arrow and
other large libraries are imported within the methods, so that a process that only predicts from JSON does not load
them.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol

from app.formats.cells import Expected, ReadRows
from app.formats.spool import SpoolFile
from app.formats.streams import FlatTable, TableStream
from relevance_bayes.records.formats import FileFormat
from relevance_bayes.records.values import ColumnKind, DecimalMark, NumberForm, TextEncoding, ThousandsMark

MAX_SKIPPED_ROWS = 1_000
"""The maximum number of lines or rows above a table."""

OptionName = Literal[
    "delimiter", "decimal", "thousands", "date_format", "missing_values", "encoding", "skip_rows", "sheet"
]
"""Options that prediction requests take as query parameters."""


@dataclass(frozen=True)
class ReadOptions:
    """Options of how a body is parsed; None is detected.

    `delimiter`, `decimal`, `thousands`, `date_format`, `encoding` and `header` are for CSV, `sheet` for workbooks;
    `missing_values`, texts in the place of the default markers, and `skip_rows`, the number of lines or rows above the
    table, for both. `media_type` is the body's own. `revised` are kinds of columns whose later rows contradicted the
    inferred ones. `has_errors`: cells may have errors of a spreadsheet. `forms` are those of the numbers by which a
    version was trained, by column; in other columns they are detected.
    """

    delimiter: str | None = None
    decimal: DecimalMark | None = None
    header: bool | None = None
    sheet: str | None = None
    thousands: ThousandsMark | None = None
    date_format: str | None = None
    missing_values: tuple[str, ...] | None = None
    encoding: TextEncoding | None = None
    skip_rows: int | None = None
    media_type: str = ""
    revised: Mapping[str, ColumnKind] = field(default_factory=dict)
    has_errors: bool = False
    forms: Mapping[str, NumberForm] = field(default_factory=dict)

    def known(self, declared: Mapping[str, ColumnKind]) -> Mapping[str, ColumnKind]:
        """Return the kinds that are not inferred from the first rows: the `declared` and the revised ones."""
        return {**self.revised, **declared}


@dataclass(frozen=True)
class TableLimits:
    """The maximum numbers of columns and rows, of bytes held in memory at once, such as those of a line, and of bytes
    that the cells of compressed columns take in all once they are decoded."""

    max_columns: int
    max_rows: int
    max_bytes: int
    max_decoded_bytes: int


class Predictions(Protocol):
    """Predictions for N rows, in the shapes that formats need."""

    def flat(self) -> FlatTable:
        """Return a column for each number and label."""

    def document(self) -> Iterator[bytes]:
        """Yield the API's JSON document in chunks."""

    def lines(self) -> Iterator[bytes]:
        """Yield the predictions of the document, one a line, in chunks."""


class Format(ABC):
    """A format of tables or predictions.

    `is_read_whole`: a table is held in memory at once, so it may be no larger than other bodies. `is_light`: its rows
    and predictions need no large library.
    """

    is_read_whole = False
    is_light = False

    @property
    @abstractmethod
    def file_format(self) -> FileFormat:
        """Return its public description."""

    @property
    @abstractmethod
    def title(self) -> str:
        """Return the name in a sentence."""

    @property
    def other_media_types(self) -> tuple[str, ...]:
        """Return the media types of bodies besides that of `file_format`."""
        return ()

    @property
    def name(self) -> str:
        """Return the name in options and fields of the API."""
        return self.file_format.name

    @property
    def suffixes(self) -> tuple[str, ...]:
        """Return the suffixes of files, with their points; the first is that of written files."""
        return self.file_format.suffixes

    @property
    def is_text(self) -> bool:
        """Return whether bodies are UTF-8."""
        return self.file_format.is_text

    @property
    def is_document(self) -> bool:
        """Return whether a body is the API's own JSON, with options and the version besides the rows."""
        return self.file_format.is_document

    @property
    def media_type(self) -> str:
        """Return the media type of responses."""
        return self.file_format.media_type

    @property
    def media_types(self) -> tuple[str, ...]:
        """Return the media types of bodies; the first is that of responses."""
        return (self.media_type, *self.other_media_types)

    @property
    def rows_summary(self) -> str:
        """Return the layout of rows to predict for, for the table of formats in the docs; empty where not supported."""
        return ""


class TableFormat(Format):
    """A format of uploaded tables or images."""

    @abstractmethod
    def read_table(
        self, file: SpoolFile, options: ReadOptions, *, declared: Mapping[str, ColumnKind], limits: TableLimits
    ) -> TableStream:
        """Return the file as a stream of blocks; kinds of columns that are not `declared` are inferred.

        Raises MalformedBodyError, InvalidDataError, InvalidRequestError (a kind declared for an unknown column, an
        invalid option) and TooLargeError; so do the blocks as they are read.
        """


class RowFormat(Format):
    """A format of rows to predict for.

    `row_options` are the supported options of `ReadOptions`. `streams_lines`: it has one row a line, so that rows are
    predicted for as they arrive. `has_names`: columns are matched by name, not by order. `has_text_cells`: cells are
    texts, which `read_texts` returns to the letter.
    """

    row_options: frozenset[OptionName] = frozenset()
    streams_lines = False
    has_names = True
    has_text_cells = False

    @property
    @abstractmethod
    def rows_summary(self) -> str:
        """Return the layout of rows, for the table of formats in the docs."""

    @abstractmethod
    def read_rows(self, body: bytes, options: ReadOptions, expected: Expected, *, strict: bool) -> ReadRows:
        """Read the rows of a body; `strict` raises MalformedBodyError for a malformed row, otherwise it is a fault.

        Raises MalformedBodyError, InvalidDataError for columns other than those expected, InvalidRequestError for an
        invalid option, and TooLargeError.
        """

    def read_texts(
        self, file: SpoolFile, options: ReadOptions, *, max_columns: int, rows: int
    ) -> Iterator[Sequence[Mapping[str, str]]]:
        """Yield at most `rows` rows at a time as texts by column, to the letter; raises as `read_table` does.

        Raises NotImplementedError where cells are values.
        """
        raise NotImplementedError


class WritableFormat(Format):
    """A format of predictions.

    `is_nested`: a prediction may have nested members (explanations). `has_texts`: it has labels and errors.
    """

    is_nested = False
    has_texts = True

    @property
    @abstractmethod
    def predictions_summary(self) -> str:
        """Return the layout of predictions, for the table of formats in the docs."""

    @abstractmethod
    def write(self, predictions: Predictions) -> Iterator[bytes]:
        """Yield a file with a row for each prediction, in chunks; raises InvalidRequestError before the first."""


class PartsFormat(WritableFormat):
    """A format of files that are concatenated parts, so that rows are written as they are computed."""

    @abstractmethod
    def part(self, table: FlatTable, *, is_first: bool) -> bytes:
        """Return the next rows of a file, after its beginning if they are the first; it depends only on these rows."""

    @abstractmethod
    def end(self) -> bytes:
        """Return the bytes after the last part."""


class AssembledFormat(WritableFormat):
    """A format of files with a footer, so that they are written once all rows are known."""

    @abstractmethod
    def assemble(self, parts: Iterator[bytes]) -> Iterator[bytes]:
        """Yield a file in chunks, from the bytes of an Arrow stream in chunks of any size."""
