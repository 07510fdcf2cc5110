"""Validation of numbers in intervals, names of columns, likelihoods, and the members of all reports."""

import re
import unicodedata
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, fields, is_dataclass
from itertools import pairwise
from math import inf, isclose

from relevance_bayes.core.likelihoods import (
    Bernoulli,
    BernoulliPerClass,
    Categorical,
    GaussianNoise,
    Hurdle,
    LogVariance,
    OneAgainstRest,
    StudentT,
    TargetLikelihood,
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
from relevance_bayes.records.reports import Baseline, Histogram, InputCells, InputWidth, NumberHistogram
from relevance_bayes.records.values import Cell, ColumnKind, InputColumn, Label
from relevance_bayes.tables.encoding import (
    EncodedCategory,
    EncodedEffects,
    EncodedInput,
    EncodedNumber,
    InputEncoding,
    quoted,
)
from relevance_bayes.tables.encoding.table import MAX_SCALED
from relevance_bayes.tables.kinds import seconds_of
from relevance_bayes.tasks.approximation.report import ApproximationReport
from relevance_bayes.tasks.components.report import ComponentsReport
from relevance_bayes.tasks.supervised.report import SupervisedReport

MAX_COUNT = 2**53

MAX_VALUE_LENGTH = 24
"""The maximum number of characters of a number that a fault repeats."""


@dataclass(frozen=True)
class Interval:
    """The finite numbers from `minimum` to `maximum`; with `is_open`, excluding these two."""

    minimum: float
    maximum: float
    is_open: bool = False

    def __contains__(self, value: float) -> bool:
        if not -inf < value < inf:
            return False
        if self.is_open:
            return self.minimum < value < self.maximum
        return self.minimum <= value <= self.maximum

    def __str__(self) -> str:
        if self.maximum == inf == -self.minimum:
            return "a finite number"
        if self.maximum == inf:
            return f"a finite number {'above' if self.is_open else 'not below'} {self.minimum:g}"
        if self.minimum == -inf:
            return f"a finite number {'below' if self.is_open else 'not above'} {self.maximum:g}"
        if self.is_open:
            return f"a number above {self.minimum:g} and below {self.maximum:g}"
        return f"a number from {self.minimum:g} to {self.maximum:g}"


FINITE = Interval(-inf, inf)
COUNT = Interval(0, MAX_COUNT)
POSITIVE_COUNT = Interval(1, MAX_COUNT)
SHARE = Interval(0.0, 1.0)
OPEN_SHARE = Interval(0.0, 1.0, is_open=True)
NOT_NEGATIVE = Interval(0.0, inf)
POSITIVE = Interval(0.0, inf, is_open=True)

Figure = tuple[str, float | None, Interval]
"""The place of a number, its value, which may be missing, and its interval."""


def figure_faults(figures: Iterable[Figure]) -> Iterator[Fault]:
    """Yield a fault for each number outside its interval."""
    for where, value, interval in figures:
        if value is not None and value not in interval:
            yield Fault(f"Expected {interval}, got {str(value)[:MAX_VALUE_LENGTH]}.", where)


def difference_faults(value: object, expected: object, where: str) -> Iterator[Fault]:
    """Yield a fault for each value of a report that differs from that which follows from the model, within rounding."""
    if isinstance(value, tuple) and isinstance(expected, tuple):
        if [getattr(one, "input", None) for one in value] != [getattr(one, "input", None) for one in expected]:
            yield Fault(f"Expected {len(expected)} with the names of the model's inputs.", where)
            return
        for place, (one, other) in enumerate(zip(value, expected, strict=True)):
            yield from difference_faults(one, other, f"{where}/{place}")
    elif is_dataclass(value) and type(value) is type(expected):
        for member in fields(value):
            name = member.name
            yield from difference_faults(getattr(value, name), getattr(expected, name), f"{where}/{name}")
    elif not _is_same(value, expected):
        detail = f"Expected {expected}, which follows from the model, got {str(value)[:MAX_VALUE_LENGTH]}."
        yield Fault(detail, where)


def _is_same(value: object, expected: object) -> bool:
    if isinstance(value, int | float) and isinstance(expected, int | float):
        return isclose(value, expected, rel_tol=1e-9)
    return value == expected


MAX_TEXT_LENGTH = 200
"""The maximum number of characters of a name."""

MAX_LABEL_LENGTH = 100_000


def input_faults(encoding: InputEncoding, taken: Collection[str | None] = ()) -> Iterator[Fault]:
    """Yield faults of the inputs; names that are `taken` belong to other columns."""
    if not encoding.inputs:
        yield Fault("Expected at least one input.", "/inputs")
    others = set(taken)
    for place, column in enumerate(encoding.inputs):
        where = f"/inputs/{place}"
        yield from column_name_faults(column.name, f"{where}/name")
        if column.name in others:
            yield Fault(f"The column {quoted(column.name)} is named twice.", f"{where}/name")
        others.add(column.name)
        yield from _of_gaps(column, where)
        yield from _of_scale(column, where)


def _of_scale(column: EncodedInput, where: str) -> Iterator[Fault]:
    if isinstance(column, EncodedEffects):
        return
    if isinstance(column, EncodedCategory):
        shares = column.fill or ()
        yield from figure_faults((f"{where}/fill/{place}", share, SHARE) for place, share in enumerate(shares))
        if shares and not isclose(sum(shares), 1.0, rel_tol=1e-6):
            yield Fault("Expected shares that sum to 1.", f"{where}/fill")
    elif column.kind == "boolean":
        members = (("shift", column.shift), ("scale", column.scale), ("fill", column.fill))
        yield from figure_faults((f"{where}/{name}", value, SHARE) for name, value in members)


def _of_gaps(column: EncodedInput, where: str) -> Iterator[Fault]:
    if isinstance(column, EncodedNumber) and len(set(column.periods)) < len(column.periods):
        yield Fault("Expected periods that are all distinct.", f"{where}/periods")
    if column.indicator and column.fill is None:
        yield Fault("Expected a value with `indicator`.", f"{where}/fill")
    if isinstance(column, EncodedEffects):
        yield from _of_effects(column, where)
    if isinstance(column, EncodedCategory):
        known = column.categories
        if not known or len(set(known)) < len(known):
            yield Fault("Expected at least one category, all distinct.", f"{where}/categories")
        if any(not is_label(category) for category in known):
            yield Fault("Expected categories of bounded length without NUL.", f"{where}/categories")


def _of_effects(column: EncodedEffects, where: str) -> Iterator[Fault]:
    known = column.categories
    if len(set(known)) < len(known) or any(not is_label(text) for text in known):
        yield Fault("Expected distinct texts of bounded length without NUL.", f"{where}/categories")
    if not column.effects:  # each has as many numbers as there are texts
        yield Fault("Expected the effects on one output at least.", f"{where}/effects")
    yield from figure_faults((f"{where}/effects", one, FINITE) for each in column.effects for one in each)
    if column.fill not in {None, 0.0}:
        yield Fault("Expected 0, the mean effect, or null.", f"{where}/fill")


def column_name_faults(name: str, where: str) -> Iterator[Fault]:
    """Yield faults of a column's name."""
    plain = not any(unicodedata.category(character) in {"Cc", "Cs", "Zl", "Zp"} for character in name)
    if not (0 < len(name) <= MAX_TEXT_LENGTH and plain):
        yield Fault(f"Expected a name of 1 to {MAX_TEXT_LENGTH} characters, none of them control characters.", where)


def is_label(text: str) -> bool:
    """Return whether a text may be a category or a class."""
    return "\0" not in text and len(text) <= MAX_LABEL_LENGTH


NOISE_SD = Interval(1.0 / MAX_SCALED, MAX_SCALED)
DEGREES_OF_FREEDOM = Interval(2.0, inf, is_open=True)


def likelihood_faults(likelihood: TargetLikelihood, where: str, classes: int) -> Iterator[Fault]:
    """Yield faults of the given parameters, for a target of so many `classes`."""
    figures: list[Figure] = []
    match likelihood:
        case GaussianNoise(noise_sd=float() | int() as sd):
            figures.append((f"{where}/noise_sd", sd, NOISE_SD))
        case StudentT(degrees_of_freedom=float() | int() as dof):
            figures.append((f"{where}/degrees_of_freedom", dof, DEGREES_OF_FREEDOM))
        case LogVariance():
            yield Fault("Expected the likelihood of a target, got that of a log variance.", where)
        case Bernoulli() | Categorical() | OneAgainstRest() | BernoulliPerClass():
            if likelihood.temperature != "learned":
                figures.append((f"{where}/temperature", likelihood.temperature, POSITIVE))
        case _:
            pass
    if not isinstance(likelihood, BernoulliPerClass | Hurdle) and (shape := likelihood.shape) is not None:
        figures.append((f"{where}/{shape.name}", shape.of(likelihood), Interval(shape.min_value, shape.max_value)))
    if isinstance(likelihood, OneAgainstRest | Categorical | BernoulliPerClass):
        figures.append((f"{where}/classes", likelihood.classes, Interval(classes, classes)))
    yield from figure_faults(figures)


def noise_by_row_faults(likelihood: TargetLikelihood, where: str, noise_column: str | None) -> Iterator[Fault]:
    """Return a fault for noise by row where no column has it."""
    if likelihood.noise_by_row and noise_column is None:
        yield Fault("Noise by row needs the target's `noise_column`.", f"{where}/noise_sd")


WIDTH = Interval(1.0 / MAX_SCALED, MAX_SCALED)
WHERE = "/report"

DIGEST = re.compile(r"[0-9a-f]{64}")
SOFTWARE_VERSION = re.compile(r"[0-9A-Za-z.+!_-]{1,100}")


def common_faults(report: SupervisedReport | ApproximationReport | ComponentsReport) -> Iterator[Fault]:
    """Yield faults of the members of every report."""
    yield from figure_faults(
        [
            (f"{WHERE}/rows", report.rows, POSITIVE_COUNT),
            (f"{WHERE}/seconds", report.seconds, NOT_NEGATIVE),
        ]
    )
    if report.imported is not None:
        yield from figure_faults([(f"{WHERE}/imported/version", report.imported.version, Interval(1, 2**31 - 1))])
    if not DIGEST.fullmatch(report.dataset_digest):
        yield Fault("Expected a SHA-256 of 64 hexadecimal digits.", f"{WHERE}/dataset_digest")
    if not SOFTWARE_VERSION.fullmatch(report.software_version):
        detail = "Expected a version of up to 100 letters, digits, dots and dashes."
        yield Fault(detail, f"{WHERE}/software_version")
    for place, column in enumerate(report.plan.ignored):
        yield from column_name_faults(column.name, f"{WHERE}/plan/ignored/{place}/name")


def width_faults(widths: Sequence[InputWidth], inputs: Sequence[str], where: str = WHERE) -> Iterator[Fault]:
    """Yield faults of widths, each of one of the encoded `inputs` or of all of them."""
    for place, one in enumerate(widths):
        here = f"{where}/widths/{place}"
        yield from figure_faults([(f"{here}/width", one.width, WIDTH)])
        if one.input is not None:
            yield from _input_name_faults(one.input, inputs, f"{here}/input")


def _input_name_faults(name: str, inputs: Sequence[str], where: str) -> Iterator[Fault]:
    """Yield a fault where a name is not that of an encoded input."""
    if name not in inputs:
        yield Fault("Expected the name of an encoded input.", where)


def row_count_faults(dropped: int, held_out: int = 0) -> Iterator[Fault]:
    """Yield faults of the numbers of rows that were not trained on."""
    counts = (("rows_dropped", dropped), ("rows_held_out", held_out))
    yield from figure_faults((f"{WHERE}/{name}", count, COUNT) for name, count in counts)


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
