"""Diagnostics of a training, in the user's units and with the rows of the dataset."""

from collections.abc import Iterator
from dataclasses import dataclass
from math import isnan

import numpy as np

from relevance_bayes.core.fit_trace import FitTrace
from relevance_bayes.core.local_model import LocalModel
from relevance_bayes.core.pool import members_of
from relevance_bayes.core.selection import MeasuredRows, Trained
from relevance_bayes.core.types import Array, Indices
from relevance_bayes.tables.columns import Block, CategoryColumn, taken
from relevance_bayes.tables.encoding import (
    EncodedEffects,
    EncodedTarget,
    Encoding,
    encode_target,
    real_values,
    user_log_evidence,
    user_mean,
    user_noise_sd,
)
from relevance_bayes.tasks.supervised.materialise import Materialised
from relevance_bayes.tasks.supervised.reliability import reliability_of
from relevance_bayes.tasks.supervised.residuals import MAX_INPUTS, RowResiduals, decoded, thinned
from relevance_bayes.types.diagnostics import Diagnostics, LeftOutSource, Residuals, ResidualSource, Trace, TraceStep
from relevance_bayes.types.values import text_of

MAX_STEPS = 500
"""The number of steps of all traces together."""

NOT_FINITE = "No row that was left out has a prediction that is a number."


def diagnostics_of(trained: Trained, made: Materialised, encoding: Encoding, predictions: Array | None) -> Diagnostics:
    """Return the diagnostics; `predictions` are those of the sample of training rows: means (N,), or probabilities
    (N, K), None without rows."""
    target = encoding.target
    names = [one.name for one in encoding.inputs if not isinstance(one, EncodedEffects)][:MAX_INPUTS]
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
    elif isinstance(column, CategoryColumn):
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
