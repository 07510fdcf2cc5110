"""Predictions of numbers and classes, scored by outcomes."""

import numpy as np

from relevance_bayes.core.pool import AnyReady
from relevance_bayes.core.prediction import ClassPrediction, NumberPrediction
from relevance_bayes.core.types import Array
from relevance_bayes.tables.columns import Block
from relevance_bayes.tables.encoding import EncodedTarget, Encoding
from relevance_bayes.tasks.scored import LEVELS, MARGIN, MARGIN_OF_COUNTS, TEMPERED, ScoredRows, tempered_ratio
from relevance_bayes.tasks.supervised.evaluation import TargetRows
from relevance_bayes.tasks.supervised.input_rows import InputDistribution

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
    return ScoredRows(rows.chosen, log_score, expected, lower, higher, figures[7:], correct, confidence, miss)


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
