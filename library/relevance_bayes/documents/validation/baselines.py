"""Validation of the histograms of training data in a report."""

from collections.abc import Iterator, Sequence
from itertools import pairwise

from relevance_bayes.documents.validation.figures import COUNT, POSITIVE_COUNT, Interval, figure_faults
from relevance_bayes.types.baselines import Baseline, Histogram, NumberHistogram
from relevance_bayes.types.errors import Fault
from relevance_bayes.types.values import InputColumn

WHERE = "/report/baseline"
SIZE = Interval(0, 100)
"""The number of histograms of inputs, and of bins: some times those of trainings, and little memory."""


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
