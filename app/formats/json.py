"""JSON documents of the API: options with rows, the version with predictions."""

from collections.abc import Iterator, Mapping

from app.formats.format import Predictions, TableFormat, WritableFormat
from app.formats.json_table import json_stream
from app.formats.options import ReadOptions, TableLimits
from app.formats.spool import SpoolFile
from app.formats.streams import TableStream
from relevance_bayes.records.formats import JSON
from relevance_bayes.records.values import ColumnKind


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
