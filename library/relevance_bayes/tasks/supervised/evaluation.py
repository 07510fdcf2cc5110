"""Predictions for rows with a known target, with the target, and their scores."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Self

import numpy as np

from relevance_bayes.core.models.pool import AnyReady
from relevance_bayes.core.models.prediction import ClassPrediction, NumberPrediction, Prediction
from relevance_bayes.core.types import Array, Indices, Mask
from relevance_bayes.tables.columns import Block, CategoryArray, block_rows
from relevance_bayes.tables.encoding import (
    EncodedTarget,
    Encoding,
    encode_known,
    encode_noise,
    encode_target,
    gaps,
    real_values,
    user_mean,
    user_sd,
)
from relevance_bayes.tasks.decisions import most_probable
from relevance_bayes.tasks.prediction import (
    COVERAGES,
    LEVELS,
    MARGIN,
    MARGIN_OF_COUNTS,
    TEMPERED,
    Labelled,
    LabelledBlock,
    LabelledClasses,
    LabelledNumbers,
    ScoredRows,
    tempered_ratio,
)
from relevance_bayes.tasks.supervised.averages import AveragedRows
from relevance_bayes.tasks.supervised.input_rows import InputDistribution

ROWS_AT_ONCE = 16_384
"""The number of rows of one evaluation of the model, which bounds the memory of a large batch."""


def labelled_block(encoding: Encoding, distribution: InputDistribution, ready: AnyReady, block: Block) -> LabelledBlock:
    """Return a model's predictions for a block with the column of its target, and the targets."""
    target, rows = encoding.target, TargetRows.of(encoding, distribution, block)
    raw = _raw(target, block)
    parts = [*rows.predictions(ready)]
    labelled = [_labelled(target, prediction, rows.t[some], raw[some]) for some, prediction in parts]
    places = np.concatenate([some for some, _ in parts] or [np.empty(0, np.intp)])
    known, sound = rows.known, rows.sound
    return LabelledBlock(rows.chosen, places, tuple(labelled), int((~known).sum()), int((known & ~sound).sum()))


@dataclass(frozen=True, eq=False)
class TargetRows:
    """The rows of a block with the column of the target: `inputs` (N, d), `noise_sd` (N,) where rows have their own.

    `t` (N,) are the encoded targets; rows that are `known` have one, `sound` ones can be predicted.
    """

    inputs: Array
    noise_sd: Array | None
    t: Array
    known: Mask
    sound: Mask
    averaged: AveragedRows | None

    @classmethod
    def of(cls, encoding: Encoding, distribution: InputDistribution, block: Block) -> Self:
        """Return the rows of a block, encoded; `distribution` is that of the training rows."""
        target = encoding.target
        inputs, faults = encode_known(encoding, block)
        noise_sd, wrong = encode_noise(target, block)
        sound = np.isfinite(inputs[:, 0]) if inputs.shape[1] else np.ones(block_rows(block), np.bool_)
        if noise_sd is not None:
            sound &= np.isfinite(noise_sd)
        known = ~gaps(block[target.name])
        averaged = AveragedRows.of(distribution, block, (*faults, *wrong), noise_sd) if faults else None
        if averaged is not None:
            sound[averaged.places] = True
            averaged = averaged.of_rows(known)
        return cls(inputs, noise_sd, encode_target(target, block), known, sound, averaged)

    @property
    def chosen(self) -> Mask:
        """The rows (N,) that have a target and can be predicted."""
        return self.known & self.sound

    def predictions(self, ready: AnyReady) -> Iterator[tuple[Indices, Prediction]]:
        """Yield the places of some chosen rows at a time, with their predictions."""
        chosen, noise_sd = self.chosen, self.noise_sd
        if self.averaged is not None:
            chosen[self.averaged.places] = False
            for some, prediction, _ in self.averaged.predictions(ready, ROWS_AT_ONCE):
                yield some, prediction
        places = np.flatnonzero(chosen)
        for first in range(0, len(places), ROWS_AT_ONCE):
            some = places[first : first + ROWS_AT_ONCE]
            prediction, _ = ready.predict(self.inputs[some], None if noise_sd is None else noise_sd[some])
            yield some, prediction


def _raw(target: EncodedTarget, block: Block) -> Array:
    """Return the target in the user's units, where it is a number."""
    column = block[target.name]
    return np.full(block_rows(block), np.nan) if isinstance(column, CategoryArray) else real_values(column)


def _labelled(target: EncodedTarget, prediction: Prediction, t: Array, raw: Array) -> Labelled:
    if isinstance(prediction, ClassPrediction):
        truth = np.where(np.isnan(t), -1.0, t).astype(np.intp)
        return LabelledClasses(target.classes, truth, prediction.probabilities, most_probable(prediction.probabilities))
    return _labelled_numbers(target, prediction, t, raw)


