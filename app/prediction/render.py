"""Predictions rendered from arrays to JSON."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache

import msgspec

from app.http.problems import KINDS, fault_members
from app.prediction import ServedVersion
from relevance_bayes.records.errors import Fault, InvalidDataError
from relevance_bayes.records.functions import ListedFunction
from relevance_bayes.tasks.prediction import Prediction

Row = Mapping[str, object]

_ENCODER = msgspec.json.Encoder()

ROWS_AT_ONCE = 1_000
"""The number of rows that are encoded at once, while the GIL is held. Documents with a covariance have no more."""


def predictions_json(
    served: ServedVersion,
    prediction: Prediction,
    *,
    outputs: Sequence[str],
) -> Iterator[bytes]:
    """Yield the complete prediction, a long one in chunks; a row with a fault has its problem."""
    version, problems = served.version, _row_problems(prediction.faults, 0)
    whole: dict[str, object] = {"model": version.model, "version": version.number, "predictions": []}
    if prediction.rows <= ROWS_AT_ONCE:
        whole["predictions"] = _rows(prediction, outputs, served.functions, problems)
        whole |= prediction.joint_members()
        yield _ENCODER.encode(whole)
        return
    before = _ENCODER.encode(whole).removesuffix(b"]}")
    for some, theirs in _pieces(prediction, problems):
        yield before + _ENCODER.encode(_rows(some, outputs, served.functions, theirs))[1:-1]
        before = b","
    joint = prediction.joint_members()
    yield b"]," + _ENCODER.encode(joint)[1:] if joint else b"]}"


def _rows(
    prediction: Prediction, outputs: Sequence[str], functions: Sequence[ListedFunction], problems: Mapping[int, Row]
) -> list[object]:
    columns = prediction.members(outputs, functions, _object_of)
    # Structs are created without a step of Python for each row.
    rows: list[object] = [*map(_row_of(tuple(columns)), *columns.values())]
    for row, problem in problems.items():
        rows[row] = {"error": problem}
    return rows


def prediction_lines(
    served: ServedVersion,
    prediction: Prediction,
    *,
    outputs: Sequence[str],
    first_row: int = 0,
) -> Iterator[bytes]:
    """Yield the predictions, one a line, many lines at a time; problems count rows from `first_row`."""
    problems = _row_problems(prediction.faults, first_row)
    for some, theirs in _pieces(prediction, problems):
        yield _ENCODER.encode_lines(_rows(some, outputs, served.functions, theirs))


def _pieces(prediction: Prediction, problems: Mapping[int, Row]) -> Iterator[tuple[Prediction, Mapping[int, Row]]]:
    """Yield chunks of a long prediction, each with the problems of its own rows."""
    for first in range(0, prediction.rows, ROWS_AT_ONCE):
        theirs = {row - first: problem for row, problem in problems.items() if 0 <= row - first < ROWS_AT_ONCE}
        yield prediction.some(slice(first, first + ROWS_AT_ONCE)), theirs


@lru_cache(maxsize=1_000)
def _row_of(members: tuple[str, ...]) -> type[msgspec.Struct]:
    return msgspec.defstruct("Prediction", members)


@lru_cache(maxsize=1_000)
def _object_of(members: tuple[str, ...]) -> type[msgspec.Struct]:
    return msgspec.defstruct("Member", members, gc=False)


def _row_problems(faults: Iterable[Fault], first_row: int) -> dict[int, Row]:
    """Return a problem for each row with faults; rows are counted from `first_row`."""
    kind = KINDS[InvalidDataError]
    by_row: dict[int, list[Fault]] = {}
    for fault in faults:
        if fault.row is not None:
            by_row.setdefault(fault.row, []).append(fault)
    return {
        row: {
            "type": kind.type,
            "title": kind.title,
            "status": kind.status,
            "detail": found[0].detail,
            "errors": [{**fault_members(fault), "row": first_row + row} for fault in found],
        }
        for row, found in by_row.items()
    }
