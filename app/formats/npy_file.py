"""Numbers of predictions as an npy file."""

from collections.abc import Iterator, Sequence
from io import BytesIO

import numpy as np

from relevance_bayes.core.types import Array, Mask
from relevance_bayes.types.errors import Fault, InvalidRequestError

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