def _labelled_numbers(target: EncodedTarget, prediction: NumberPrediction, t: Array, raw: Array) -> LabelledNumbers:
    tails = [(100 - percent) / 200.0 for percent in COVERAGES]
    with np.errstate(over="ignore"):  # the density so far from the mean underflows to 0
        log_density = prediction.log_density(t) - np.log(target.scale)
        below, upto = prediction.distribution(t)
    return LabelledNumbers(
        target=raw,
        mean=user_mean(target, prediction.mean),
        sd=user_sd(target, np.sqrt(prediction.variance)),
        log_density=log_density,
        below=below,
        upto=upto,
        lower=user_mean(target, np.array([prediction.quantile(tail) for tail in tails])),
        upper=user_mean(target, np.array([prediction.quantile(1.0 - tail) for tail in tails])),
    )


NODES = 32
"""The number of quantiles by which means under a predictive distribution are computed: Gauss-Legendre quadrature over s
with the probability s^2 (3 - 2 s), since the log density has a singularity at the probabilities 0 and 1."""

_POINTS, _WEIGHTS = np.polynomial.legendre.leggauss(NODES)
_PLACES = (_POINTS + 1.0) / 2.0
QUANTILES = np.square(_PLACES) * (3.0 - 2.0 * _PLACES)
QUANTILE_WEIGHTS = 3.0 * _WEIGHTS * _PLACES * (1.0 - _PLACES)


def scored_rows(encoding: Encoding, distribution: InputDistribution, ready: AnyReady, block: Block) -> ScoredRows:
    """Return the scores of a model's predictions for a block with the column of its target."""
    rows, n_levels = TargetRows.of(encoding, distribution, block), 0 if encoding.target.classes else len(LEVELS)
    figures = np.full((7 + n_levels, len(rows.t)), np.nan)
    for some, prediction in rows.predictions(ready):
        t = rows.t[some]
        if isinstance(prediction, ClassPrediction):
            figures[:, some] = class_figures(prediction, t)
        else:
            figures[:, some] = number_figures(encoding.target, prediction, t)
    log_score, expected, lower, higher, correct, confidence, miss = figures[:7]
    return ScoredRows(log_score, expected, lower, higher, rows.chosen, figures[7:], correct, confidence, miss)


def class_figures(prediction: ClassPrediction, t: Array) -> Array:
    """Return log score, its expectation, both ratios, correctness, confidence and NaN, (7, N).

    A class that the model does not know has the probability 0.
    """
    known, p = np.isfinite(t), prediction.probabilities
    truth = np.where(known, t, 0.0).astype(np.intp)
    with np.errstate(divide="ignore"):
        each = np.log(p).T
    log_score = np.where(known, np.take_along_axis(each, truth[None], axis=0)[0], -np.inf)
    expected = (p.T * np.where(p.T > 0.0, each, 0.0)).sum(axis=0)
    ratios = [tempered_ratio(log_score, each, p.T, power=power) for power in TEMPERED.values()]
    chosen = p.argmax(axis=1)
    unknown = np.full(len(t), np.nan)
    return np.array([log_score, expected, *ratios, known & (truth == chosen), p.max(axis=1), unknown])


def number_figures(target: EncodedTarget, prediction: NumberPrediction, t: Array) -> Array:
    """Return log score, its expectation, both ratios, twice NaN, a miss of 95 %, membership in intervals, (10, N)."""
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        log_score = prediction.log_density(t)
        each = np.array([prediction.log_density(prediction.quantile(float(one))) for one in QUANTILES])
    log_score = np.where(np.isnan(log_score), -np.inf, log_score)
    weights = np.broadcast_to(QUANTILE_WEIGHTS[:, None], each.shape)
    below, upto = prediction.distribution(t)
    margin = MARGIN_OF_COUNTS if (below < upto).any() else MARGIN
    ratios = [tempered_ratio(log_score, each, weights, power=power, margin=margin) for power in TEMPERED.values()]
    ends = [prediction.interval(level / 100.0) for level in LEVELS]
    inside = [(lower <= t) & (t <= upper) for lower, upper in ends]
    lowest, highest = ends[-1]
    miss = 1.0 - (prediction.distribution(highest)[1] - prediction.distribution(lowest)[0])
    unit, unknown = np.log(target.scale), np.full(len(t), np.nan)
    return np.array([log_score - unit, (weights * each).sum(axis=0) - unit, *ratios, unknown, unknown, miss, *inside])
