"""Validation of the histograms and the rows of training data in a report."""

from collections.abc import Iterator, Sequence
from itertools import pairwise

from relevance_bayes.documents.validation.figures import COUNT, POSITIVE_COUNT, Interval, figure_faults
from relevance_bayes.records.baselines import Baseline, Histogram, InputCells, NumberHistogram
from relevance_bayes.records.errors import Fault
from relevance_bayes.records.values import Cell, ColumnKind, InputColumn
from relevance_bayes.tables.kinds import seconds_of

WHERE = "/report/baseline"
SIZE = Interval(0, 100)
"""The number of histograms of inputs, and of bins: some times those of trainings, and little memory."""

ROWS = "/report/input_rows"
N_ROWS = Interval(1, 256)
"""The number of rows: some times those that trainings keep."""


def baseline_faults(baseline: Baseline | None, inputs: Sequence[InputColumn], target: str | None) -> Iterator[Fault]:
    """Yield faults of histograms: of the first inputs with their kinds, the target, and predictions."""
    if baseline is None:
        return
    yield from figure_faults(
        [(f"{WHERE}/rows", baseline.rows, POSITIVE_COUNT), (f"{WHERE}/inputs", len(baseline.inputs), SIZE)]
    )
    columns = [(one.name, one.kind) for one in baseline.inputs]
    if columns != [(column.name, column.kind) for column in inputs[: len(columns)]]:
        yield Fault("Expected the names and kinds of the first inputs.", f"{WHERE}/inputs")
    if (None if baseline.target is None else baseline.target.name) != target:
        yield Fault("Expected the histogram of the target.", f"{WHERE}/target")
    for place, one in enumerate(baseline.inputs):
        yield from _of_histogram(one, baseline.rows, f"{WHERE}/inputs/{place}")
    if baseline.target is not None:
        yield from _of_histogram(baseline.target, baseline.rows, f"{WHERE}/target")
    yield from _of_histogram(baseline.predictions, baseline.rows, f"{WHERE}/predictions", is_complete=False)


def _of_histogram(histogram: Histogram, rows: int, where: str, *, is_complete: bool = True) -> Iterator[Fault]:
    """Yield faults of a histogram of these rows; of all of them where it `is_complete`."""
    if isinstance(histogram, NumberHistogram):
        counts = histogram.counts
        if len(counts) != len(histogram.edges) + 1:
            yield Fault(f"Expected {len(histogram.edges) + 1} counts, got {len(counts)}.", f"{where}/counts")
        if any(low >= high for low, high in pairwise(histogram.edges)):
            yield Fault("Expected edges in ascending order.", f"{where}/edges")
    else:
        counts = (*(one.count for one in histogram.categories), histogram.other)
        if len({one.label for one in histogram.categories}) < len(histogram.categories):
            yield Fault("Expected different categories.", f"{where}/categories")
        if histogram.kind == "boolean" and [one.label for one in histogram.categories] != ["false", "true"]:
            yield Fault("Expected the categories false and true.", f"{where}/categories")
    yield from figure_faults([(where, len(counts), SIZE)])
    yield from figure_faults((where, count, COUNT) for count in (*counts, histogram.missing))
    total = sum(counts) + histogram.missing
    if total > rows or (is_complete and total < rows):
        yield Fault(f"Expected counts of {rows} rows, got {total}.", where)


def input_row_faults(kept: Sequence[InputCells] | None, inputs: Sequence[InputColumn]) -> Iterator[Fault]:
    """Yield faults of the inputs of the kept rows: of all inputs, with the same number of values of their kinds."""
    if kept is None:
        return
    kinds = {column.name: column.kind for column in inputs}
    if sorted(one.name for one in kept) != sorted(kinds):
        yield Fault("Expected the names of all inputs.", ROWS)
        return
    for place, one in enumerate(kept):
        where = f"{ROWS}/{place}/cells"
        yield from figure_faults([(where, len(one.cells), N_ROWS)])
        if len(one.cells) != len(kept[0].cells):
            yield Fault(f"Expected {len(kept[0].cells)} values, got {len(one.cells)}.", where)
        if not all(cell is None or _is_of_kind(cell, kinds[one.name]) for cell in one.cells):
            yield Fault(f"Expected values of the kind {kinds[one.name]}.", where)


def _is_of_kind(cell: Cell, kind: ColumnKind) -> bool:
    match kind:
        case "number":
            return isinstance(cell, int | float) and not isinstance(cell, bool)
        case "boolean":
            return isinstance(cell, bool)
        case "timestamp":
            return isinstance(cell, str) and seconds_of(cell) is not None
        case "category":
            return isinstance(cell, str)
