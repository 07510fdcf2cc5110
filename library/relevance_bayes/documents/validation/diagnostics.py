"""Validation of the diagnostics of a training in a report."""

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
from relevance_bayes.records.values import InputColumn, Label

WHERE = "/report/diagnostics"
SIZE = Interval(0, 100)
"""The number of bins, curves, inputs and traces: some times those of trainings, and little memory."""

STEPS = Interval(0, 2_000)


def diagnostics_faults(
    found: Diagnostics | None, inputs: Sequence[InputColumn], classes: Sequence[Label], members: int
) -> Iterator[Fault]:
    """Yield faults of diagnostics: of the kind of the target, the first inputs with their kinds, and the members."""
    if found is None:
        return
    if (found.reliability is None) == (found.reason is None):
        yield Fault("Expected a reliability or a reason.", f"{WHERE}/reason")
    if found.reliability is not None:
        yield from _of_reliability(found.reliability, classes)
    if found.residuals is not None:
        yield from _of_residuals(found.residuals, inputs)
    yield from figure_faults([(f"{WHERE}/traces", len(found.traces), SIZE)])
    for place, trace in enumerate(found.traces):
        yield from _of_trace(trace, members, f"{WHERE}/traces/{place}")


def _of_reliability(found: Reliability, classes: Sequence[Label]) -> Iterator[Fault]:
    where = f"{WHERE}/reliability"
    if found.kind != ("classes" if classes else "numbers"):
        yield Fault("Expected the reliability of the kind of the target.", f"{where}/kind")
    yield from figure_faults(
        [(f"{where}/rows", found.rows, POSITIVE_COUNT), (f"{where}/log_score", found.log_score, FINITE)]
    )
    match found:
        case NumberReliability():
            yield from figure_faults([(f"{where}/pit", len(found.pit), SIZE)])
            yield from figure_faults((f"{where}/pit", share, SHARE) for share in found.pit)
            yield from figure_faults([(f"{where}/coverage", len(found.coverage), SIZE)])
            for one in found.coverage:
                shares = (one.level, one.share, one.standard_error)
                yield from figure_faults((f"{where}/coverage", share, SHARE) for share in shares)
        case ClassReliability():
            labels = [curve.label for curve in found.curves]
            if len(set(labels)) < len(labels) or not set(labels) <= set(classes):
                yield Fault("Expected different classes of the target.", f"{where}/curves")
            sizes = (len(found.curves), *(len(curve.bins) for curve in found.curves))
            yield from figure_faults([(f"{where}/brier", found.brier, SHARE)])
            yield from figure_faults((f"{where}/curves", size, SIZE) for size in sizes)
            for each in (one for curve in found.curves for one in curve.bins):
                yield from figure_faults([(f"{where}/curves", each.rows, POSITIVE_COUNT)])
                parts = (each.lower, each.upper, each.predicted, each.observed)
                yield from figure_faults((f"{where}/curves", share, SHARE) for share in parts)


def _of_residuals(found: Residuals, inputs: Sequence[InputColumn]) -> Iterator[Fault]:
    where = f"{WHERE}/residuals"
    columns = [(one.name, one.kind) for one in found.inputs]
    known = [one for one in inputs if one.kind != "category" or one.categories]  # not of the effects of texts
    if columns != [(column.name, column.kind) for column in known[: len(columns)]]:
        yield Fault("Expected the names and kinds of the first inputs.", f"{where}/inputs")
    yield from figure_faults(
        [(f"{where}/rows", found.rows, POSITIVE_COUNT), (f"{where}/inputs", len(found.inputs), SIZE)]
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
    yield from figure_faults([(where, len(bins), SIZE)])
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
