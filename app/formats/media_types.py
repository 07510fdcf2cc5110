"""The formats, each with its media types and suffixes; what reads and writes them is imported when it is needed."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from io import BytesIO

import numpy as np

from app.formats.cells import Expected, ReadRows
from app.formats.format import (
    AssembledFormat,
    PartsFormat,
    Predictions,
    ReadOptions,
    RowFormat,
    TableFormat,
    TableLimits,
    WritableFormat,
)
from app.formats.images import read_npy
from app.formats.json_table import json_stream
from app.formats.line_stream import lines_of, read_lines
from app.formats.spool import SpoolFile
from app.formats.streams import FlatTable, TableStream
from relevance_bayes.core.types import Array, Mask
from relevance_bayes.records.errors import Fault, InvalidRequestError
from relevance_bayes.records.formats import ARROW, CSV, FEATHER, JSON, NDJSON, NPY, PARQUET, PNG, XLSX
from relevance_bayes.records.values import ColumnKind
from relevance_bayes.tables.columns import Labels


class Json(TableFormat, WritableFormat):
    """JSON documents."""

    file_format = JSON
    title = "JSON"
    is_read_whole = True
    is_light = True
    is_nested = True
    rows_summary = "By columns, by rows, or names with rows."
    predictions_summary = "With the model and the version."

    def read_table(
        self, file: SpoolFile, options: ReadOptions, *, declared: Mapping[str, ColumnKind], limits: TableLimits
    ) -> TableStream:
        """Read a document, which is decoded at once, as blocks."""
        return json_stream(file.read(), declared=options.known(declared), max_columns=limits.max_columns)

    def write(self, predictions: Predictions) -> Iterator[bytes]:
        """Write the document."""
        return predictions.document()


class Ndjson(TableFormat, RowFormat, WritableFormat):
    """An object on each line."""

    file_format = NDJSON
    title = "NDJSON"
    other_media_types = (
        "application/ndjson",
        "application/jsonl",
    )
    is_light = True
    is_nested = True
    streams_lines = True
    rows_summary = "An object on each line."
    predictions_summary = "An object on each line, as in JSON."

    def read_table(
        self, file: SpoolFile, options: ReadOptions, *, declared: Mapping[str, ColumnKind], limits: TableLimits
    ) -> TableStream:
        """Read lines as blocks; all have the members of the first."""
        from app.formats.line_stream import open_lines

        return open_lines(
            file, declared=options.known(declared), max_columns=limits.max_columns, max_bytes=limits.max_bytes
        )

    def read_rows(self, body: bytes, options: ReadOptions, expected: Expected, *, strict: bool) -> ReadRows:
        """Read a row from each line."""
        return read_lines(lines_of(body, expected.max_rows), expected, strict=strict)

    def write(self, predictions: Predictions) -> Iterator[bytes]:
        """Write a prediction on each line."""
        return predictions.lines()


TABS = "text/tab-separated-values"


class Csv(TableFormat, RowFormat, PartsFormat):
    """Lines of cells; options that are not given are detected."""

    file_format = CSV
    title = "CSV"
    other_media_types = (
        "application/csv",
        TABS,
    )
    row_options = frozenset(
        {"delimiter", "decimal", "thousands", "date_format", "missing_values", "encoding", "skip_rows"}
    )
    has_text_cells = True
    rows_summary = "A header, in any order; empty is missing. Tabs and semicolons are detected."
    predictions_summary = "A column for each number."

    def read_table(
        self, file: SpoolFile, options: ReadOptions, *, declared: Mapping[str, ColumnKind], limits: TableLimits
    ) -> TableStream:
        """Read lines as blocks."""
        from app.formats.csv_stream import open_csv

        return open_csv(file, _by_type(options), declared=declared, max_columns=limits.max_columns)

    def read_texts(
        self, file: SpoolFile, options: ReadOptions, *, max_columns: int, rows: int
    ) -> Iterator[Sequence[Mapping[str, str]]]:
        """Yield at most `rows` rows at a time as texts by column, to the letter; raises as `read_table` does."""
        from app.formats.csv_stream import open_texts, strings_of

        names, batches = open_texts(file, _by_type(options), max_columns=max_columns)
        for batch in batches:
            for first in range(0, batch.num_rows, rows):
                columns = [column.fill_null("").to_pylist() for column in strings_of(batch.slice(first, rows))]
                yield [dict(zip(names, map(str, cells), strict=True)) for cells in zip(*columns, strict=True)]

    def read_rows(self, body: bytes, options: ReadOptions, expected: Expected, *, strict: bool) -> ReadRows:
        """Read the rows after a header."""
        from app.formats.csv_stream import read_csv

        return read_csv(body, _by_type(options), expected)

    def write(self, predictions: Predictions) -> Iterator[bytes]:
        """Write texts, quoted where necessary; labels and names may be escaped so that they are not formulas."""
        from app.formats.arrow_writing import arrow_table, csv_part, parts_of, without_formulas

        flat = predictions.flat()
        table = without_formulas(arrow_table(flat)) if flat.escapes_formulas else arrow_table(flat)
        return parts_of(table, csv_part, self.end())

    def part(self, table: FlatTable, *, is_first: bool) -> bytes:
        """Return lines, after the header if they are the first."""
        from app.formats.arrow_writing import arrow_table, csv_part, without_formulas

        made = arrow_table(table)
        return csv_part(without_formulas(made) if table.escapes_formulas else made, is_first=is_first)

    def end(self) -> bytes:
        """Return no bytes."""
        return b""


def _by_type(options: ReadOptions) -> ReadOptions:
    by_tabs = options.media_type == TABS and options.delimiter is None
    return replace(options, delimiter="\t") if by_tabs else options


class Arrow(TableFormat, RowFormat, PartsFormat):
    """A stream of record batches, none of them compressed."""

    file_format = ARROW
    title = "Arrow's stream"
    rows_summary = "Columns by name, null is missing; buffers must not be compressed."
    predictions_summary = "The same columns as in CSV."

    def read_table(
        self, file: SpoolFile, options: ReadOptions, *, declared: Mapping[str, ColumnKind], limits: TableLimits
    ) -> TableStream:
        """Read the batches as blocks; short ones are joined."""
        from app.formats.arrow_files import MARK, open_feather
        from app.formats.arrow_reading import open_arrow

        # Both forms have the suffix .arrow.
        read = open_feather if file.reader().read(len(MARK)) == MARK else open_arrow
        return read(file, declared=options.known(declared), limits=limits)

    def read_rows(self, body: bytes, options: ReadOptions, expected: Expected, *, strict: bool) -> ReadRows:
        """Read the rows of all batches."""
        from app.formats.arrow_files import MARK, read_feather
        from app.formats.arrow_reading import read_arrow

        return read_feather(body, expected) if body.startswith(MARK) else read_arrow(body, expected)

    def write(self, predictions: Predictions) -> Iterator[bytes]:
        """Write batches of the flat columns."""
        from app.formats.arrow_writing import arrow_table, parts_of, stream_part

        return parts_of(arrow_table(predictions.flat()), stream_part, self.end())

    def part(self, table: FlatTable, *, is_first: bool) -> bytes:
        """Return a batch, after the schema if it is the first."""
        from app.formats.arrow_writing import arrow_table, stream_part

        return stream_part(arrow_table(table), is_first=is_first)

    def end(self) -> bytes:
        """Return the end-of-stream marker."""
        from app.formats.arrow_writing import END_OF_STREAM

        return END_OF_STREAM


class Feather(TableFormat, RowFormat, AssembledFormat):
    """Record batches, which may be compressed with LZ4 or zstd as pandas and polars write them."""

    file_format = FEATHER
    title = "Feather"
    rows_summary = "Columns by name, null is missing; buffers may be compressed."
    predictions_summary = "The same columns as in CSV."

    def read_table(
        self, file: SpoolFile, options: ReadOptions, *, declared: Mapping[str, ColumnKind], limits: TableLimits
    ) -> TableStream:
        """Read batches as blocks, each decompressed when it is read."""
        from app.formats.arrow_files import open_feather

        return open_feather(file, declared=options.known(declared), limits=limits)

    def read_rows(self, body: bytes, options: ReadOptions, expected: Expected, *, strict: bool) -> ReadRows:
        """Read the rows of all batches."""
        from app.formats.arrow_files import read_feather

        return read_feather(body, expected)

    def write(self, predictions: Predictions) -> Iterator[bytes]:
        """Write the file at once."""
        from app.formats.arrow_files import feather_file
        from app.formats.arrow_writing import arrow_table

        return iter([feather_file(arrow_table(predictions.flat()))])

    def assemble(self, parts: Iterator[bytes]) -> Iterator[bytes]:
        """Write the file from a stream of batches."""
        import pyarrow as pa

        from app.formats.arrow_writing import assembled

        return assembled(parts, pa.ipc.new_file)


class Parquet(TableFormat, RowFormat, AssembledFormat):
    """Row groups of columns, located by a footer."""

    file_format = PARQUET
    title = "Parquet"
    other_media_types = ("application/x-parquet",)
    rows_summary = "Columns by name, null is missing."
    predictions_summary = "The same columns as in CSV."

    def read_table(
        self, file: SpoolFile, options: ReadOptions, *, declared: Mapping[str, ColumnKind], limits: TableLimits
    ) -> TableStream:
        """Read row groups as blocks."""
        from app.formats.arrow_files import open_parquet

        return open_parquet(file, declared=options.known(declared), limits=limits)

    def read_rows(self, body: bytes, options: ReadOptions, expected: Expected, *, strict: bool) -> ReadRows:
        """Read the rows of the expected columns; other columns are not decompressed."""
        from app.formats.arrow_files import read_parquet

        return read_parquet(body, expected)

    def write(self, predictions: Predictions) -> Iterator[bytes]:
        """Write the file at once."""
        from app.formats.arrow_files import parquet_file
        from app.formats.arrow_writing import arrow_table

        return iter([parquet_file(arrow_table(predictions.flat()))])

    def assemble(self, parts: Iterator[bytes]) -> Iterator[bytes]:
        """Write a row group for each record batch."""
        from app.formats.arrow_files import RowGroups
        from app.formats.arrow_writing import assembled

        return assembled(parts, RowGroups)


ROWS_AT_ONCE = 8192
"""The number of rows that are interleaved at once, so that all their columns fit into the processor's caches."""


