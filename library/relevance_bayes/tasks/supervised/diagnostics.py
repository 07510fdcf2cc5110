"""Diagnostics of a supervised model: residuals, reliability, warnings."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import ceil, isfinite, isnan, log10, sqrt

import numpy as np
from numpy.typing import NDArray

from relevance_bayes.core.algorithms.state import FitTrace
from relevance_bayes.core.basis import KernelBasis
from relevance_bayes.core.inference.problem import least_rows
from relevance_bayes.core.likelihoods import StudentT
from relevance_bayes.core.likelihoods.base import Targets
from relevance_bayes.core.likelihoods.student_t import HeavyTailedPrediction
from relevance_bayes.core.log_density import MAX_SHORTFALL, log_one_normal
from relevance_bayes.core.models.local.model import LocalModel
from relevance_bayes.core.models.model import Model
from relevance_bayes.core.models.pool import LearnedModel, alone, likelihood_of, members_of
from relevance_bayes.core.models.prediction import Measured, predict
from relevance_bayes.core.priors import JITTER
from relevance_bayes.core.selection import Compared, MeasuredRows, Trained
from relevance_bayes.core.selection.scoring import MIN_STANDARD_ERRORS, standard_error
from relevance_bayes.core.types import Array, Indices
from relevance_bayes.records.diagnostics import (
    CalibrationCurve,
    CategoryResidual,
    CategoryResiduals,
    ClassReliability,
    Diagnostics,
    InputResiduals,
    LeftOutSource,
    LevelCoverage,
    NumberReliability,
    NumberResiduals,
    Reliability,
    Residuals,
    ResidualSource,
    ResidualStatistics,
    Trace,
    TraceStep,
)
from relevance_bayes.records.reports import Outlier, TrainingWarning
from relevance_bayes.records.values import text_of
from relevance_bayes.tables.columns import (
    Block,
    BooleanArray,
    CategoryArray,
    Column,
    NumberArray,
    TimestampArray,
    taken,
)
from relevance_bayes.tables.encoding import (
    EncodedCategory,
    EncodedEffects,
    EncodedNumber,
    EncodedTarget,
    Encoding,
    InputEncoding,
    encode_target,
    real_values,
    user_log_evidence,
    user_mean,
    user_noise_sd,
)
from relevance_bayes.tables.moments import FLAGS, MAX_CATEGORIES, quantile_edges
from relevance_bayes.tasks.listing import CalibrationBins, pit_counts
from relevance_bayes.tasks.supervised.materialise import (
    MAX_NAMED,
    DistantValue,
    Materialised,
    OutlyingInput,
    distant_values,
)

LEVELS = (0.5, 0.8, 0.9, 0.95, 0.99)
"""The probabilities of the central intervals."""

MAX_CLASSES = 32
"""The number of classes with a curve, those of the most rows."""


def reliability_of(target: EncodedTarget, found: Measured, source: LeftOutSource) -> Reliability | None:
    """Return the reliability of predictions in the units of t; None where no row has a finite one."""
    finite = np.isfinite(found.outputs).all(axis=0)
    if not finite.any():
        return None
    t, outputs = found.t[finite], found.outputs[:, finite]
    losses = (found.each["log_loss"] if target.classes else found.each["nll"])[finite]
    log_score = user_log_evidence(target, -float(losses.mean()), 0 if target.classes else 1)
    rows, score = len(t), log_score if isfinite(log_score) else None
    if not target.classes:
        _, below, upto = outputs
        return NumberReliability(
            kind="numbers",
            source=source,
            rows=rows,
            log_score=score,
            pit=tuple((pit_counts(below, upto) / rows).tolist()),
            coverage=tuple(_coverage(level, below, upto) for level in LEVELS),
        )
    counts = np.bincount(t.astype(np.intp), minlength=len(target.classes))
    listed = np.sort(np.argsort(-counts, kind="stable")[:MAX_CLASSES]).tolist()
    return ClassReliability(
        kind="classes",
        source=source,
        rows=rows,
        log_score=score,
        brier=float(found.each["brier"][finite].mean()),
        curves=tuple(
            CalibrationCurve(
                target.classes[place], tuple(CalibrationBins.of(outputs[place], (t == place).astype(np.float64)).bins())
            )
            for place in listed
        ),
    )


def _coverage(level: float, below: Array, upto: Array) -> LevelCoverage:
    """Return the coverage of the interval between two quantiles.

    t >= the quantile at p if P(t' <= t) >= p, and t <= the one at q if P(t' < t) < q.
    """
    tail = (1.0 - level) / 2.0
    inside = (upto >= tail) & (below < 1.0 - tail)
    return LevelCoverage(level, float(inside.mean()), sqrt(level * (1.0 - level) / len(inside)))


MAX_ROWS = 20_000
"""The number of rows, evenly spaced, beyond which others are left out."""

MAX_BINS, MAX_INPUT_BINS = 32, 16
"""The number of bins of the prediction and of an input."""

DIGITS = 14
"""The decimal digits to which inputs are decoded."""

MAX_INPUTS = 64
"""The number of inputs, the first of a version."""


@dataclass(frozen=True, eq=False)
class RowResiduals:
    """The residuals (N,) of some rows, and the `predictions` (N,) called `name` that they belong to."""

    name: str
    predictions: Array
    residuals: Array

    def against_prediction(self) -> NumberResiduals:
        """Return the residuals by prediction."""
        return _by_number(self.name, self.predictions, self.residuals, MAX_BINS)

    def against(self, names: Sequence[str], block: Block) -> tuple[InputResiduals, ...]:
        """Return the residuals by input, whose columns (N,) are in the block."""
        return tuple(_by_input(name, block[name], self.residuals) for name in names[:MAX_INPUTS])


def thinned(rows: Indices) -> Indices:
    """Return at most MAX_ROWS of the rows (N,), evenly spaced."""
    return rows if len(rows) <= MAX_ROWS else rows[np.arange(MAX_ROWS) * len(rows) // MAX_ROWS]


def decoded(encoding: InputEncoding, rows: Array, names: Sequence[str]) -> Block:
    """Return the columns of the inputs `names` from their encoded `rows` (N, d): the inverse of `encode_inputs`, which
    texts that are encoded by their effects have not."""
    block: dict[str, Column] = {}
    first = 0
    for column in encoding.inputs:
        columns, first = rows[:, first : first + column.width], first + column.width
        if column.name not in names:
            continue
        missing = columns[:, -1] > 0.5 if column.indicator else np.zeros(len(rows), np.bool_)
        if isinstance(column, EncodedNumber):
            values = np.where(missing, np.nan, column.decode(columns[:, 0]))
            block[column.name] = _numbers(column, _rounded(values))
        elif isinstance(column, EncodedCategory):
            codes = columns[:, : len(column.categories)].argmax(axis=1) if column.categories else np.zeros(len(rows))
            block[column.name] = CategoryArray(np.where(missing, -1, codes).astype(np.int32), column.categories)
    return block


def _rounded(values: Array) -> Array:
    """Return values (N,) without the rounding of their encoding: at DIGITS of the greatest, of usual sizes."""
    largest = float(np.nanmax(np.abs(values), initial=0.0))
    return np.round(values, DIGITS - ceil(log10(largest))) if 1e-6 < largest < 1e12 else values


def _numbers(column: EncodedNumber, values: Array) -> Column:
    match column.kind:
        case "boolean":
            return BooleanArray(np.where(np.isnan(values), -1.0, np.rint(values)).astype(np.int8))
        case "timestamp":
            return TimestampArray(values)
        case "number":
            return NumberArray(values)


def _by_input(name: str, column: Column, residuals: Array) -> InputResiduals:
    match column:
        case CategoryArray(codes=codes, labels=labels):
            return _by_category(name, codes, labels, residuals)
        case BooleanArray(values=flags):
            found = _statistics(np.where(flags < 0, len(FLAGS), flags).astype(np.intp), residuals, len(FLAGS) + 1)
            listed = tuple(CategoryResidual(label, **vars(one)) for label, one in zip(FLAGS, found, strict=False))
            return CategoryResiduals(
                name=name, kind="boolean", missing=_present(found[-1]), categories=listed, other=None
            )
        case TimestampArray(values=values):
            return _by_number(name, values, residuals, MAX_INPUT_BINS, is_timestamp=True)
        case NumberArray(values=values):
            return _by_number(name, values, residuals, MAX_INPUT_BINS)


def _by_number(
    name: str, values: Array, residuals: Array, max_bins: int, *, is_timestamp: bool = False
) -> NumberResiduals:
    missing = np.isnan(values)
    present = np.sort(values[~missing])
    edges = quantile_edges(present, max_bins) if len(present) else present
    if len(present) and edges[-1] >= present[-1]:
        edges = edges[:-1]
    bins = len(edges) + 1 if len(present) else 0
    *found, lost = _statistics(np.where(missing, bins, np.searchsorted(edges, values)), residuals, bins + 1)
    return NumberResiduals(
        name=name,
        kind="timestamp" if is_timestamp else "number",
        missing=_present(lost),
        min=float(present[0]) if len(present) else None,
        max=float(present[-1]) if len(present) else None,
        edges=tuple(edges.tolist()),
        bins=tuple(found),
    )


def _by_category(name: str, codes: NDArray[np.int32], labels: Sequence[str], residuals: Array) -> CategoryResiduals:
    counts = np.bincount(codes[codes >= 0], minlength=len(labels)).tolist()
    frequent = sorted((place for place, n in enumerate(counts) if n), key=lambda place: (-counts[place], labels[place]))
    listed = frequent[:MAX_CATEGORIES]
    places = np.full(len(labels) + 1, len(listed), np.intp)
    places[listed], places[-1] = np.arange(len(listed)), len(listed) + 1
    *found, other, missing = _statistics(places[codes], residuals, len(listed) + 2)
    return CategoryResiduals(
        name=name,
        kind="category",
        missing=_present(missing),
        categories=tuple(
            CategoryResidual(labels[place], **vars(one)) for place, one in zip(listed, found, strict=True)
        ),
        other=_present(other),
    )


def _statistics(places: Indices, residuals: Array, bins: int) -> list[ResidualStatistics]:
    """Return the statistics of the residuals (N,) in each bin; 0 without rows."""
    unit = float(np.abs(residuals).max(initial=0.0)) or 1.0
    scaled = residuals / unit
    counts = np.bincount(places, minlength=bins)
    rows = np.maximum(counts, 1)
    mean = np.bincount(places, scaled, minlength=bins) / rows
    sd = np.sqrt(np.bincount(places, np.square(scaled - mean[places]), minlength=bins) / rows)
    pairs = zip(counts.tolist(), (mean * unit).tolist(), (sd * unit).tolist(), strict=True)
    return [ResidualStatistics(*one) for one in pairs]


def _present(found: ResidualStatistics) -> ResidualStatistics | None:
    return found if found.rows else None


MAX_STEPS = 500
"""The number of steps of all traces together."""

NOT_FINITE = "No row that was left out has a prediction that is a number."


def diagnostics_of(
    trained: Trained, made: Materialised, encoding: Encoding, inputs: Sequence[str], predictions: Array | None
) -> Diagnostics:
    """Return the diagnostics by `inputs`, in their order.

    `predictions` are those of the sample of training rows: means (N,), or probabilities (N, K), None without rows.
    """
    target = encoding.target
    effects = {one.name for one in encoding.inputs if isinstance(one, EncodedEffects)}
    names = [name for name in inputs if name not in effects][:MAX_INPUTS]
    found = _left_out(trained)
    reliability = None if found is None else reliability_of(target, found.rows.measured, found.source)
    if found is None or reliability is None:
        return Diagnostics(
            reliability=None,
            reason=trained.score.reason if found is None else NOT_FINITE,
            residuals=_of_sample(target, made.sample, predictions, names),
            traces=tuple(_traces(trained, made, target)),
        )
    return Diagnostics(
        reliability=reliability,
        reason=None,
        residuals=_of_left_out(found, made, encoding, names),
        traces=tuple(_traces(trained, made, target)),
    )


@dataclass(frozen=True, eq=False)
class _LeftOut:
    """Rows that were left out, among the training rows for the source "validation", else among the held-out ones."""

    source: LeftOutSource
    rows: MeasuredRows


def _left_out(trained: Trained) -> _LeftOut | None:
    """Return the rows of the validation, else those that were held out."""
    if trained.left_out is not None:
        return _LeftOut("validation", trained.left_out)
    return None if trained.held_out is None else _LeftOut("holdout", trained.held_out)


def _of_left_out(found: _LeftOut, made: Materialised, encoding: Encoding, names: list[str]) -> Residuals:
    measured = found.rows.measured
    finite = thinned(np.flatnonzero(np.isfinite(measured.outputs).all(axis=0)))
    first = made.training if found.source == "holdout" else 0
    inputs = np.array(made.rows()[first + found.rows.rows[finite], : made.inputs])
    outputs, t = measured.outputs[:, finite], measured.t[finite]
    target = encoding.target
    if target.classes:
        residuals = _of_classes(target, outputs.T, t.astype(np.intp))
    else:
        mean = user_mean(target, outputs[0])
        residuals = _of_numbers(mean, user_mean(target, t))
    return _residuals(found.source, residuals, names, decoded(encoding, inputs, names))


def _of_sample(target: EncodedTarget, sample: Block, predictions: Array | None, names: list[str]) -> Residuals | None:
    """Return the residuals of training rows, None without rows that can be predicted."""
    if predictions is None:
        return None
    t = encode_target(target, sample)
    each = predictions if predictions.ndim == 1 else predictions[:, 0]
    sound = np.isfinite(each) & np.isfinite(t)
    if not sound.any():
        return None
    column = sample[target.name]
    if target.classes:
        residuals = _of_classes(target, predictions[sound], t[sound].astype(np.intp))
    elif isinstance(column, CategoryArray):
        return None
    else:
        residuals = _of_numbers(predictions[sound], real_values(column)[sound])
    rows = np.flatnonzero(sound)
    return _residuals("training", residuals, names, {name: taken(sample[name], rows) for name in names})


def _of_numbers(mean: Array, y: Array) -> RowResiduals:
    """Return target less mean (N,), both in the user's units."""
    largest = np.finfo(np.float64).max
    with np.errstate(over="ignore"):
        return RowResiduals("mean", mean, np.clip(y - mean, -largest, largest))


