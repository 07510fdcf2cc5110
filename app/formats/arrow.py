"""Arrow's stream format (IPC) of record batches."""

from collections.abc import Iterator, Mapping

from app.formats.expected import Expected, ReadRows
from app.formats.flat_table import FlatTable
from app.formats.format import PartsFormat, Predictions, RowFormat, TableFormat
from app.formats.options import ReadOptions, TableLimits
from app.formats.spool import SpoolFile
from app.formats.streams import TableStream
from relevance_bayes.types.formats import ARROW
from relevance_bayes.types.values import ColumnKind


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
        from app.formats.arrow_stream import open_arrow
        from app.formats.feather_file import MARK, open_feather

        # Both forms have the suffix .arrow.
        read = open_feather if file.reader().read(len(MARK)) == MARK else open_arrow
        return read(file, declared=options.known(declared), limits=limits)

    def read_rows(self, body: bytes, options: ReadOptions, expected: Expected, *, strict: bool) -> ReadRows:
        """Read the rows of all batches."""
        from app.formats.arrow_rows import read_arrow
        from app.formats.feather_file import MARK, read_feather

        return read_feather(body, expected) if body.startswith(MARK) else read_arrow(body, expected)

    def write(self, predictions: Predictions) -> Iterator[bytes]:
        """Write batches of the flat columns."""
        from app.formats.arrow_parts import parts_of, stream_part
        from app.formats.arrow_tables import arrow_table

        return parts_of(arrow_table(predictions.flat()), stream_part, self.end())

    def part(self, table: FlatTable, *, is_first: bool) -> bytes:
        """Return a batch, after the schema if it is the first."""
        from app.formats.arrow_parts import stream_part
        from app.formats.arrow_tables import arrow_table

        return stream_part(arrow_table(table), is_first=is_first)

    def end(self) -> bytes:
        """Return the end-of-stream marker."""
        from app.formats.arrow_parts import END_OF_STREAM

        return END_OF_STREAM
