"""npy, numpy's file format of one array."""

from collections.abc import Iterator, Mapping

from app.formats.expected import Expected, ReadRows
from app.formats.format import Predictions, RowFormat, TableFormat, WritableFormat
from app.formats.npy_file import npy_file
from app.formats.npy_rows import read_npy
from app.formats.options import ReadOptions, TableLimits
from app.formats.spool import SpoolFile
from app.formats.streams import TableStream
from relevance_bayes.tables.columns import Labels
from relevance_bayes.types.formats import NPY
from relevance_bayes.types.values import ColumnKind


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
        return npy_file([column for column in flat.columns.values() if not isinstance(column, Labels)], flat.faulty)
