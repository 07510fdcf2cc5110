"""Loaded versions, the ids of rows, and the function that every prediction goes through, whatever the protocol."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TypeAlias

from app.formats.cells import MAX_FAULTS, Columns, bad_text, refuse
from app.prediction.drift import DriftMonitor
from app.prediction.usage_counts import Counts
from app.registry.records import Version
from app.tasks import task_of
from relevance_bayes.records.errors import Fault, InvalidRequestError
from relevance_bayes.records.functions import ListedFunction
from relevance_bayes.records.outcomes import MAX_ROW_ID_LENGTH
from relevance_bayes.records.values import ColumnKind
from relevance_bayes.tables.columns import Block, CategoryArray, block_rows
from relevance_bayes.tasks.prediction import LabelledBlock, PredictiveModel, PredictOptions, RowPredictions

RowIds: TypeAlias = Sequence[str | None]
"""The id of each row, None for a row without one; empty: the request has no ids."""


def check_row_ids(ids: RowIds, rows: int) -> None:
    """Raise InvalidRequestError unless there are as many ids as rows, each a text of at most MAX_ROW_ID_LENGTH."""
    if len(ids) != rows:
        detail = f"Expected a row id for each of {rows:,} rows, got {len(ids):,}."
        raise InvalidRequestError(detail, [Fault(detail, "/row_ids")])
    if wrong := [place for place, one in enumerate(ids) if one is not None and not _is_valid(one)][:MAX_FAULTS]:
        detail = f"Expected a text of 1 to {MAX_ROW_ID_LENGTH} characters."
        faults = [Fault(detail, f"/row_ids/{place}") for place in wrong]
        raise InvalidRequestError(f"At /row_ids/{wrong[0]}: {detail}", faults)


def _is_valid(one: str) -> bool:
    return 0 < len(one) <= MAX_ROW_ID_LENGTH and bad_text(one) is None


def with_row_ids(columns: Columns, name: str) -> Columns:
    """Return columns to read, and last that of the row ids; raises InvalidRequestError where the model reads that."""
    if any(name == other for other, _ in columns):
        detail = f"Expected a column that the model does not read, got {name!r}."
        raise InvalidRequestError(detail, [Fault(detail, "/row_ids")])
    return (*columns, (name, "category"))


def row_ids_of(block: Block, given: Sequence[str] | str | None) -> tuple[Block, RowIds]:
    """Return a block without the column of the row ids, and the ids: those `given`, or those in the column so named."""
    if given is None:
        return block, ()
    if not isinstance(given, str):
        check_row_ids(given, block_rows(block))
        return block, given
    column = block[given]
    assert isinstance(column, CategoryArray)
    labels = (*column.labels, None)
    ids = [labels[code] for code in column.codes.tolist()]
    check_row_ids(ids, len(ids))
    return {name: values for name, values in block.items() if name != given}, ids


@dataclass(frozen=True, eq=False)
class ServedVersion:
    """A loaded version; `columns` are the raw inputs it reads, name and kind.

    `functions` (R,) are those that explanations name, as the version's list of relevance vectors has them; empty where
    there are no explanations. `not_read` are the other columns of the table it was trained on: rows of that table may
    be sent as they are. `counts` are of its requests; `monitor` counts its rows, except for jobs.
    """

    version: Version
    model: PredictiveModel
    functions: tuple[ListedFunction, ...]
    columns: tuple[tuple[str, ColumnKind], ...]
    not_read: frozenset[str]
    counts: Counts
    monitor: DriftMonitor | None = None

    @cached_property
    def number_names(self) -> tuple[str, ...]:
        """The columns where all of them are numbers, else none."""
        numbers = tuple(name for name, kind in self.columns if kind == "number")
        return numbers if len(numbers) == len(self.columns) else ()

    @cached_property
    def numbers_read(self) -> tuple[str, ...]:
        """The same columns, in the order in which the model encodes them without a copy."""
        encoded = self.model.encoded_numbers
        return encoded if {*encoded} == {*self.number_names} else self.number_names

    @cached_property
    def outputs(self) -> tuple[str, ...]:
        """The outputs that predictions can have."""
        return outputs_of(self.version)


def version_metadata(version: Version) -> dict[str, str]:
    """Return the metadata of the version for formats of files that have metadata."""
    return {"model": version.model, "version": str(version.number)}


def outputs_of(version: Version) -> tuple[str, ...]:
    """Return the outputs that this version's predictions can have."""
    return task_of(version.report).outputs(version.report)


def requested_outputs(version: Version, requested: Sequence[str] | None) -> tuple[str, ...]:
    """The members that predictions are to have, all where none were `requested`, in the order of the request.

    Raises InvalidRequestError for those that they can't have.
    """
    possible = outputs_of(version)
    if requested is None:
        return possible
    faults = [
        Fault(f"A model of {version.report.task} answers {', '.join(possible)}.", pointer=f"/outputs/{place}")
        for place, output in enumerate(requested)
        if output not in possible
    ]
    if faults:
        raise InvalidRequestError("This model's predictions don't have such an output.", faults)
    return tuple(dict.fromkeys(requested))


USUAL = PredictOptions()


@dataclass(frozen=True, eq=False)
class PredictRequest:
    """A block of N rows to predict for, and how.

    `outputs` are the members that are rendered, empty: all. `cell_faults` are cells that do not fit in their columns
    and are gaps in the block. With `refuses` a row with a fault refuses the request, else it is NaN throughout. `lines`
    (N,) are the line numbers of rows in formats of one row a line; `escapes_formulas` is of predictions in CSV alone.
    `row_ids` (N,) are the caller's, by which the rows are recorded; empty: none of them is.
    """

    block: Block
    options: PredictOptions = USUAL
    outputs: tuple[str, ...] = ()
    cell_faults: tuple[Fault, ...] = ()
    refuses: bool = False
    lines: tuple[int, ...] = ()
    escapes_formulas: bool = False
    row_ids: RowIds = ()


def predict(served: ServedVersion, request: PredictRequest) -> RowPredictions:
    """Predict the rows of a request, with all that is wrong with them in `faults`.

    Raises InvalidDataError where such rows are refused, InvalidRequestError for options that the task does not have,
    TooLargeError for more than `max_averaged` rows that are averages.
    """
    options, cell_faults = request.options, request.cell_faults
    if cell_faults:
        if request.refuses:
            refuse(cell_faults)
        options = replace(options, unread=frozenset(fault.row for fault in cell_faults if fault.row is not None))
    prediction = served.model.predict(request.block, options)
    faults = prediction.faults
    if not (faults or cell_faults):
        return prediction
    if request.lines:
        faults = _with_lines(faults, request.lines)
    if request.refuses:
        refuse(faults)
    # A cell that did not fit is a gap in the block: the fault of the gap adds nothing.
    known = {fault.row for fault in cell_faults}
    return prediction.with_faults((*cell_faults, *(fault for fault in faults if fault.row not in known)))


def _with_lines(faults: Sequence[Fault], lines: Sequence[int]) -> tuple[Fault, ...]:
    return tuple(fault if fault.row is None else replace(fault, line=lines[fault.row]) for fault in faults)


def evaluate_block(served: ServedVersion, block: Block) -> LabelledBlock:
    """Return what a version predicts for a block that has the column of its target, beside that.

    Raises InvalidRequestError for a version without a target to compare with.
    """
    labelled = served.model.evaluate_block(block)
    if labelled is None:
        raise InvalidRequestError(f"A model of {served.version.report.task} has no target by which to judge it.")
    return labelled
