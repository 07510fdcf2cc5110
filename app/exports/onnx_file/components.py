"""Principal components and novelty."""

import numpy as np
from onnx import TensorProto

from app.exports.onnx_file.functions import kernel_columns
from app.exports.onnx_file.graph import Value
from relevance_bayes.core.basis import KernelFunctions
from relevance_bayes.core.types import Array
from relevance_bayes.tasks.components.report import COMPONENTS_REPORTED, ComponentsPredictor


def component_outputs(predictor: ComponentsPredictor, inputs: Value) -> dict[str, Value]:
    """Return the first components (N, K), the reconstruction error, the log density and the novelty, each (N, 1)."""
    found, graph = predictor.components, inputs.graph
    images = kernel_columns(KernelFunctions(found.kernel, found.input_map, found.centres, found.rows), inputs)
    projected = images @ found.axes
    first = projected.columns(np.arange(min(COMPONENTS_REPORTED, len(found.variances))))
    noise = found.noise_variance
    along = projected.square() @ (1.0 / (found.variances + noise))[:, None]
    volume = float(np.log1p(found.variances / noise).sum())
    density = (along + volume + _missed(projected) / noise) * -0.5
    usual = predictor.log_densities
    below = _counted(usual, density)
    return {
        "components": first,
        "reconstruction_error": _missed(first),
        "log_density": density,
        "novelty": (graph.node("Neg", below) + float(len(usual))) / float(len(usual)),
    }


def _missed(projected: Value) -> Value:
    """Return 1 - |p|^2."""
    return (1.0 - projected.graph.sum(projected.square(), 1)).at_least(0.0)


def _counted(rising: Array, values: Value) -> Value:
    """Return how many of the ascending numbers (M,) are at most each value (N, 1), by bisection."""
    graph, step = values.graph, 1 << (len(rising).bit_length() - 1)
    # The padding is above every value.
    padded = graph.constant(np.append(rising, np.full(2 * step - 1 - len(rising), np.inf)))
    count = graph.where(graph.node("IsNaN", values), 0.0, values * 0.0)
    while step:
        place = graph.node("Cast", count + float(step - 1), to=TensorProto.INT64)
        reached = graph.node("LessOrEqual", graph.node("Gather", padded, place), values)
        count = graph.where(reached, count + float(step), count)
        step //= 2
    return count
