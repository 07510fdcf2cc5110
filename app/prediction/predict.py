"""The one function that every prediction goes through, whatever the protocol, the format and the task."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from app.formats.cell_faults import refuse
from app.prediction.row_ids import RowIds
from app.prediction.served import ServedVersion
from relevance_bayes.records.errors import Fault, InvalidRequestError
from relevance_bayes.tables.columns import Block
from relevance_bayes.tasks.options import PredictOptions
from relevance_bayes.tasks.prediction import LabelledBlock, Prediction

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


def predict(served: ServedVersion, request: PredictRequest) -> Prediction:
    """Predict the rows of a request, with all that is wrong with them in `faults`.

    Raises InvalidDataError where such rows are refused, InvalidRequestError for options that the task does not have,
    TooLargeError for more than `max_averaged` rows that are averages.
    """
    if request.refuses:
        refuse(request.cell_faults)
    options, cell_faults = request.options, request.cell_faults
    if cell_faults:
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
