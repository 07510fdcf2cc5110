"""Predictions for JSON in JSON, the most frequent case, and predictions rendered to JSON."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import lru_cache

import msgspec
from pydantic import TypeAdapter

from app.errors import TooLargeError
from app.formats.json_body import check_containers
from app.formats.json_table import count_rows, has_column, read_json, typed_block
from app.formats.line_stream import read_number_rows
from app.http.bodies import MAX_ELEMENTS, MAX_MEMBERS, checked
from app.http.problems import KINDS, fault_members
from app.prediction import USUAL, PredictRequest, ServedVersion, requested_outputs
from app.prediction.predict import check_row_ids, row_ids_of, with_row_ids
from app.prediction.runner import YieldGil, is_quick, is_read_quickly, no_yield
from relevance_bayes.records.errors import Fault, InvalidDataError
from relevance_bayes.records.functions import ListedFunction
from relevance_bayes.records.predictions import PredictOptionsIn
from relevance_bayes.tables.columns import block_rows
from relevance_bayes.tasks.prediction import PredictOptions, RowPredictions

Row = Mapping[str, object]

_ENCODER = msgspec.json.Encoder()

ROWS_AT_ONCE = 1_000
"""The number of rows that are encoded at once, while the GIL is held. Documents with a covariance have no more."""


def predictions_json(
    served: ServedVersion,
    prediction: RowPredictions,
    *,
    outputs: Sequence[str],
) -> Iterator[bytes]:
    """Yield the complete prediction, a long one in chunks; a row with a fault has its problem."""
    version, faults = served.version, prediction.faults
    problems = _row_problems(faults, 0) if faults else {}
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
    prediction: RowPredictions, outputs: Sequence[str], functions: Sequence[ListedFunction], problems: Mapping[int, Row]
) -> list[object]:
    columns = prediction.members(outputs, functions, _object_of)
    # Structs are created without a step of Python for each row.
    rows: list[object] = [*map(_row_of(tuple(columns)), *columns.values())]
    for row, problem in problems.items():
        rows[row] = {"error": problem}
    return rows


def prediction_lines(
    served: ServedVersion,
    prediction: RowPredictions,
    *,
    outputs: Sequence[str],
    first_row: int = 0,
) -> Iterator[bytes]:
    """Yield the predictions, one a line, many lines at a time; problems count rows from `first_row`."""
    problems = _row_problems(prediction.faults, first_row)
    for some, theirs in _pieces(prediction, problems):
        yield _ENCODER.encode_lines(_rows(some, outputs, served.functions, theirs))


def _pieces(
    prediction: RowPredictions, problems: Mapping[int, Row]
) -> Iterator[tuple[RowPredictions, Mapping[int, Row]]]:
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
        row: kind.members(found[0].detail, [{**fault_members(fault), "row": first_row + row} for fault in found])
        for row, found in by_row.items()
    }


MAX_QUICK_ROWS = 1_000
"""The maximum number of rows of numbers only that are predicted on the event loop: one chunk of a response."""

_OPTIONS: TypeAdapter[PredictOptionsIn] = TypeAdapter(PredictOptionsIn)
_OPTION_NAMES = frozenset(one.name for one in fields(PredictOptionsIn))
_DEFAULTS = PredictOptionsIn()


@dataclass(frozen=True, eq=False)
class JsonCodec:
    """The codec of a JSON body with a table of at most `max_rows`, and a response in JSON."""

    body: bytes
    max_rows: int

    def read_inline(self, served: ServedVersion) -> PredictRequest | None:
        """Read a small body, or a longer one of few rows of numbers only."""
        body = self.body
        if is_quick(served, body):
            return self._of_numbers(served, no_yield) or self._of_any(served)
        few = is_read_quickly(served, len(body)) and body.count(b"{") <= 1 + MAX_QUICK_ROWS
        return self._of_numbers(served, no_yield) if few else None

    def is_small(self, served: ServedVersion) -> bool:
        """Return False: small bodies need no thread."""
        return False

    def read(self, served: ServedVersion, yield_gil: YieldGil) -> PredictRequest:
        """Read the body; raises TooLargeError for more than `max_rows`, and what is wrong with the body."""
        check_containers(self.body, max_containers(self.max_rows))
        return self._of_numbers(served, yield_gil) or self._of_any(served, is_checked=True)

    def render(self, served: ServedVersion, request: PredictRequest, prediction: RowPredictions) -> Iterator[bytes]:
        """Yield the API's JSON document."""
        return predictions_json(served, prediction, outputs=request.outputs)

    def _of_numbers(self, served: ServedVersion, yield_gil: YieldGil) -> PredictRequest | None:
        """Read rows of numbers with the most frequent options; return None for any others, or an invalid body.

        Without this fast path a one-row request costs 2.1 times the CPU in process.
        """
        found = read_number_rows(self.body, served.numbers_read, yield_gil=yield_gil)
        if found is None:
            return None
        options = _usual_options(found.interval, found.outputs, served.outputs)
        if options is None:
            return None
        rows = len(found.block.matrix)
        check_rows(rows, self.max_rows)
        outputs, required = options
        if found.row_ids is not None:
            check_row_ids(found.row_ids, rows)
        return PredictRequest(found.block, required, outputs, refuses=True, row_ids=found.row_ids or ())

    def _of_any(self, served: ServedVersion, *, is_checked: bool = False) -> PredictRequest:
        if not is_checked:
            check_containers(self.body, max_containers(self.max_rows))
        raw = read_json(self.body, max_columns=max(MAX_MEMBERS, 2 * len(served.columns)), others=_OPTION_NAMES)
        check_rows(count_rows(raw), self.max_rows)  # checked before each row is validated
        options = checked(_OPTIONS, raw.others, max_elements=MAX_ELEMENTS + self.max_rows) if raw.others else _DEFAULTS
        outputs = requested_outputs(served.version, options.outputs)
        columns, noise, id_column = served.columns, served.model.noise_column, options.row_id_column
        if noise is not None and has_column(raw, noise):
            columns = (*columns, (noise, "number"))
        if id_column is not None:
            columns = with_row_ids(columns, id_column)
        block, cell_faults = typed_block(raw, columns, not_read=served.not_read)
        check_rows(block_rows(block), self.max_rows)
        block, row_ids = row_ids_of(block, options.row_ids)
        refuses, escapes = options.on_error == "fail", options.csv_escape_formulas
        return PredictRequest(
            block, options_of(options), outputs, cell_faults, refuses, escapes_formulas=escapes, row_ids=row_ids
        )


@lru_cache(maxsize=1_000)
def _usual_options(
    interval: float | None, outputs: tuple[str, ...] | None, possible: tuple[str, ...]
) -> tuple[tuple[str, ...], PredictOptions] | None:
    """Return the outputs and the options; None where they are invalid."""
    if interval is not None and not 0.0 < interval < 1.0:
        return None
    options = USUAL if interval is None else PredictOptions(interval)
    if outputs is None:
        return possible, options
    return (tuple(dict.fromkeys(outputs)), options) if outputs and {*outputs} <= {*possible} else None


def options_of(options: PredictOptionsIn) -> PredictOptions:
    """Return the options of a request for the services."""
    return PredictOptions(
        options.interval,
        options.covariance,
        options.explain,
        options.deciding,
        options.components,
        options.unknown_categories,
        options.nulls,
    )


def max_containers(max_rows: int) -> int:
    """Return the maximum number of objects and arrays of a JSON body with so many rows, each of which may be one."""
    return 2 * max_rows + MAX_MEMBERS


def check_rows(rows: int, max_rows: int) -> None:
    """Raise TooLargeError for more rows than `max_rows`."""
    if rows > max_rows:
        raise TooLargeError(f"Expected at most {max_rows} rows, got {rows}; split the request.")