def _of_classes(target: EncodedTarget, probabilities: Array, truth: Indices) -> RowResiduals:
    """Return occurrence less probability (N,): of the second of two classes, of the predicted one of more."""
    if len(target.classes) == 2:
        p = probabilities[:, 1]
        return RowResiduals(f"probability_{text_of(target.classes[1])}", p, (truth == 1) - p)
    p = probabilities.max(axis=1)
    return RowResiduals("probability", p, (truth == probabilities.argmax(axis=1)) - p)


def _residuals(source: ResidualSource, found: RowResiduals, names: list[str], block: Block) -> Residuals:
    return Residuals(
        source=source,
        rows=len(found.residuals),
        prediction=found.against_prediction(),
        inputs=found.against(names, block),
    )


def _traces(trained: Trained, made: Materialised, target: EncodedTarget) -> Iterator[Trace]:
    """Yield the trace of each member that has one."""
    learned, numbers = trained.learned, made.rows()[:, -1]
    if isinstance(learned, LocalModel):
        found, rows = [(0, learned.trace)], 1
    else:
        members = members_of(learned)
        found, rows = [(place, member.trace) for place, member in enumerate(members)], made.training
    each = max(MAX_STEPS // max(len(found), 1), 2)
    for member, trace in found:
        if trace is not None:
            yield Trace(member=member, steps=trace.steps, kept=tuple(_steps(trace, each, target, rows, numbers)))


def _steps(trace: FitTrace, maximum: int, target: EncodedTarget, rows: int, numbers: Array) -> Iterator[TraceStep]:
    """Yield at most so many steps, evenly spaced; `numbers` (N,) are the dataset rows of the training rows."""
    steps = trace.each()
    places = np.unique(np.linspace(0, len(steps) - 1, min(maximum, len(steps))).round().astype(np.intp))
    for one in (steps[place] for place in places.tolist()):
        noise_sd = None if isnan(one.noise_sd) else one.noise_sd
        yield TraceStep(
            iteration=one.iteration,
            phase=one.phase,
            objective=None if isnan(one.objective) else user_log_evidence(target, one.objective, rows),
            gain=None if isnan(one.gain) else one.gain,
            noise_sd=user_noise_sd(target, noise_sd),
            functions=one.functions,
            entered=None if isnan(one.entered) else int(numbers[int(one.entered)]),
            left=None if isnan(one.left) else int(numbers[int(one.left)]),
        )


def warnings(trained: Trained, made: Materialised) -> tuple[TrainingWarning, ...]:
    """Return the warnings about rows that were left out or are far out, about fits, and about the score."""
    found = [TrainingWarning("outlying_input", _of_outlying(one)) for one in made.outlying]
    if not made.encoding.target.classes:
        distant = distant_values(made.rows()[: made.training], made.encoding)
        found += [TrainingWarning("outlying_input", _of_distant(one)) for one in distant]
    if made.copies:
        found.append(TrainingWarning("duplicates", _of_copies(made.copies)))
    if made.training < least_rows(made.inputs) and not made.encoding.target.classes:
        found.append(TrainingWarning("few_rows", _of_few(made.training, made.inputs)))
    lost = [one for one in trained.compared if not one.computable]
    found += [TrainingWarning("numerical_failure", _of_lost(one)) for one in lost]
    if trained.gain is not None and trained.spec.likelihood.targets in OF_TARGETS:
        found.append(TrainingWarning("chosen_likelihood", _of_likelihood(trained, made.encoding.target, trained.gain)))
    found += [TrainingWarning("jitter", detail) for detail in _of_jitter(members_of(trained.learned))]
    return (*found, *_of_score(trained, made))


OF_TARGETS: dict[Targets, str] = {
    "count": "holds whole numbers from 0",
    "share": "holds numbers between 0 and 1",
    "amount": "holds many zeros and numbers above 0",
}
"""The targets whose likelihood a training may choose by itself with a notice, and what such a target is."""


def _of_likelihood(trained: Trained, target: EncodedTarget, gain: tuple[float, float]) -> str:
    mean, error = gain
    likelihood = trained.spec.likelihood
    compared = (
        f"and `{likelihood.type}` predicts held-out rows better than `gaussian`, by"
        if mean > MIN_STANDARD_ERRORS * error
        else f"intervals under `gaussian` reach beyond that, and `{likelihood.type}` predicts held-out rows as well,"
        " with a gain of"
    )
    return (
        f"`{target.name}` {OF_TARGETS[likelihood.targets]}, {compared} {mean:.2g} nats a row"
        f" (standard error {error:.1g}):"
        f' it was chosen; request "likelihood": {{"type": "gaussian"}} for Gaussian noise.'
    )


def _numbered(rows: Iterable[int]) -> str:
    """Return the numbers of rows, from 1."""
    return ", ".join(str(row + 1) for row in rows)


def _of_outlying(one: OutlyingInput) -> str:
    more = f" and {one.count - len(one.rows):,} more" if one.count > len(one.rows) else ""
    numbers = f"{_numbered(one.rows)}{more} of the data"
    rows = f"row {numbers} is" if one.count == 1 else f"rows {numbers} are"
    ordinary = f"{one.limits.minimum:.4g} to {one.limits.maximum:.4g}"
    return f"`{one.name}` lies far outside its other values ({ordinary}): {rows} left out."


def _of_distant(one: DistantValue) -> str:
    return (
        f"`{one.name}` of row {one.row + 1} of the data lies {one.ratio:.2g} times as far from the median as that of"
        " any other row: beyond these, predictions follow from this row alone."
    )


def _of_copies(copies: int) -> str:
    counts = "1 row repeats another" if copies == 1 else f"{copies:,} rows repeat others"
    return f"{counts} in inputs and target: each counts once."


def _of_few(rows: int, inputs: int) -> str:
    columns = "1 column" if inputs == 1 else f"{inputs:,} columns"
    return (
        f"{rows:,} rows were learned from, and the inputs have {columns} once encoded: with fewer than"
        f" {least_rows(inputs):,} rows, two for each column and two more, intervals can be too narrow."
    )


def _of_lost(one: Compared) -> str:
    kernels = [basis.kernel.type for basis in one.spec.basis if isinstance(basis, KernelBasis)]
    name = " ".join([*kernels[:1], one.spec.prior.type, "with", one.spec.likelihood.type, "noise"]).replace("_", " ")
    return f"An alternative could not be computed and was left out: {name} ({one.reason})."


def _of_jitter(models: tuple[Model, ...]) -> Iterator[str]:
    for model in models:
        if model.jitter is not None and model.jitter > 1.5 * JITTER and not model.is_exact:
            yield (
                f"{model.jitter:.0e} was added to the diagonal of a kernel matrix, where {JITTER:.0e} is usual, to be"
                " computed with: its functions are nearly the same, since inputs or rows repeat one another."
            )


def _of_score(trained: Trained, made: Materialised) -> Iterator[TrainingWarning]:
    """Yield the warnings about held-out rows that count with a bound, and a score below that of a constant."""
    if trained.left_out is None or trained.left_out.measured.is_clipped is None:
        return
    measured, places = trained.left_out.measured, trained.left_out.rows[trained.left_out.measured.is_clipped]
    if len(places):
        numbers = made.rows()[places, -1].astype(np.intp).tolist()
        several = len(members_of(trained.learned)) > 1
        yield TrainingWarning("clipped_log_density", _of_clipped(sorted(numbers), len(measured.t), several=several))
    score = Constant.beside(measured)
    if score.is_better:
        yield TrainingWarning("worse_than_constant", _of_constant(score, made.encoding.target))


def _of_clipped(numbers: list[int], total: int, *, several: bool) -> str:
    count, reference = len(numbers), "one normal distribution" + (" or the best process" if several else "")
    named = _numbered(numbers[:MAX_NAMED])
    more = f" and {count - MAX_NAMED:,} more" if count > MAX_NAMED else ""
    lie, counted, rows = ("lies", "counts", "row") if count == 1 else ("lie", "count", "rows")
    return (
        f"{count:,} of {total:,} held-out rows {lie} more than {MAX_SHORTFALL:g} nats below {reference} and {counted}"
        f" as {MAX_SHORTFALL:g}: {rows} {named}{more} of the data. The score is an upper bound."
    )


@dataclass(frozen=True)
class Constant:
    """The scores of a version and of one normal distribution of its held-out targets, in nats a row of t."""

    version: float
    standard_error: float
    constant: float

    @classmethod
    def beside(cls, measured: Measured) -> "Constant":
        """The scores of rows of numbers: the normal distribution has the mean and variance of all their targets."""
        nll = measured.each["nll"]
        constant = float(log_one_normal(measured.t, half_width=measured.half_width).mean())
        return cls(-float(nll.mean()), standard_error(nll), constant)

    @property
    def is_better(self) -> bool:
        """True where the constant's score is above the version's by more than the standard error of that."""
        return self.constant - self.version > self.standard_error


def _of_constant(score: Constant, target: EncodedTarget) -> str:
    version, constant = (user_log_evidence(target, one, 1) for one in (score.version, score.constant))
    return (
        f"The score, {version:.4g} nats, is below the {constant:.4g} of one normal distribution of the held-out targets"
        f" by more than its standard error, {score.standard_error:.2g}: a constant predicts rows better that were left"
        " out."
    )


ATYPICAL = 0.25
"""The weight, relative to an ordinary row, below which a row is an outlier: 4 scales away at 4 degrees of freedom."""

MAX_OUTLIERS = 100


def outliers(model: LearnedModel, made: Materialised) -> tuple[Outlier, ...]:
    """Return the outliers among the training rows, the least typical first; none without heavy tails."""
    likelihood = likelihood_of(model)
    if not isinstance(likelihood, StudentT):
        return ()
    learned = made.rows()[: made.training]
    prediction = predict(alone(model), learned[:, : made.inputs])
    assert isinstance(prediction, HeavyTailedPrediction)
    typicality = likelihood.typicality(prediction, np.array(learned[:, made.inputs]))
    minimum = np.argsort(typicality, kind="stable")[:MAX_OUTLIERS]
    return tuple(
        Outlier(int(number), float(value))
        for number, value in zip(learned[minimum, -1].tolist(), typicality[minimum].tolist(), strict=True)
        if value < ATYPICAL
    )
