"""The target to t, and results back from t's units to the user's."""

import math
from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from relevance_bayes.core.marginal import LogEvidence
from relevance_bayes.core.types import Array
from relevance_bayes.tables.columns import Block, CategoryColumn, Column
from relevance_bayes.tables.encoding.columns import EncodedTarget
from relevance_bayes.tables.encoding.raw import real_values

_SCALED_SCORES = frozenset({"rmse", "mae"})
_MAX_FLOAT = float(np.finfo(np.float64).max)


def encode_target(target: EncodedTarget, block: Block) -> Array:
    """Targets t (N,) of a block's rows, NaN where missing."""
    column = block[target.name]
    if target.classes:
        return _class_numbers(target, column)
    if isinstance(column, CategoryColumn):
        raise TypeError(f"target {target.name!r}: expected {target.kind}, got texts")
    values = real_values(column)
    with np.errstate(over="ignore"):
        scaled = (values - target.shift) / target.scale
        return np.where(np.isinf(scaled), values / target.scale - target.shift / target.scale, scaled)


def _class_numbers(target: EncodedTarget, column: Column) -> Array:
    if isinstance(column, CategoryColumn):
        places = {label: float(place) for place, label in enumerate(target.classes)}
        numbers = [places.get(label, np.nan) for label in column.labels]
        return np.array([*numbers, np.nan])[column.codes]
    values, labels = real_values(column), np.array([float(label) for label in target.classes])
    nearest = np.searchsorted(labels[:-1], values)
    return np.where(labels[nearest] == values, nearest.astype(np.float64), np.nan)


def user_mean(target: EncodedTarget, mean: Array) -> Array:
    """Predictive means (N,), or bounds of intervals, from t's units to the user's."""
    with np.errstate(over="ignore"):
        return np.minimum(np.maximum(mean * target.scale + target.shift, -_MAX_FLOAT), _MAX_FLOAT)


def user_sd(target: EncodedTarget, sd: Array) -> Array:
    """Standard deviations (N,) in the user's units."""
    with np.errstate(over="ignore"):
        return np.minimum(sd * target.scale, _MAX_FLOAT)


def user_variance(target: EncodedTarget, variance: Array) -> Array:
    """Variances (N,) in the user's units squared; the largest float64 where they are larger than that."""
    with np.errstate(over="ignore"):
        return np.minimum(variance * target.scale * target.scale, _MAX_FLOAT)


def user_noise_sd(target: EncodedTarget, noise_sd: float | None) -> float | None:
    """The noise's sd in the user's units, or of the logarithm where that is learned; None where classes are."""
    return None if noise_sd is None or target.classes else min(noise_sd * target.latent_unit, _MAX_FLOAT)


def user_process_sd(target: EncodedTarget, amplitude: float | None) -> float | None:
    """The sd of a process of variance `amplitude` in the same units as the noise's, None where there is no process."""
    return None if amplitude is None else min(math.sqrt(amplitude) * target.latent_unit, _MAX_FLOAT)


def user_log_evidence(target: EncodedTarget, log_evidence: float, rows: int) -> float:
    """Log p(y), in nats, of `rows` rows from log p(t): y = scale t + shift has the density of t, over the scale."""
    return log_evidence - rows * math.log(target.scale)


def user_evidence(target: EncodedTarget, evidence: LogEvidence, rows: int) -> LogEvidence:
    """The evidence of the targets in the user's units; hyperpriors and price have no unit."""
    return replace(evidence, value=user_log_evidence(target, evidence.value, rows))


def user_scores(target: EncodedTarget, scores: Mapping[str, float]) -> dict[str, float]:
    """Scores in the user's units: errors scaled, the negative log density shifted, all others as they are."""
    return {name: _user_score(target, name, score) for name, score in scores.items()}


def _user_score(target: EncodedTarget, name: str, score: float) -> float:
    if name in _SCALED_SCORES:
        return min(score * target.scale, _MAX_FLOAT)
    return score + math.log(target.scale) if name == "nll" else score
