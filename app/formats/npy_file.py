"""Numbers of predictions as numpy's own file."""

from collections.abc import Iterator, Sequence
from io import BytesIO

import numpy as np

from relevance_bayes.core.types import Array, Mask
from relevance_bayes.types.errors import Fault, InvalidRequestError

ROWS_AT_ONCE = 8192
"""So many rows of all columns are in the processor's caches while they are put side by side."""


def npy_file(columns: Sequence[Array], faulty: Mask | None) -> Iterator[bytes]:
    """A matrix (N, c) in C order, NaN in the rows that are `faulty`, in pieces.

    Raises InvalidRequestError for no columns.
    """
    if not columns:
        raise InvalidRequestError("There are no numbers among these outputs.", [Fault("No numbers.", "/outputs")])
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
