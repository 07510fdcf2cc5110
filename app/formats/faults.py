"""Rows that could not be predicted for, as columns have them."""

from collections.abc import Sequence

import numpy as np

from relevance_bayes.core.types import Mask
from relevance_bayes.types.errors import Fault, sentence


def faulty_rows(rows: int, faults: Sequence[Fault]) -> Mask | None:
    """Those of so many rows that have faults, (N,); None where none has."""
    places = [fault.row for fault in faults if fault.row is not None]
    if not places:
        return None
    faulty = np.zeros(rows, np.bool_)
    faulty[places] = True
    return faulty


def errors_by_row(faults: Sequence[Fault]) -> dict[int, str]:
    """Return what is wrong with each row that has faults."""
    reported: dict[int, str] = {}
    for fault in faults:
        if fault.row is not None:
            where = "" if fault.column is None else f"{fault.column}: "
            given = f"{where}{sentence(fault.detail)}"
            reported[fault.row] = f"{reported[fault.row]} {given}" if fault.row in reported else given
    return reported
