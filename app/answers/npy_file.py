"""Numbers of predictions as numpy's own file."""

from collections.abc import Sequence
from io import BytesIO

import numpy as np

from app.domain.errors import Fault, InvalidRequestError
from app.sparse_bayes.types import Array, Mask

ROWS_AT_ONCE = 8192
"""So many rows of all columns are in the processor's caches while they are put side by side."""


def npy_file(columns: Sequence[Array], faulty: Mask | None) -> bytes:
    """A matrix (N, c) in C order, NaN in the rows that are `faulty`; raises InvalidRequestError for no columns."""
    if not columns:
        raise InvalidRequestError("There are no numbers among these outputs.", [Fault("No numbers.", "/outputs")])
    rows = len(columns[0])
    header = BytesIO()
    said = {"descr": "<f8", "fortran_order": False, "shape": (rows, len(columns))}
    np.lib.format.write_array_header_1_0(header, said)
    body = bytearray(header.tell() + rows * len(columns) * 8)
    body[: header.tell()] = header.getvalue()
    matrix = np.frombuffer(body, "<f8", offset=header.tell()).reshape(rows, len(columns))
    for first in range(0, rows, ROWS_AT_ONCE):
        some = slice(first, first + ROWS_AT_ONCE)
        for place, column in enumerate(columns):
            matrix[some, place] = column[some]
    if faulty is not None:
        matrix[faulty] = np.nan
    return bytes(body)
