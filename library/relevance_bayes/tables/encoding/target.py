"""The target to t, and results from the units of t to the user's."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np

from relevance_bayes.core.integrated import LogEvidence
from relevance_bayes.core.types import Array
from relevance_bayes.tables.columns import Block, CategoryColumn, Column
from relevance_bayes.tables.encoding.columns import EncodedTarget
from relevance_bayes.tables.encoding.inputs import MAX_SCALED
from relevance_bayes.tables.encoding.raw import real_values
from relevance_bayes.types.errors import Fault

_SCALED_SCORES = frozenset({"rmse", "mae"})
_MAX_FLOAT = float(np.finfo(np.float64).max)


def encode_target(target: EncodedTarget, block: Block) -> Array:
    """Return targets t (N,) of a block's rows, NaN where missing."""
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
    """Return predictive means (N,), or bounds of intervals, in the user's units."""
    with np.errstate(over="ignore"):
        return np.minimum(np.maximum(mean * target.scale + target.shift, -_MAX_FLOAT), _MAX_FLOAT)


def user_sd(target: EncodedTarget, sd: Array) -> Array:
    """Return standard deviations (N,) in the user's units."""
    with np.errstate(over="ignore"):
        return np.minimum(sd * target.scale, _MAX_FLOAT)


def user_variance(target: EncodedTarget, variance: Array) -> Array:
    """Return variances (N,) in the user's units squared, at most the largest float64."""
    with np.errstate(over="ignore"):
        return np.minimum(variance * target.scale * target.scale, _MAX_FLOAT)


def user_noise_sd(target: EncodedTarget, noise_sd: float | None) -> float | None:
    """Return the noise sd in the user's units, or of the logarithm for a logarithmic target; None for classes."""
    return None if noise_sd is None or target.classes else min(noise_sd * target.latent_unit, _MAX_FLOAT)


def user_process_sd(target: EncodedTarget, signal_variance: float | None) -> float | None:
    """Return the sd of a process of variance `signal_variance` in the units of the noise, None without a process."""
    return None if signal_variance is None else min(math.sqrt(signal_variance) * target.latent_unit, _MAX_FLOAT)


def user_log_evidence(target: EncodedTarget, log_evidence: float, rows: int) -> float:
    """Return log p(y), in nats, of `rows` rows from log p(t): y = scale t + shift has t's density over the scale."""
    return log_evidence - rows * math.log(target.scale)


def user_evidence(target: EncodedTarget, evidence: LogEvidence, rows: int) -> LogEvidence:
    """Return the evidence in the user's units; hyperpriors and price have no unit."""
    return replace(evidence, value=user_log_evidence(target, evidence.value, rows))


def user_scores(target: EncodedTarget, scores: Mapping[str, float]) -> dict[str, float]:
    """Return scores in the user's units: errors scaled, the negative log density shifted, all others unchanged."""
    return {name: _user_score(target, name, score) for name, score in scores.items()}


def _user_score(target: EncodedTarget, name: str, score: float) -> float:
    if name in _SCALED_SCORES:
        return min(score * target.scale, _MAX_FLOAT)
    return score + math.log(target.scale) if name == "nll" else score


def encode_noise(target: EncodedTarget, block: Block) -> tuple[Array | None, tuple[Fault, ...]]:
    """Return noise sds (N,) of a block's rows, None without the column, and faults, where the sd is NaN.

    A fault is a missing value where other rows have one, a value of 0 or below, or one too far from the targets.
    """
    if target.noise_column is None or target.noise_column not in block:
        return None, ()
    column = block[target.noise_column]
    if isinstance(column, CategoryColumn):
        raise TypeError(f"column {target.noise_column!r}: expected numbers, got texts")
    raw = real_values(column)
    if np.isnan(raw).all():
        return None, ()
    with np.errstate(over="ignore"):
        scaled = raw / target.scale
    sound = (scaled >= 1.0 / MAX_SCALED) & (scaled <= MAX_SCALED)
    faults = () if sound.all() else tuple(_faults(target.noise_column, raw, np.flatnonzero(~sound).tolist()))
    return np.where(sound, scaled, np.nan), faults


def _faults(name: str, raw: Array, rows: list[int]) -> Iterator[Fault]:
    for row in rows:
        sd = raw[row]
        if np.isnan(sd):
            detail = f"`{name}` is missing: expected a value in each row of a table, or in none."
        elif sd <= 0.0:
            detail = f"`{name}` is {sd:g}, expected a noise sd above 0."
        else:
            detail = f"`{name}` is {sd:g}, too far from the sd of the targets for float64."
        yield Fault(detail, row=row, column=name)
