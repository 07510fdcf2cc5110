"""The whole: inputs by name, the functions, their weights' posterior, and the outputs."""

import json

import numpy as np
from onnx import ModelProto, TensorProto, ValueInfoProto, checker, helper

from app.domain.exports import ExportedVersion
from app.exports.onnx_file.functions import columns_of, kernel_columns
from app.exports.onnx_file.graph import IR_VERSION, OPSET, Graph, Value
from app.exports.onnx_file.inputs import Encoded, declared, encoded
from app.exports.onnx_file.predictions import Found, outputs
from app.sparse_bayes.linalg import solve_lower
from app.sparse_bayes.prediction import Ready

CLASSES = "relevance.classes"
"""Names the labels in the model's metadata, as JSON."""


def render(exported: ExportedVersion) -> bytes:
    """An ONNX file; raises NotPositiveDefiniteError."""
    made = model_of(exported)
    checker.check_model(made)
    written: bytes = made.SerializeToString(deterministic=True)
    return written


def model_of(exported: ExportedVersion) -> ModelProto:
    """The model that predicts as the version does; a row that can't be predicted is NaN throughout."""
    encoding, model = exported.predictor.encoding, exported.predictor.model
    inputs = declared(encoding)
    taken = {one.name for one in inputs}
    graph = Graph(frozenset(taken))
    rows = encoded(graph, encoding, model.noise_sd)
    found, support = _latent(graph, Ready.of(model), rows)
    told = outputs(model, encoding.target, found) | ({} if support is None else {"support": support})
    named = {_free(name, taken): value + rows.unsound for name, value in told.items()}
    several = {_free(name, taken) for name in ("probabilities", *(("latent_mean",) if model.mean.ndim > 1 else ()))}
    labels = encoding.target.classes
    declared_outputs = [
        _output(graph, name, value, len(labels) if name in several else None) for name, value in named.items()
    ]
    whole = helper.make_graph(graph.nodes, "relevance", inputs, declared_outputs, graph.constants)
    made = helper.make_model(whole, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=IR_VERSION)
    made.producer_name = "relevance"
    told_of = {"relevance.model": exported.model, "relevance.version": str(exported.number)}
    helper.set_model_props(made, told_of | ({CLASSES: json.dumps(labels)} if labels else {}))
    return made


def _free(name: str, taken: set[str]) -> str:
    """With underscores behind where a column has the name."""
    while name in taken:
        name += "_"
    return name


def _output(graph: Graph, name: str, value: Value, classes: int | None) -> ValueInfoProto:
    """(N,), or (N, K)."""
    if classes is None:
        axis = graph.constant(np.array([1], np.int64)).name
        graph.nodes.append(helper.make_node("Squeeze", [value.name, axis], [name]))
        return helper.make_tensor_value_info(name, TensorProto.DOUBLE, ["rows"])
    graph.nodes.append(helper.make_node("Identity", [value.name], [name]))
    return helper.make_tensor_value_info(name, TensorProto.DOUBLE, ["rows", classes])


def _latent(graph: Graph, ready: Ready, rows: Encoded) -> tuple[Found, Value | None]:
    """Mean p'mu, variance |L'p|^2 and what is beyond the functions; and the support where that is known."""
    model, inputs = ready.model, rows.matrix
    none = rows.unsound
    noise_sd = none + (model.noise_sd or 0.0) if rows.noise_sd is None else rows.noise_sd
    parts = [columns_of(one, inputs) for one in model.functions if one.size]
    columns = graph.beside(parts) if parts else None
    if columns is None:
        mean = none + np.zeros((1, model.mean.shape[1] if model.mean.ndim > 1 else 1))
        weights = none
    else:
        mean = columns @ (model.mean if model.mean.ndim > 1 else model.mean[:, None])
        weights = graph.sum((columns @ ready.lower).square(), 1)
    left, unreached = _left(graph, ready, inputs, columns)
    if unreached is None:
        return Found(mean, weights, none, noise_sd), None
    if left is None:
        return Found(mean, weights, none + unreached, noise_sd), None
    return Found(mean, weights, left * unreached, noise_sd), (1.0 - left).at_least(0.0)


def _left(graph: Graph, ready: Ready, inputs: Value, columns: Value | None) -> tuple[Value | None, float | None]:
    """The share of the prior variance that is left, None for all of it, and that variance."""
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
        return None, ready.model.amplitude
    lower = ready.whitening.lower
    reached = columns.columns(np.arange(len(lower))) @ solve_lower(lower, np.eye(len(lower))).T
    return (1.0 - graph.sum(reached.square(), 1)).at_least(0.0), ready.model.amplitude
