"""The posterior of the latent function."""

from collections.abc import Sequence

import numpy as np

from app.exports.onnx_file.functions import columns_of, kernel_columns
from app.exports.onnx_file.graph import Graph, Value, total
from app.exports.onnx_file.inputs import Encoded
from app.exports.onnx_file.predictions import Found
from relevance_bayes.core.linalg import solve_lower
from relevance_bayes.core.model import LogNoise, Model
from relevance_bayes.core.pool import Pool
from relevance_bayes.core.prediction import Ready


def latent(graph: Graph, ready: Ready, rows: Encoded) -> tuple[Found, Value | None]:
    """Return mean p'mu, variance |root'p|^2 and residual variance, and the support where it is known."""
    model = ready.model
    inputs = _within_range(rows.matrix, model)
    none = rows.unsound
    noise_sd = none + (model.noise_sd or 0.0) if rows.noise_sd is None else rows.noise_sd
    if model.log_noise is not None and ready.noise is not None:
        noise_sd = _noise_sd(latent(graph, ready.noise, rows)[0], model.log_noise)
    parts = [columns_of(one, inputs) for one in model.functions if one.size]
    columns = graph.beside(parts) if parts else None
    if columns is None:
        mean = none + np.zeros((1, model.mean.shape[1] if model.mean.ndim > 1 else 1))
        weights = none
    else:
        mean = columns @ (model.mean if model.mean.ndim > 1 else model.mean[:, None])
        weights = graph.sum((columns @ ready.root).square(), 1)
    left, unreached = _left(graph, ready, inputs, columns)
    if unreached is None:
        return Found(mean, weights, none, noise_sd), None
    if left is None:
        return Found(mean, weights, none + unreached, noise_sd), None
    return Found(mean, weights, left * unreached, noise_sd), (1.0 - left).at_least(0.0)


def _within_range(inputs: Value, model: Model) -> Value:
    """Return the inputs at which the model is evaluated: see `InputRange`."""
    bounds, graph = model.input_range, inputs.graph
    return inputs if bounds is None else graph.node("Min", graph.node("Max", inputs, bounds.lower), bounds.upper)


def _noise_sd(found: Found, second: LogNoise) -> Value:
    """Return the square root of E exp g, within its bounds: see `LogNoise`."""
    return ((found.mean + found.variance * 0.5).at_least(second.min_log).at_most(second.max_log) * 0.5).exp()


def pooled(graph: Graph, pool: Pool, rows: Encoded) -> tuple[Found, Value | None]:
    """Return the product of the members' densities, see `ReadyPool.predict`, with its noise."""
    members = [latent(graph, Ready.of(member), rows) for member in pool.members]
    variances = [found.variance + found.noise_sd.square() for found, _ in members]
    precisions = [float(weight) / one for weight, one in zip(pool.weights, variances, strict=True)]
    variance = 1.0 / total(precisions)
    shares = [precision * variance for precision in precisions]
    parts = [share * variance / one for share, one in zip(shares, variances, strict=True)]
    supports = [support for _, support in members if support is not None]
    known = len(supports) == len(members)
    return Found(
        mean=total([share * found.mean for share, (found, _) in zip(shares, members, strict=True)]),
        weights=total([part * found.weights for part, (found, _) in zip(parts, members, strict=True)]),
        residual=total([part * found.residual for part, (found, _) in zip(parts, members, strict=True)]),
        noise_sd=total(
            [part * found.noise_sd.square() for part, (found, _) in zip(parts, members, strict=True)]
        ).sqrt(),
    ), total([share * support for share, support in zip(shares, supports, strict=True)]) if known else None


def of_members(graph: Graph, members: Sequence[Model], rows: Encoded) -> tuple[list[Found], Value | None]:
    """Return the latents of models, and the mean of their supports where one is known."""
    found = [latent(graph, Ready.of(member), rows) for member in members]
    known = [support for _, support in found if support is not None]
    return [one for one, _ in found], total(known) * (1.0 / len(known)) if known else None


def _left(graph: Graph, ready: Ready, inputs: Value, columns: Value | None) -> tuple[Value | None, float | None]:
    """Return the residual share of the prior variance, None for all of it, and the prior variance."""
    if ready.augmented is not None:
        augmented = ready.augmented
        p = kernel_columns(augmented.functions, inputs)
        weighted = p * np.broadcast_to(augmented.precision, (1, augmented.functions.size))
        known = graph.sum(p * weighted, 1)
        if columns is None:
            return 1.0 / (known * augmented.prior + 1.0), augmented.prior
        towards = weighted @ augmented.reached
        e = 1.0 - graph.sum(columns @ augmented.whitened * towards, 1)
        known = (known - graph.sum(towards.square(), 1)).at_least(0.0)
        return e.square() / (known * augmented.prior + 1.0), augmented.prior
    if ready.whitening is None or not len(ready.whitening.lower) or columns is None:
        return None, ready.model.signal_variance
    lower = ready.whitening.lower
    E, inverse = columns.columns(np.arange(len(lower))), solve_lower(lower, np.eye(len(lower))).T
    reached = E @ inverse
    if ready.model.is_exact:  # as `Ready.refined`
        reached = reached + (E - reached @ lower.T) @ inverse
    return (1.0 - graph.sum(reached.square(), 1)).at_least(0.0), ready.model.signal_variance
