"""The integrals of class probabilities as the generated files have them, on wide grids, beside the core's."""

import numpy as np
import onnxruntime
import pytest
from onnx import TensorProto, helper

from app.exports.onnx_file.graph import IR_VERSION, OPSET, Graph, Value
from app.exports.onnx_file.predictions import integrated_softmax as written_softmax
from app.exports.onnx_file.predictions import tempered as written_tempered
from app.exports.python_file import outcomes
from relevance_bayes.core.likelihoods.integrated_softmax import GUMBEL_POINTS, GUMBEL_WEIGHTS, integrated_softmax
from relevance_bayes.core.likelihoods.temperature import tempered
from relevance_bayes.core.types import Array


def grid(classes: int) -> tuple[Array, Array]:
    """Latents and variances, both sides of where the quadratures change: (240, K) and (240,)."""
    rng = np.random.default_rng(classes)
    sd = np.repeat([0.0, 0.2, 1.0, 1.29, 1.31, 3.0, 9.0, 40.0], 30)
    return rng.normal(size=(240, classes)) * 2.0 * np.hypot(sd, 1.3)[:, None], sd**2


def run(mean: Array, variance: Array, temperature: float) -> Array:
    """What a runtime makes of the nodes."""
    graph = Graph(frozenset({"mean", "variance"}))
    classes = mean.shape[1]
    averaged = written_softmax(Value(graph, "mean"), Value(graph, "variance"), classes)
    found = written_tempered(averaged, temperature)
    inputs = [
        helper.make_tensor_value_info("mean", TensorProto.DOUBLE, ["rows", classes]),
        helper.make_tensor_value_info("variance", TensorProto.DOUBLE, ["rows", 1]),
    ]
    outputs = [helper.make_tensor_value_info(found.name, TensorProto.DOUBLE, ["rows", classes])]
    whole = helper.make_graph(graph.nodes, "probabilities", inputs, outputs, graph.constants)
    made = helper.make_model(whole, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=IR_VERSION)
    session = onnxruntime.InferenceSession(made.SerializeToString(), providers=["CPUExecutionProvider"])
    (answer,) = session.run(None, {"mean": mean, "variance": variance[:, None]})
    return np.asarray(answer)


@pytest.mark.parametrize("classes", [2, 3, 20])
@pytest.mark.parametrize("temperature", [1.0, 1.7])
def test_a_runtime_has_the_cores_integral(classes: int, temperature: float) -> None:
    mean, variance = grid(classes)
    expected = tempered(integrated_softmax(mean, variance), temperature)
    np.testing.assert_allclose(run(mean, variance, temperature), expected, rtol=1e-5, atol=1e-12)


@pytest.mark.parametrize("classes", [2, 3, 20])
@pytest.mark.parametrize("temperature", [0.6, 1.7])
def test_a_program_has_the_cores_integral(classes: int, temperature: float) -> None:
    mean, variance = grid(classes)
    found = outcomes.integrated_softmax(mean, variance, GUMBEL_POINTS, GUMBEL_WEIGHTS)
    np.testing.assert_allclose(found, integrated_softmax(mean, variance), rtol=1e-9, atol=1e-14)
    np.testing.assert_allclose(outcomes.tempered(found, temperature), tempered(found, temperature), rtol=1e-12)