def _npy_file(columns: Sequence[Array], faulty: Mask | None) -> Iterator[bytes]:
    """Yield a matrix (N, c) in C order, NaN in `faulty` rows, in chunks.

    Raises InvalidRequestError for no columns.
    """
    if not columns:
        raise InvalidRequestError("Expected outputs that are numbers, got none.", [Fault("No numbers.", "/outputs")])
    return _pieces(columns, faulty)


def _pieces(columns: Sequence[Array], faulty: Mask | None) -> Iterator[bytes]:
    rows, before = len(columns[0]), BytesIO()
    given = {"descr": "<f8", "fortran_order": False, "shape": (rows, len(columns))}
    np.lib.format.write_array_header_1_0(before, given)
    header = before.getvalue()
    for first in range(0, max(rows, 1), ROWS_AT_ONCE):
        some = slice(first, first + ROWS_AT_ONCE)
        matrix = np.array([column[some] for column in columns], "<f8").T
        if faulty is not None:
            matrix[faulty[some]] = np.nan
        yield header + matrix.tobytes()
        header = b""


class Npy(TableFormat, RowFormat, WritableFormat):
    """A matrix of numbers; uploaded, an image or a signal."""

    file_format = NPY
    title = "npy"
    is_light = True
    has_names = False
    has_texts = False
    rows_summary = "Numbers (rows, inputs) in the order of the version's `inputs`, NaN is missing."
    predictions_summary = "A matrix of float64, its columns in the same order as in CSV, without labels."

    def read_table(
        self, file: SpoolFile, options: ReadOptions, *, declared: Mapping[str, ColumnKind], limits: TableLimits
    ) -> TableStream:
        """Read the pixels of an image (height, width)."""
        from app.formats.images import npy_image, open_image

        return open_image(file, npy_image, declared=declared, max_rows=limits.max_rows)

    def read_rows(self, body: bytes, options: ReadOptions, expected: Expected, *, strict: bool) -> ReadRows:
        """Read a row from each row of the matrix, whose columns are in the expected order."""
        return read_npy(body, expected)

    def write(self, predictions: Predictions) -> Iterator[bytes]:
        """Write a matrix (rows, numbers), NaN for missing values."""
        flat = predictions.flat()
        return _npy_file([column for column in flat.columns.values() if not isinstance(column, Labels)], flat.faulty)


