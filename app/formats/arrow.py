"""Arrow's stream format, Feather and Parquet."""

from collections.abc import Iterator, Mapping

from app.formats.expected import Expected, ReadRows
from app.formats.flat_table import FlatTable
from app.formats.format import AssembledFormat, PartsFormat, Predictions, RowFormat, TableFormat
from app.formats.options import ReadOptions, TableLimits
from app.formats.spool import SpoolFile
from app.formats.streams import TableStream
from relevance_bayes.records.formats import ARROW, FEATHER, PARQUET
from relevance_bayes.records.values import ColumnKind


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
        from app.formats.arrow_reading import open_arrow
        from app.formats.feather_file import MARK, open_feather

        # Both forms have the suffix .arrow.
        read = open_feather if file.reader().read(len(MARK)) == MARK else open_arrow
        return read(file, declared=options.known(declared), limits=limits)

    def read_rows(self, body: bytes, options: ReadOptions, expected: Expected, *, strict: bool) -> ReadRows:
        """Read the rows of all batches."""
        from app.formats.arrow_reading import read_arrow
        from app.formats.feather_file import MARK, read_feather

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
        from app.formats.feather_file import open_feather

        return open_feather(file, declared=options.known(declared), limits=limits)

    def read_rows(self, body: bytes, options: ReadOptions, expected: Expected, *, strict: bool) -> ReadRows:
        """Read the rows of all batches."""
        from app.formats.feather_file import read_feather

        return read_feather(body, expected)

    def write(self, predictions: Predictions) -> Iterator[bytes]:
        """Write the file at once."""
        from app.formats.arrow_writing import arrow_table
        from app.formats.feather_file import feather_file

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
        from app.formats.parquet_file import open_parquet

        return open_parquet(file, declared=options.known(declared), limits=limits)

    def read_rows(self, body: bytes, options: ReadOptions, expected: Expected, *, strict: bool) -> ReadRows:
        """Read the rows of the expected columns; other columns are not decompressed."""
        from app.formats.parquet_file import read_parquet

        return read_parquet(body, expected)

    def write(self, predictions: Predictions) -> Iterator[bytes]:
        """Write the file at once."""
        from app.formats.arrow_writing import arrow_table
        from app.formats.parquet_file import parquet_file

        return iter([parquet_file(arrow_table(predictions.flat()))])

    def assemble(self, parts: Iterator[bytes]) -> Iterator[bytes]:
        """Write a row group for each record batch."""
        from app.formats.arrow_writing import assembled
        from app.formats.parquet_file import RowGroups

        return assembled(parts, RowGroups)
