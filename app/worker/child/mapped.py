"""Files of numbers as arrays."""

from pathlib import Path

import numpy as np

from app.sparse_bayes.types import Array


def mapped(path: Path, rows: int, columns: int) -> Array:
    """Pages of the file, not copies of it: what was written and not read again costs no memory."""
    return np.asarray(np.memmap(path, "<f8", "r", shape=(rows, columns)))
