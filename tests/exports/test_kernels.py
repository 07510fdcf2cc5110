"""Every kernel of the union, in ONNX and in Python, beside the core's own figures."""

from dataclasses import replace
from typing import get_args

import numpy as np
import onnx
import onnxruntime
import pytest
from numpy.typing import NDArray

from app.exports.onnx_file.functions import OPERATORS, OTHERS, kernel_columns
from app.exports.onnx_file.graph import IR_VERSION, OPSET, Graph, Value
from app.exports.python_file.functions import PIECES, kernel_function
from app.exports.python_file.writing import Program, needed, pieces_by_name
from relevance_bayes.core.basis import KernelFunctions
from relevance_bayes.core.kernels import Kernel, RationalQuadratic
from relevance_bayes.core.kernels.hyperparameters import InputMap
from relevance_bayes.core.numpy_namespace import NumpyNamespace
from relevance_bayes.core.tracing import ExtendedNamespace, Namespace, Tracing
from relevance_bayes.core.types import Array
from tests.exports.trained import KERNELS

MEMBERS = list({*KERNELS, *(member() for member in get_args(Kernel))})
MEMBERS.sort(key=str)

each_kernel = pytest.mark.parametrize("kernel", MEMBERS, ids=str)
each_number_of_inputs = pytest.mark.parametrize("inputs", [1, 3, 20])


def points(inputs: int) -> tuple[Array, Array]:
    """U (30, d) and Z (6, d), two of which are rows of U."""
    rng = np.random.default_rng(inputs)
    U = rng.standard_normal((30, inputs))
    return U, np.vstack([rng.standard_normal((4, inputs)), U[:2]])


def close(found: Array | NDArray[np.float64], kernel: Kernel, U: Array, Z: Array) -> None:
    """As the core has it to 1e-12, and at coincident points as far as its distances lose nothing."""
    expected = kernel(U, Z)
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12 * float(np.abs(expected).max()))


@each_number_of_inputs
@each_kernel
def test_a_runtime_computes_the_kernel(kernel: Kernel, inputs: int) -> None:
    U, Z = points(inputs)
    graph = Graph(frozenset({"u", "k"}))
    functions = KernelFunctions(kernel, InputMap.isotropic(1.0), Z, np.arange(len(Z)))
    graph.nodes.append(onnx.helper.make_node("Identity", [kernel_columns(functions, Value(graph, "u")).name], ["k"]))
    u = onnx.helper.make_tensor_value_info("u", onnx.TensorProto.DOUBLE, ["rows", inputs])
    k = onnx.helper.make_tensor_value_info("k", onnx.TensorProto.DOUBLE, ["rows", len(Z)])
    model = onnx.helper.make_graph(graph.nodes, "kernel", [u], [k], graph.constants)
    made = onnx.helper.make_model(model, opset_imports=[onnx.helper.make_opsetid("", OPSET)], ir_version=IR_VERSION)
    session = onnxruntime.InferenceSession(made.SerializeToString(), providers=["CPUExecutionProvider"])
    (found,) = session.run(None, {"u": U})
    close(found, kernel, U, Z)


@each_number_of_inputs
@each_kernel
def test_generated_source_computes_the_kernel(kernel: Kernel, inputs: int) -> None:
    program = Program()
    name = kernel_function(program, kernel)
    source = program.functions[name]
    known: dict[str, object] = {"np": np, "Array": np.ndarray}
    exec("\n".join([*needed(source), source]), known)
    computed = known[name]
    assert callable(computed)
    close(computed(*points(inputs)), kernel, *points(inputs))


@each_kernel
def test_a_generated_function_states_what_it_computes(kernel: Kernel) -> None:
    program = Program()
    source = program.functions[kernel_function(program, kernel)]
    assert '"""k(u, z) = ' in source or kernel.type == "linear_spline"
    assert max(map(len, source.splitlines())) <= 140


def test_a_kernel_with_other_options_has_a_function_of_its_own() -> None:
    program = Program()
    one = RationalQuadratic(2.0)
    assert kernel_function(program, one) == kernel_function(program, replace(one)) == "rational_quadratic"
    assert kernel_function(program, RationalQuadratic(3.0)) == "rational_quadratic_2"
    assert set(program.functions) == {"rational_quadratic", "rational_quadratic_2"}


LARGER = {"apply_where", "fixed_point"}
"""Functions that are made of others: a choice, and a loop, which ONNX does not have."""


def test_every_function_that_a_formula_may_use_can_be_traced_computed_and_written() -> None:
    of_numbers = functions_of(Namespace)
    functions = of_numbers | functions_of(ExtendedNamespace)
    assert functions == functions_of(Tracing) == functions_of(NumpyNamespace)
    operators = {"add", "subtract", "multiply", "divide", "negative", "greater", "less_equal"}
    assert functions - LARGER | operators == set(OPERATORS) | set(OTHERS)
    assert all(callable(getattr(np, name)) for name in of_numbers | operators)
    assert all(hasattr(np, name) for name in functions - LARGER - PIECES)
    assert set(pieces_by_name()) >= PIECES


def functions_of(namespace: type) -> set[str]:
    return {name for name in vars(namespace) if not name.startswith("_")}
