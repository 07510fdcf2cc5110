"""The complete ONNX model: named inputs, the predictions of each kind of task, and the outputs."""

import json
from dataclasses import dataclass, field

import numpy as np
from onnx import ModelProto, TensorProto, ValueInfoProto, checker, helper

from app.exports.onnx_file.components import component_outputs
from app.exports.onnx_file.functions import terms_of
from app.exports.onnx_file.graph import IR_VERSION, OPSET, Graph, Value
from app.exports.onnx_file.inputs import Encoded, declared, encoded, with_noise
from app.exports.onnx_file.latent import latent, of_members, pooled
from app.exports.onnx_file.predictions import of_classes, of_hurdle, outputs
from relevance_bayes.core.errors import SparseBayesError
from relevance_bayes.core.hurdle import HurdleModel
from relevance_bayes.core.local_model import LocalModel
from relevance_bayes.core.model import Model
from relevance_bayes.core.per_class import PerClass
from relevance_bayes.core.pool import LearnedModel, Pool, has_latent_per_class, members_of
from relevance_bayes.core.prediction import Ready
from relevance_bayes.documents.exported import (
    ExportedApproximation,
    ExportedComponents,
    ExportedSupervised,
    ExportedVersion,
)
from relevance_bayes.tables.encoding import EncodedTarget
from relevance_bayes.tasks.approximation.report import ApproximationPredictor
from relevance_bayes.tasks.components.report import COMPONENTS_REPORTED, ComponentsPredictor
from relevance_bayes.tasks.supervised.report import SupervisedPredictor

CLASSES = "relevance.classes"
"""The key of the class labels in the model's metadata, as JSON."""


@dataclass(frozen=True)
class Reported:
    """The outputs by name, (N, 1), or (N, K) where `widths` has K; their rows, and the model's metadata."""

    outputs: dict[str, Value]
    rows: Encoded
    widths: dict[str, int] = field(default_factory=dict)
    metadata: dict[str, str] = field(default_factory=dict)


def render(exported: ExportedVersion) -> bytes:
    """Return an ONNX file; raises NotPositiveDefiniteError."""
    made = model_of(exported)
    checker.check_model(made)
    written: bytes = made.SerializeToString(deterministic=True)
    return written


def model_of(exported: ExportedVersion) -> ModelProto:
    """Return the model that predicts as the version does; a row that can't be predicted is NaN in all outputs."""
    names = [column.name for column in exported.report.plan.inputs]
    inputs = declared(exported.predictor.encoding, names, exported.noise_column)
    taken = {one.name for one in inputs}
    graph = Graph(frozenset(taken))
    reported = _outputs(graph, exported)
    named = {name: (_free(name, taken), value + reported.rows.unsound) for name, value in reported.outputs.items()}
    declared_outputs = [_output(graph, free, value, reported.widths.get(name)) for name, (free, value) in named.items()]
    whole = helper.make_graph(graph.nodes, "relevance", inputs, declared_outputs, graph.constants)
    made = helper.make_model(whole, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=IR_VERSION)
    made.producer_name = "relevance"
    component_outputs = {"relevance.model": exported.model, "relevance.version": str(exported.number)}
    helper.set_model_props(made, component_outputs | reported.metadata)
    return made


def _outputs(graph: Graph, exported: ExportedVersion) -> Reported:
    match exported:
        case ExportedSupervised(predictor=predictor):
            return _supervised(graph, predictor)
        case ExportedApproximation(predictor=predictor):
            return _approximation(graph, predictor)
        case ExportedComponents(predictor=predictor):
            return _components(graph, predictor)


def _supervised(graph: Graph, predictor: SupervisedPredictor) -> Reported:
    learned, target, labels = predictor.learned, predictor.encoding.target, predictor.encoding.target.classes
    model = members_of(learned)[0]
    rows = with_noise(encoded(graph, predictor.encoding.with_indicated_fills()), target, model.noise_sd)
    reported, support = _predicted(graph, learned, target, rows)
    reported |= {} if support is None else {"support": support}
    several = [
        "probabilities",
        *(["latent_mean"] if has_latent_per_class(learned) else []),
        *(["latent_variance"] if isinstance(learned, PerClass) else []),
    ]
    metadata = {CLASSES: json.dumps(labels)} if labels else {}
    return Reported(reported, rows, dict.fromkeys(several, len(labels)), metadata)


def _predicted(
    graph: Graph, learned: LearnedModel, target: EncodedTarget, rows: Encoded
) -> tuple[dict[str, Value], Value | None]:
    """Return the outputs by name, and the support."""
    match learned:
        case Model(likelihood=likelihood):
            found, support = latent(graph, Ready.of(learned), rows)
            tails = learned.degrees_of_freedom, learned.variance_factor
            return outputs(likelihood, target, found, *tails), support
        case Pool():
            found, support = pooled(graph, learned, rows)
            tails = learned.degrees_of_freedom, learned.variance_factor
            return outputs(learned.members[0].likelihood, target, found, *tails), support
        case PerClass(members=members, likelihood=of_all):
            each, support = of_members(graph, members, rows)
            return of_classes(of_all, each), support
        case HurdleModel(positive=positive):
            (zero, above), support = of_members(graph, learned.members, rows)
            return of_hurdle(positive, target, zero, above), support
        case LocalModel():
            raise SparseBayesError("expected a model that keeps no rows")


def _approximation(graph: Graph, predictor: ApproximationPredictor) -> Reported:
    rows, terms = encoded(graph, predictor.encoding), predictor.expansion
    value = terms_of(terms, rows.matrix) @ terms.coefficients[:, None] + terms.constant
    return Reported({"value": value}, rows)


def _components(graph: Graph, predictor: ComponentsPredictor) -> Reported:
    rows = encoded(graph, predictor.encoding)
    first = min(COMPONENTS_REPORTED, len(predictor.components.variances))
    return Reported(component_outputs(predictor, rows.matrix), rows, {"components": first})


def _free(name: str, taken: set[str]) -> str:
    """Return the name, with underscores appended while a column has it."""
    while name in taken:
        name += "_"
    return name


def _output(graph: Graph, name: str, value: Value, classes: int | None) -> ValueInfoProto:
    """Return an output (N,), or (N, K)."""
    if classes is None:
        axis = graph.constant(np.array([1], np.int64)).name
        graph.nodes.append(helper.make_node("Squeeze", [value.name, axis], [name]))
        return helper.make_tensor_value_info(name, TensorProto.DOUBLE, ["rows"])
    graph.nodes.append(helper.make_node("Identity", [value.name], [name]))
    return helper.make_tensor_value_info(name, TensorProto.DOUBLE, ["rows", classes])