class Png(TableFormat):
    """An image."""

    file_format = PNG
    title = "PNG"

    def read_table(
        self, file: SpoolFile, options: ReadOptions, *, declared: Mapping[str, ColumnKind], limits: TableLimits
    ) -> TableStream:
        """Read the pixels of an image, from 0, black, to 1, white."""
        from app.formats.images import open_image, png_image

        return open_image(file, png_image, declared=declared, max_rows=limits.max_rows)


class Xlsx(TableFormat, RowFormat):
    """A sheet of a workbook, by default the first visible one; formulas are not computed, links not followed."""

    file_format = XLSX
    title = "xlsx"
    is_read_whole = True
    row_options = frozenset({"sheet", "missing_values", "skip_rows"})
    rows_summary = "The first visible sheet, or `sheet`: its first row names the columns; empty is missing."

    def read_table(
        self, file: SpoolFile, options: ReadOptions, *, declared: Mapping[str, ColumnKind], limits: TableLimits
    ) -> TableStream:
        """Read a sheet's rows as blocks."""
        from app.formats.xlsx_rows import open_xlsx

        return open_xlsx(file, options, declared=declared, max_columns=limits.max_columns)

    def read_rows(self, body: bytes, options: ReadOptions, expected: Expected, *, strict: bool) -> ReadRows:
        """Read a sheet's rows."""
        from io import BytesIO

        from app.formats.xlsx_rows import read_xlsx

        return read_xlsx(BytesIO(body), options, expected)
