"""Predictions as files: CSV, Arrow's stream, Parquet and npy; Arrow is imported where it is needed."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from app.answers.faults import errors_by_row, faulty_rows
from app.answers.npy_file import npy_file
from app.domain.errors import Fault
from app.domain.models import Version
from app.services.answering import Answer, Labels, flat_columns, rows_of

FlatFormat = Literal["csv", "arrow", "parquet", "npy"]


@dataclass(frozen=True)
class Written:
    """Which members predictions have; whether rows with faults say what is wrong, or there are none.

    `escapes_formulas`: in CSV no text is a formula for a spreadsheet.
    """

    outputs: tuple[str, ...]
    tells_errors: bool
    escapes_formulas: bool = False


def predictions_file(
    coded: FlatFormat, version: Version, answer: Answer, written: Written, faults: Sequence[Fault]
) -> Iterator[bytes]:
    """One row of the file for each, in pieces; what is not told of it, and all of a row with faults, is missing.

    Raises InvalidRequestError before the first piece.
    """
    columns = flat_columns(answer, written.outputs)
    faulty = faulty_rows(rows_of(answer), faults)
    if coded == "npy":
        return npy_file([column for column in columns.values() if not isinstance(column, Labels)], faulty)
    from app.answers.tables import about, arrow_table, without_formulas

    table = arrow_table(columns, faulty, errors_by_row(faults) if written.tells_errors else None, about(version))
    if coded == "parquet":
        from app.answers.parquet_file import parquet_file

        return iter([parquet_file(table)])
    from app.answers.parts import parts_of

    return parts_of(coded, without_formulas(table) if coded == "csv" and written.escapes_formulas else table)
