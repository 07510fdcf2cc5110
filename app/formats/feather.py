"""Feather, Arrow's file format (IPC): a stream of record batches, followed by a footer with their positions."""

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
        """Read batches as blocks, each decompressed when it is read."""
        from app.formats.feather_file import open_feather

        return open_feather(file, declared=options.known(declared), limits=limits)

    def read_rows(self, body: bytes, options: ReadOptions, expected: Expected, *, strict: bool) -> ReadRows:
        """Read the rows of all batches."""
        from app.formats.feather_file import read_feather

        return read_feather(body, expected)

    def write(self, predictions: Predictions) -> Iterator[bytes]:
        """Write the file at once."""
        from app.formats.arrow_tables import arrow_table
        from app.formats.feather_file import feather_file

        return iter([feather_file(arrow_table(predictions.flat()))])

    def assemble(self, parts: Iterator[bytes]) -> Iterator[bytes]:
        """Write the file from a stream of batches."""
        import pyarrow as pa

        from app.formats.arrow_assembled import assembled

        return assembled(parts, pa.ipc.new_file)
