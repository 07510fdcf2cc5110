"""Predictions as files: CSV, Arrow's stream, Parquet, npy and NDJSON; Arrow is imported where it is needed."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from io import BytesIO
from typing import Literal

import numpy as np

from app.api.answer_columns import FlatColumn, Labels, flat_columns
from app.api.answers import prediction_lines
from app.api.errors import sentence
from app.api.negotiation import RowFormat
from app.domain.errors import Fault, InvalidRequestError
from app.services.answering import Answer, ServedVersion, Wanted
from app.sparse_bayes.types import Array, Mask

FlatFormat = Literal["csv", "arrow", "parquet", "npy"]
FLAT: frozenset[RowFormat] = frozenset({"csv", "arrow", "parquet", "npy"})

NPY_ROWS_AT_ONCE = 8192
"""So many rows of all columns are in the processor's caches while they are put side by side."""


@dataclass(frozen=True)
class Written:
    """Which members predictions have; whether rows with faults say what is wrong, or there are none."""

    outputs: tuple[str, ...]
    tells_errors: bool


def check_writable(answer: RowFormat, wanted: Wanted, outputs: Sequence[str] | None) -> None:
    """Raise InvalidRequestError for what can be told in JSON alone; `outputs` where some were named."""
    said = {"covariance": wanted.covariance, "explain": wanted.explain is not None and answer in FLAT}
    faults = [
        Fault(f"An answer in {answer} has no `{name}`: ask for JSON.", pointer=f"/{name}")
        for name, is_said in said.items()
        if is_said
    ]
    faults += [
        Fault("An answer in npy holds numbers alone: `probabilities` tell the same.", pointer=f"/outputs/{place}")
        for place, output in enumerate(outputs or ())
        if answer == "npy" and output == "label"
    ]
    if faults:
        raise InvalidRequestError(faults[0].detail, faults)


def predictions_file(
    coded: FlatFormat, served: ServedVersion, answer: Answer, written: Written, faults: Sequence[Fault]
) -> bytes:
    """One row of the file for each; what is not told of it, and all of a row with faults, is missing."""
    columns = flat_columns(answer, written.outputs)
    faulty = _faulty(columns, faults)
    if coded == "npy":
        return _npy([column for column in columns.values() if not isinstance(column, Labels)], faulty)
    from app.api.arrow_answers import arrow_file

    errors = _errors(faults) if written.tells_errors else None
    version = served.version
    about = {"model": version.model, "version": str(version.number)}
    return arrow_file(coded, columns, faulty, errors, about)


def predictions_lines(
    served: ServedVersion, answer: Answer, written: Written, faults: Sequence[Fault], breathe: Callable[[], None]
) -> bytes:
    """On each line one prediction as JSON has it; a row with a fault has its problem in its place."""
    pieces: list[bytes] = []
    for piece in prediction_lines(served, answer, outputs=written.outputs, faults=faults):
        pieces.append(piece)
        breathe()
    return b"".join(pieces)


def _faulty(columns: dict[str, FlatColumn], faults: Sequence[Fault]) -> Mask | None:
    """The rows with faults (N,); None where there are none."""
    rows = [fault.row for fault in faults if fault.row is not None]
    if not rows:
        return None
    column = next(iter(columns.values()))
    faulty = np.zeros(len(column.places if isinstance(column, Labels) else column), np.bool_)
    faulty[rows] = True
    return faulty


def _errors(faults: Sequence[Fault]) -> dict[int, str]:
    """What is wrong with each row that has faults."""
    told: dict[int, str] = {}
    for fault in faults:
        if fault.row is not None:
            where = "" if fault.column is None else f"{fault.column}: "
            said = f"{where}{sentence(fault.detail)}"
            told[fault.row] = f"{told[fault.row]} {said}" if fault.row in told else said
    return told


def _npy(columns: Sequence[Array], faulty: Mask | None) -> bytes:
    """A matrix (N, c) in C order, NaN in the rows with faults."""
    if not columns:
        raise InvalidRequestError("There are no numbers among these outputs.", [Fault("No numbers.", "/outputs")])
    rows = len(columns[0])
    header = BytesIO()
    said = {"descr": "<f8", "fortran_order": False, "shape": (rows, len(columns))}
    np.lib.format.write_array_header_1_0(header, said)
    body = bytearray(header.tell() + rows * len(columns) * 8)
    body[: header.tell()] = header.getvalue()
    matrix = np.frombuffer(body, "<f8", offset=header.tell()).reshape(rows, len(columns))
    for first in range(0, rows, NPY_ROWS_AT_ONCE):
        some = slice(first, first + NPY_ROWS_AT_ONCE)
        for place, column in enumerate(columns):
            matrix[some, place] = column[some]
    if faulty is not None:
        matrix[faulty] = np.nan
    return bytes(body)
