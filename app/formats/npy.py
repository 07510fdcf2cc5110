"""npy, numpy's file format of one array."""

from collections.abc import Iterator, Mapping, Sequence
from io import BytesIO

import numpy as np

from app.formats.expected import Expected, ReadRows
from app.formats.format import Predictions, RowFormat, TableFormat, WritableFormat
from app.formats.npy_rows import read_npy
from app.formats.options import ReadOptions, TableLimits
from app.formats.spool import SpoolFile
from app.formats.streams import TableStream
from relevance_bayes.core.types import Array, Mask
from relevance_bayes.records.errors import Fault, InvalidRequestError
from relevance_bayes.records.formats import NPY
from relevance_bayes.records.values import ColumnKind
from relevance_bayes.tables.columns import Labels

ROWS_AT_ONCE = 8192
"""The number of rows that are interleaved at once, so that all their columns fit into the processor's caches."""


def npy_file(columns: Sequence[Array], faulty: Mask | None) -> Iterator[bytes]:
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
        return npy_file([column for column in flat.columns.values() if not isinstance(column, Labels)], flat.faulty)
