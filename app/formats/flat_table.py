"""Predictions as a flat table, before a format writes them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from relevance_bayes.core.types import Mask
from relevance_bayes.records.errors import Fault, sentence
from relevance_bayes.tables.columns import Column, FlatColumn


@dataclass(frozen=True, eq=False)
class KeptColumn:
    """A column of a dataset (N,) that precedes the predictions; `integral`: all its numbers are integers."""

    column: Column
    integral: bool


@dataclass(frozen=True, eq=False)
class FlatTable:
    """Predictions for N rows by column, missing in `faulty` rows (N,).

    `errors` by row are a last column `error`, None where there is none. `about` describes the version, in formats with
    metadata. `kept` precede the predictions. `escapes_formulas`: in CSV no text is a formula for a spreadsheet.
    """

    columns: Mapping[str, FlatColumn]
    faulty: Mask | None
    errors: Mapping[int, str] | None
    about: Mapping[str, str]
    kept: Mapping[str, KeptColumn] = field(default_factory=dict)
    escapes_formulas: bool = False


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
