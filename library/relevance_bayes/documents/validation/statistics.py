"""Validation of what a report has of training data: histograms, rows, and the diagnostics of the training."""

from collections.abc import Iterator, Sequence
from itertools import pairwise

from relevance_bayes.documents.validation.figures import (
    COUNT,
    FINITE,
    NOT_NEGATIVE,
    POSITIVE_COUNT,
    SHARE,
    Figure,
    Interval,
    figure_faults,
)
from relevance_bayes.records.baselines import Baseline, Histogram, InputCells, NumberHistogram
from relevance_bayes.records.diagnostics import (
    CategoryResidual,
    ClassReliability,
    Diagnostics,
    InputResiduals,
    NumberReliability,
    NumberResiduals,
    Reliability,
    Residuals,
    ResidualStatistics,
    Trace,
)
from relevance_bayes.records.errors import Fault
from relevance_bayes.records.values import Cell, ColumnKind, InputColumn, Label
from relevance_bayes.tables.kinds import seconds_of

BASELINE = "/report/baseline"
N_BINS = Interval(0, 100)
"""The number of inputs, curves, traces and bins: some times those of trainings, and little memory."""

ROWS = "/report/input_rows"
N_ROWS = Interval(1, 256)
"""The number of rows: some times those that trainings keep."""


def baseline_faults(baseline: Baseline | None, inputs: Sequence[InputColumn], target: str | None) -> Iterator[Fault]:
    """Yield faults of histograms: of the first inputs with their kinds, the target, and predictions."""
    if baseline is None:
        return
    yield from figure_faults(
        [(f"{BASELINE}/rows", baseline.rows, POSITIVE_COUNT), (f"{BASELINE}/inputs", len(baseline.inputs), N_BINS)]
    )
    columns = [(one.name, one.kind) for one in baseline.inputs]
    if columns != [(column.name, column.kind) for column in inputs[: len(columns)]]:
        yield Fault("Expected the names and kinds of the first inputs.", f"{BASELINE}/inputs")
    if (None if baseline.target is None else baseline.target.name) != target:
        yield Fault("Expected the histogram of the target.", f"{BASELINE}/target")
    for place, one in enumerate(baseline.inputs):
        yield from _of_histogram(one, baseline.rows, f"{BASELINE}/inputs/{place}")
    if baseline.target is not None:
        yield from _of_histogram(baseline.target, baseline.rows, f"{BASELINE}/target")
    yield from _of_histogram(baseline.predictions, baseline.rows, f"{BASELINE}/predictions", is_complete=False)


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
    yield from figure_faults([(where, len(counts), N_BINS)])
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


DIAGNOSTICS = "/report/diagnostics"
STEPS = Interval(0, 2_000)


def diagnostics_faults(
    found: Diagnostics | None, inputs: Sequence[InputColumn], classes: Sequence[Label], members: int
) -> Iterator[Fault]:
    """Yield faults of diagnostics: of the kind of the target, the first inputs with their kinds, and the members."""
    if found is None:
        return
    if (found.reliability is None) == (found.reason is None):
        yield Fault("Expected a reliability or a reason.", f"{DIAGNOSTICS}/reason")
    if found.reliability is not None:
        yield from _of_reliability(found.reliability, classes)
    if found.residuals is not None:
        yield from _of_residuals(found.residuals, inputs)
    yield from figure_faults([(f"{DIAGNOSTICS}/traces", len(found.traces), N_BINS)])
    for place, trace in enumerate(found.traces):
        yield from _of_trace(trace, members, f"{DIAGNOSTICS}/traces/{place}")


