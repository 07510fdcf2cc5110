"""Rows without a prediction, as columns."""

from collections.abc import Sequence

import numpy as np

from relevance_bayes.core.types import Mask
from relevance_bayes.types.errors import Fault, sentence


def faulty_rows(rows: int, faults: Sequence[Fault]) -> Mask | None:
    """Return a mask (N,) of the rows with faults; None where there are none."""
    places = [fault.row for fault in faults if fault.row is not None]
    if not places:
        return None
    faulty = np.zeros(rows, np.bool_)
    faulty[places] = True
    return faulty


def errors_by_row(faults: Sequence[Fault]) -> dict[int, str]:
    """Return the message for each row with faults."""
    reported: dict[int, str] = {}
    for fault in faults:
        if fault.row is not None:
            where = "" if fault.column is None else f"{fault.column}: "
            given = f"{where}{sentence(fault.detail)}"
            reported[fault.row] = f"{reported[fault.row]} {given}" if fault.row in reported else given
    return reported
