"""Predictions of every likelihood of classes: the generated files on wide grids, beside the core."""

from dataclasses import fields, replace
from typing import get_args

import numpy as np
import onnxruntime
import pytest
from onnx import TensorProto, helper

from app.exports.onnx_file.functions import written
from app.exports.onnx_file.graph import IR_VERSION, OPSET, Graph, Value
from app.exports.python_file.functions import class_members
from app.exports.python_file.writing import Program, needed
from relevance_bayes.core.likelihoods import ClassLikelihood
from relevance_bayes.core.numpy_namespace import NUMPY
from relevance_bayes.core.tracing import TRACING, Traced
from relevance_bayes.core.types import Array

Given = dict[str, Array]
"""The latents' mean and variance and the noise's, as columns."""


def cases() -> list[tuple[ClassLikelihood, int]]:
    """Each member of the union of 2, 3 and 20 classes, where it may have them, cold and hot."""
    made = list[tuple[ClassLikelihood, int]]()
    for member in get_args(ClassLikelihood):
        has_number = any(field.name == "classes" for field in fields(member))
        for classes in (2, 3, 20) if has_number else (2,):
            likelihood = member(classes=classes) if has_number else member()
            made += [(replace(likelihood, temperature=temperature), classes) for temperature in ("learned", 0.6, 1.7)]
    return made


each_case = pytest.mark.parametrize(("likelihood", "classes"), cases(), ids=str)


def grid(likelihood: ClassLikelihood, classes: int) -> Given:
    """Latents and variances, both sides of where the quadratures change."""
    rng = np.random.default_rng(classes)
    sd = np.repeat([0.0, 0.2, 1.0, 1.29, 1.31, 2.9, 3.1, 9.0, 40.0], 30)[:, None]
    mean = rng.normal(size=(270, likelihood.latents)) * 2.0 * np.hypot(sd, 1.3)
    own = likelihood.type == "bernoulli_per_class"
    variance = sd**2 * (rng.uniform(0.5, 2.0, mean.shape) if own else 1.0)
    return {"mean": mean, "variance": variance, "noise": np.full((270, 1), 0.3)}


def expected(likelihood: ClassLikelihood, given: Given) -> Array:
    """The values that the core computes."""
    found = likelihood.probabilities(NUMPY, given["mean"], given["variance"], given["noise"])
    np.testing.assert_allclose(found.sum(axis=1), 1.0, rtol=1e-12)
    return found


@each_case
def test_a_runtime_computes_the_probabilities(likelihood: ClassLikelihood, classes: int) -> None:
    given = grid(likelihood, classes)
    graph, parameters = Graph(frozenset(given)), [Traced("parameter") for _ in given]
    formula = likelihood.probabilities(TRACING, *parameters)
    found = written(formula, {one: Value(graph, name) for one, name in zip(parameters, given, strict=True)})
    inputs = [
        helper.make_tensor_value_info(name, TensorProto.DOUBLE, ["rows", values.shape[1]])
        for name, values in given.items()
    ]
    outputs = [helper.make_tensor_value_info(found.name, TensorProto.DOUBLE, ["rows", classes])]
    model = helper.make_graph(graph.nodes, "probabilities", inputs, outputs, graph.constants)
    made = helper.make_model(model, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=IR_VERSION)
    session = onnxruntime.InferenceSession(made.SerializeToString(), providers=["CPUExecutionProvider"])
    (response,) = session.run(None, given)
    np.testing.assert_allclose(np.asarray(response), expected(likelihood, given), rtol=1e-5, atol=1e-12)


@each_case
def test_generated_source_computes_the_probabilities(likelihood: ClassLikelihood, classes: int) -> None:
    given, program = grid(likelihood, classes), Program()
    members = class_members(program, likelihood, "mean", "variance")
    constants = "\n".join(f"{name} = {text}" for name, text in program.constants.items())
    functions = "\n".join(program.functions.values())
    assert max(map(len, functions.splitlines())) <= 140
    source = f"import math\n{constants}\n{functions}\nreported = {members}"
    known: dict[str, object] = {"np": np, "Array": np.ndarray, **given, "noise_sd": np.sqrt(given["noise"])}
    exec("\n".join([*needed(source), source]), known)
    reported = known["reported"]
    assert isinstance(reported, dict)
    np.testing.assert_allclose(reported["probabilities"], expected(likelihood, given), rtol=1e-11, atol=1e-14)