def _of_reliability(found: Reliability, classes: Sequence[Label]) -> Iterator[Fault]:
    where = f"{DIAGNOSTICS}/reliability"
    if found.kind != ("classes" if classes else "numbers"):
        yield Fault("Expected the reliability of the kind of the target.", f"{where}/kind")
    yield from figure_faults(
        [(f"{where}/rows", found.rows, POSITIVE_COUNT), (f"{where}/log_score", found.log_score, FINITE)]
    )
    match found:
        case NumberReliability():
            yield from figure_faults([(f"{where}/pit", len(found.pit), N_BINS)])
            yield from figure_faults((f"{where}/pit", share, SHARE) for share in found.pit)
            yield from figure_faults([(f"{where}/coverage", len(found.coverage), N_BINS)])
            for one in found.coverage:
                shares = (one.level, one.share, one.standard_error)
                yield from figure_faults((f"{where}/coverage", share, SHARE) for share in shares)
        case ClassReliability():
            labels = [curve.label for curve in found.curves]
            if len(set(labels)) < len(labels) or not set(labels) <= set(classes):
                yield Fault("Expected different classes of the target.", f"{where}/curves")
            sizes = (len(found.curves), *(len(curve.bins) for curve in found.curves))
            yield from figure_faults([(f"{where}/brier", found.brier, SHARE)])
            yield from figure_faults((f"{where}/curves", size, N_BINS) for size in sizes)
            for each in (one for curve in found.curves for one in curve.bins):
                yield from figure_faults([(f"{where}/curves", each.rows, POSITIVE_COUNT)])
                parts = (each.lower, each.upper, each.predicted, each.observed)
                yield from figure_faults((f"{where}/curves", share, SHARE) for share in parts)


def _of_residuals(found: Residuals, inputs: Sequence[InputColumn]) -> Iterator[Fault]:
    where = f"{DIAGNOSTICS}/residuals"
    columns = [(one.name, one.kind) for one in found.inputs]
    known = [one for one in inputs if one.kind != "category" or one.categories]  # not of the effects of texts
    if columns != [(column.name, column.kind) for column in known[: len(columns)]]:
        yield Fault("Expected the names and kinds of the first inputs.", f"{where}/inputs")
    yield from figure_faults(
        [(f"{where}/rows", found.rows, POSITIVE_COUNT), (f"{where}/inputs", len(found.inputs), N_BINS)]
    )
    yield from _of_bins(found.prediction, found.rows, f"{where}/prediction")
    for place, one in enumerate(found.inputs):
        yield from _of_bins(one, found.rows, f"{where}/inputs/{place}")


def _of_bins(found: InputResiduals, rows: int, where: str) -> Iterator[Fault]:
    """Yield faults of residuals of these rows."""
    bins: list[ResidualStatistics | CategoryResidual]
    if isinstance(found, NumberResiduals):
        bins = [*found.bins]
        if len(bins) != (len(found.edges) + 1 if bins else 0):
            yield Fault(f"Expected {len(found.edges) + 1} bins, got {len(bins)}.", f"{where}/bins")
        ends = () if found.min is None or found.max is None else (found.min, found.max)
        yield from figure_faults((f"{where}/edges", one, FINITE) for one in (*found.edges, *ends))
        if any(low >= high for low, high in pairwise(found.edges)) or list(ends) != sorted(ends):
            yield Fault("Expected edges in ascending order.", f"{where}/edges")
    else:
        bins = [*found.categories, *(() if found.other is None else (found.other,))]
        if len({one.label for one in found.categories}) < len(found.categories):
            yield Fault("Expected different categories.", f"{where}/categories")
    bins += [] if found.missing is None else [found.missing]
    yield from figure_faults([(where, len(bins), N_BINS)])
    for one in bins:
        yield from figure_faults([(where, one.rows, COUNT), (where, one.mean, FINITE), (where, one.sd, NOT_NEGATIVE)])
    if (total := sum(one.rows for one in bins)) != rows:
        yield Fault(f"Expected bins of {rows} rows, got {total}.", where)


def _of_trace(trace: Trace, members: int, where: str) -> Iterator[Fault]:
    figures: list[Figure] = [
        (f"{where}/member", trace.member, Interval(0, members - 1)),
        (f"{where}/steps", trace.steps, COUNT),
        (f"{where}/kept", len(trace.kept), STEPS),
    ]
    for place, step in enumerate(trace.kept):
        here = f"{where}/kept/{place}"
        figures += [
            (f"{here}/objective", step.objective, FINITE),
            (f"{here}/gain", step.gain, FINITE),
            (f"{here}/noise_sd", step.noise_sd, NOT_NEGATIVE),
            (f"{here}/functions", step.functions, COUNT),
            (f"{here}/entered", step.entered, COUNT),
            (f"{here}/left", step.left, COUNT),
        ]
    yield from figure_faults(figures)
    if any(before.iteration >= after.iteration for before, after in pairwise(trace.kept)):
        yield Fault("Expected iterations in ascending order.", f"{where}/kept")
