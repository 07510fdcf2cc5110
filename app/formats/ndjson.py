"""NDJSON, also called JSON Lines."""

from collections.abc import Iterator, Mapping

from app.formats.expected import Expected, ReadRows
from app.formats.format import Predictions, RowFormat, TableFormat, WritableFormat
from app.formats.line_stream import lines_of, read_lines
from app.formats.options import ReadOptions, TableLimits
from app.formats.spool import SpoolFile
from app.formats.streams import TableStream
from relevance_bayes.records.formats import NDJSON
from relevance_bayes.records.values import ColumnKind


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
