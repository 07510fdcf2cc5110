"""Feather, which is Arrow's file format: a stream of record batches between two marks, and behind it their places."""

from collections.abc import Iterator, Mapping

from app.formats.expected import Expected, ReadRows
from app.formats.format import AssembledFormat, Predictions, RowFormat, TableFormat
from app.formats.options import ReadOptions, TableLimits
from app.formats.spool import SpoolFile
from app.formats.streams import TableStream
from relevance_bayes.types.formats import FEATHER
from relevance_bayes.types.values import ColumnKind


class Feather(TableFormat, RowFormat, AssembledFormat):
    """Record batches, which may be compressed with LZ4 or zstd as pandas and polars write them."""

    file_format = FEATHER
    title = "Feather"
    rows_summary = "Columns by name, null is missing; buffers may be compressed."
    predictions_summary = "The same columns as in CSV."

    def read_table(
        self, file: SpoolFile, options: ReadOptions, *, declared: Mapping[str, ColumnKind], limits: TableLimits
    ) -> TableStream:
        """Batches, each unpacked as it is drawn."""
        from app.formats.feather_file import open_feather

        return open_feather(file, declared=declared, max_columns=limits.max_columns)

    def read_rows(self, body: bytes, options: ReadOptions, expected: Expected, *, strict: bool) -> ReadRows:
        """Rows of all batches."""
        from app.formats.feather_file import read_feather

        return read_feather(body, expected)

    def write(self, predictions: Predictions) -> Iterator[bytes]:
        """The file whole."""
        from app.formats.arrow_tables import arrow_table
        from app.formats.feather_file import feather_file

        return iter([feather_file(arrow_table(predictions.flat()))])

    def assemble(self, parts: Iterator[bytes]) -> Iterator[bytes]:
        """The batches that came."""
        import pyarrow as pa

        from app.formats.arrow_assembled import assembled

        return assembled(parts, pa.ipc.new_file)
