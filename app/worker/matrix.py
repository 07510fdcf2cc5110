"""A dataset's columns of numbers to one file that a fit maps, where there is no target to learn."""

from pathlib import Path

import numpy as np

from app.domain.encoding import InputEncoding, encode_inputs
from app.domain.errors import TrainingFailedError
from app.worker.materialise import Read


def write_matrix(encoding: InputEncoding, read: Read, path: Path) -> int:
    """Write float64, little-endian, row by row: the encoded numbers, and the number of the dataset's row. How many.

    Raises TrainingFailedError for rows that can't be encoded.
    """
    rows = 0
    with path.open("wb") as file:
        for first_row, block in read():
            inputs, faults = encode_inputs(encoding, block)
            if faults:
                raise TrainingFailedError(faults[0].detail, kind="too-large", faults=faults)
            numbers = first_row + np.arange(len(inputs), dtype=np.float64)
            file.write(np.ascontiguousarray(np.column_stack([inputs, numbers]), "<f8").data)
            rows += len(inputs)
    return rows
