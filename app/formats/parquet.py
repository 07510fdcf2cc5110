"""Parquet."""

from collections.abc import Iterator, Mapping

from app.formats.expected import Expected, ReadRows
from app.formats.format import AssembledFormat, Predictions, RowFormat, TableFormat
from app.formats.options import ReadOptions, TableLimits
from app.formats.spool import SpoolFile
from app.formats.streams import TableStream
from relevance_bayes.types.formats import PARQUET
from relevance_bayes.types.values import ColumnKind


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
        from app.formats.arrow_tables import arrow_table
        from app.formats.parquet_file import parquet_file

        return iter([parquet_file(arrow_table(predictions.flat()))])

    def assemble(self, parts: Iterator[bytes]) -> Iterator[bytes]:
        """Write a row group for each record batch."""
        from app.formats.arrow_assembled import assembled
        from app.formats.parquet_file import RowGroups

        return assembled(parts, RowGroups)
