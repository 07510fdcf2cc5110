"""The classes of formats, each of which says its media types and suffixes, and has a method for each thing it can.

A format derives from each of `TableFormat` (uploads), `RowFormat` (rows to predict for) and `WritableFormat`
(predictions) whose method it has; from `PartsFormat` or `AssembledFormat` where batch predictions too are.
Arrow and other large libraries are imported within the methods: a process that only predicts from JSON does without
their memory.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from typing import Protocol

from app.formats.expected import Expected, ReadRows
from app.formats.flat_table import FlatTable
from app.formats.options import OptionName, ReadOptions, TableLimits
from app.formats.spool import SpoolFile
from app.formats.streams import TableStream
from relevance_bayes.types.formats import FileFormat
from relevance_bayes.types.values import ColumnKind


class Predictions(Protocol):
    """Predictions for N rows, in the shape that a format needs."""

    def flat(self) -> FlatTable:
        """A column for each number and label."""

    def document(self) -> Iterator[bytes]:
        """The API's own JSON document, in pieces."""

    def lines(self) -> Iterator[bytes]:
        """The document's predictions alone, one on each line, in pieces."""


class Format(ABC):
    """A format of tables or predictions.

    `is_read_whole`: a table of it is held in memory at once, so that it may be no larger than other bodies. `is_light`:
    its rows and predictions do without a large library.
    """

    is_read_whole = False
    is_light = False

    @property
    @abstractmethod
    def file_format(self) -> FileFormat:
        """The public part of it."""

    @property
    @abstractmethod
    def title(self) -> str:
        """The name in a sentence."""

    @property
    def other_media_types(self) -> tuple[str, ...]:
        """The media types of bodies beside the one that `file_format` has."""
        return ()

    @property
    def name(self) -> str:
        """The name in options and fields of the API."""
        return self.file_format.name

    @property
    def suffixes(self) -> tuple[str, ...]:
        """The suffixes of files, with their points; the first is that of files written."""
        return self.file_format.suffixes

    @property
    def is_text(self) -> bool:
        """Return whether bodies are UTF-8."""
        return self.file_format.is_text

    @property
    def is_document(self) -> bool:
        """Return whether a body is the API's own JSON, with options and the version beside the rows."""
        return self.file_format.is_document

    @property
    def media_type(self) -> str:
        """The media type of responses."""
        return self.file_format.media_type

    @property
    def media_types(self) -> tuple[str, ...]:
        """The media types of bodies; the first is that of responses."""
        return (self.media_type, *self.other_media_types)

    @property
    def rows_summary(self) -> str:
        """Return the layout of rows to predict for, for the table of formats in the docs; empty where it has none."""
        return ""


class TableFormat(Format):
    """A format in which tables, or images, are uploaded."""

    @abstractmethod
    def read_table(
        self, file: SpoolFile, options: ReadOptions, *, declared: Mapping[str, ColumnKind], limits: TableLimits
    ) -> TableStream:
        """The file as a stream of blocks; kinds of columns that are not `declared` are found out.

        Raises MalformedBodyError, InvalidDataError, InvalidRequestError (a kind declared for an unknown column, an
        option that can't be) and TooLargeError, drawing from the blocks too.
        """


class RowFormat(Format):
    """A format in which rows to predict for come.

    `row_options` are those of `ReadOptions` that it takes. `streams_lines`: a row stands on each line, so that rows are
    predicted for as they come. `has_names`: columns are found by name, not by their order.
    """

    row_options: frozenset[OptionName] = frozenset()
    streams_lines = False
    has_names = True

    @property
    @abstractmethod
    def rows_summary(self) -> str:
        """Return how rows stand in it, for the table of formats in the docs."""

    @abstractmethod
    def read_rows(self, body: bytes, options: ReadOptions, expected: Expected, *, strict: bool) -> ReadRows:
        """The rows of a body; `strict` raises MalformedBodyError for a row that can't be read, which is else a misfit.

        Raises MalformedBodyError, InvalidDataError for columns that are not those expected, InvalidRequestError for an
        option that can't be, and TooLargeError.
        """


class WritableFormat(Format):
    """A format in which predictions are written.

    `is_nested`: a prediction may have members within members (explanations). `has_texts`: it holds labels and errors.
    """

    is_nested = False
    has_texts = True

    @property
    @abstractmethod
    def predictions_summary(self) -> str:
        """Return how predictions stand in it, for the table of formats in the docs."""

    @abstractmethod
    def write(self, predictions: Predictions) -> Iterator[bytes]:
        """Predictions, one row of the file for each, in pieces; raises InvalidRequestError before the first piece."""


class PartsFormat(WritableFormat):
    """A format of files that are their parts one after the other, so that rows are written as they are known."""

    @abstractmethod
    def part(self, table: FlatTable, *, is_first: bool) -> bytes:
        """The next rows of a file, behind its beginning where they are the first; it depends on these alone."""

    @abstractmethod
    def end(self) -> bytes:
        """The bytes behind the last part."""


class AssembledFormat(WritableFormat):
    """A format of files whose end describes the whole, so that they are written once all rows are known."""

    @abstractmethod
    def assemble(self, parts: Iterator[bytes]) -> Iterator[bytes]:
        """A file, in pieces, from the bytes of an Arrow stream that is divided anywhere."""
