"""Models from their part of a document, with arrays of consistent sizes."""

from collections.abc import Sequence

import numpy as np

from relevance_bayes.core.evidence import LogEvidence
from relevance_bayes.core.hurdle import HurdleModel
from relevance_bayes.core.model import InputRange, LogNoise, Model
from relevance_bayes.core.per_class import MIN_CLASSES, PerClass
from relevance_bayes.core.pool import LearnedModel, Pool
from relevance_bayes.core.posterior import Augmentation
from relevance_bayes.core.types import Array
from relevance_bayes.documents.functions import functions_of, kernel_functions_of
from relevance_bayes.documents.learned_schema import (
    AugmentationPart,
    HurdlePart,
    InputRangePart,
    LocalPart,
    LogNoisePart,
    ModelPart,
    PerClassPart,
    PoolPart,
)
from relevance_bayes.documents.local import local_model_of
from relevance_bayes.documents.sizes import matrix, vector, wrong

MAX_LOG_NOISE = 600.0
"""The maximum log noise variance, in the target's encoded units, whose exponential is a finite float64."""


def learned_of(
    part: ModelPart | PoolPart | PerClassPart | HurdlePart | LocalPart, inputs: int, classes: int
) -> LearnedModel:
    """Return what was learned from so many inputs; `classes` is 0 for a regression. Raises InvalidDataError."""
    match part:
        case LocalPart():
            trend = None if part.trend is None else _model(part.trend, inputs, classes, "/model/trend")
            return local_model_of(part, inputs, trend)
        case ModelPart():
            return _model(part, inputs, classes, "/model")
        case PoolPart():
            return _pool(part, inputs, classes)
        case PerClassPart():
            return _per_class(part, inputs, classes)
        case HurdlePart():
            zero = _model(part.zero, inputs, 2, "/model/zero")
            return HurdleModel(zero, _model(part.positive, inputs, 0, "/model/positive"), part.likelihood)


def _per_class(part: PerClassPart, inputs: int, classes: int) -> PerClass:
    if len(part.members) != classes or classes < MIN_CLASSES:
        expected = f"Expected a model for each of the target's classes, {MIN_CLASSES} at least"
        raise wrong("/model/members", f"{expected}; got {len(part.members)} for {classes}.")
    members = [_model(one, inputs, classes, f"/model/members/{place}") for place, one in enumerate(part.members)]
    return PerClass(tuple(members), part.likelihood)


def _pool(part: PoolPart, inputs: int, classes: int) -> Pool:
    weights = vector(part.weights, len(part.members), "/model/weights")
    if not np.isclose(weights.sum(), 1.0):
        raise wrong("/model/weights", f"Expected weights of a pool that sum to 1, got {weights.sum():g}.")
    members = [_model(one, inputs, classes, f"/model/members/{place}") for place, one in enumerate(part.members)]
    return Pool(tuple(members), weights, part.degrees_of_freedom)


def _model(part: ModelPart, inputs: int, classes: int, where: str) -> Model:
    named = enumerate(part.functions)
    functions = tuple(functions_of(one, inputs, f"{where}/functions/{place}") for place, one in named)
    size = sum(one.size for one in functions)
    latents = classes if part.likelihood.latents > 1 else None
    others = size - functions[0].size if functions else size
    is_exact = part.signal_variance is not None and len(part.covariance) == others
    weights = others if is_exact else size  # the weights without kernel, which have a covariance
    return Model(
        likelihood=part.likelihood,
        functions=functions,
        mean=_mean(part.mean, size, latents, f"{where}/mean"),
        covariance=matrix(part.covariance, (weights, weights), f"{where}/covariance"),
        alpha=vector(part.alpha, size, f"{where}/alpha"),
        gamma=vector(part.gamma, size, f"{where}/gamma"),
        noise_sd=part.noise_sd,
        evidence=LogEvidence(**vars(part.evidence)),
        inputs=inputs,
        rows=part.rows,
        candidates=part.candidates,
        termination=part.termination,
        signal_variance=part.signal_variance,
        last_gain=part.last_gain,
        next_gain=part.next_gain,
        augmentation=None if part.augmentation is None else _augmentation(part.augmentation, inputs, where),
        jitter=part.jitter,
        log_noise=None if part.log_noise is None else _log_noise(part.log_noise, inputs, f"{where}/log_noise"),
        input_range=None if part.input_range is None else _input_range(part.input_range, inputs, where),
        degrees_of_freedom=part.degrees_of_freedom,
    )


def _log_noise(part: LogNoisePart, inputs: int, where: str) -> LogNoise:
    if part.model.log_noise is not None:
        raise wrong(f"{where}/model/log_noise", "Expected no noise of the noise.")
    if part.model.likelihood.type != "log_variance":
        raise wrong(f"{where}/model/likelihood", 'Expected "log_variance", that of the noise.')
    if not part.min <= part.max <= MAX_LOG_NOISE:
        raise wrong(f"{where}/max", f"Expected at least `min` and at most {MAX_LOG_NOISE:g}.")
    return LogNoise(_model(part.model, inputs, 0, f"{where}/model"), part.min, part.max)


def _input_range(part: InputRangePart, inputs: int, where: str) -> InputRange:
    where = f"{where}/input_range"
    lower, upper = vector(part.lower, inputs, f"{where}/lower"), vector(part.upper, inputs, f"{where}/upper")
    return InputRange(lower, upper)


def _mean(mean: Sequence[float] | Sequence[list[float]] | Array, size: int, latents: int | None, where: str) -> Array:
    if isinstance(mean, np.ndarray):
        return mean
    rows, numbers = _rows_and_numbers(mean)
    if latents is None:
        if rows:
            raise wrong(where, "Expected a weight for each function, got a list of lists.")
        return vector(numbers, size, where)
    if numbers:
        raise wrong(where, f"Expected a weight for each function and each of {latents} classes.")
    return matrix(rows, (size, latents), where)


def _rows_and_numbers(mean: Sequence[float] | Sequence[list[float]]) -> tuple[list[list[float]], list[float]]:
    rows, numbers = list[list[float]](), list[float]()
    for one in mean:
        if isinstance(one, list):
            rows.append(one)
        else:
            numbers.append(one)
    return rows, numbers


def _augmentation(part: AugmentationPart, inputs: int, where: str) -> Augmentation:
    where = f"{where}/augmentation"
    functions = kernel_functions_of(part.functions, inputs, f"{where}/functions")
    known = part.precisions
    precisions = None if known is None else vector(known, functions.size, f"{where}/precisions")
    return Augmentation(functions, part.spread, precisions)
