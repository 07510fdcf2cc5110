"""ONNX files, run by another's runtime beside the service's own answers."""

import importlib
import json
import sys
from collections.abc import Sequence
from dataclasses import replace
from typing import TypeAlias

import numpy as np
import onnx
import onnxruntime
import pytest
from numpy.typing import NDArray
from scipy.special import ndtr

from app.errors import NotInstalledError
from app.exports.formats import RENDERINGS
from app.exports.onnx_file.graph import IR_VERSION, OPSET, Graph, Value
from app.exports.onnx_file.model import CLASSES, model_of
from relevance_bayes.core.basis import KernelFunctions
from relevance_bayes.core.types import Array
from relevance_bayes.documents.reports import ExportedSupervised
from relevance_bayes.records.values import InputColumn
from relevance_bayes.tables.columns import Block, CategoryArray, NumberArray
from relevance_bayes.tables.encoding import EncodedCategory, EncodedInput, EncodedNumber, encode_inputs, real_values
from relevance_bayes.tasks.supervised.report import SupervisedReport
from tests.exports.trained import (
    CASES,
    LOG_LINKS,
    PLAIN,
    block,
    far_rows,
    predicted,
    trained,
    with_mean_effect,
    with_model,
)

SERVICE = {
    "mean": "mean",
    "variance": "total",
    "variance_noise": "noise",
    "variance_weights": "weights",
    "variance_residual": "residual",
    "lower": "lower",
    "upper": "upper",
    "support": "support",
    "probabilities": "probabilities",
    "latent_mean": "latent_mean",
    "latent_variance": "latent_variance",
}
"""The service's names of the outputs."""


Fed: TypeAlias = Array | NDArray[np.object_]


def fed(inputs: tuple[EncodedInput, ...], rows: Block) -> dict[str, Fed]:
    """Raw rows as a runtime wants them: NaN and empty texts where they are missing."""
    reported: dict[str, Fed] = {}
    for column in inputs:
        raw = rows[column.name]
        if isinstance(raw, CategoryArray):
            texts = [raw.labels[code] if code >= 0 else "" for code in raw.codes.tolist()]
            reported[column.name] = np.array(texts, np.object_)
        else:
            reported[column.name] = real_values(raw)
    return reported


def run(made: ExportedSupervised, rows: Block, **others: Array) -> dict[str, Fed]:
    """The predictions of the file."""
    session = onnxruntime.InferenceSession(RENDERINGS["onnx"].render(made), providers=["CPUExecutionProvider"])
    names = [output.name for output in session.get_outputs()]
    found = session.run(names, fed(made.predictor.encoding.inputs, rows) | others)
    return dict(zip(names, found, strict=True))


@pytest.mark.thorough
@pytest.mark.parametrize("name", CASES)
def test_a_runtime_predicts_as_the_service_does(name: str) -> None:
    made = trained(name)
    encoding = made.predictor.encoding
    rows = block(encoding.inputs, 40, 5)
    expected = predicted(with_mean_effect(made), rows)
    noise = encoding.target.noise_column
    found = run(made, rows, **({} if noise is None else {noise: np.full(40, np.nan)}))
    assert {"mean", "variance"} <= set(found) or "probabilities" in found
    assert ("support" in found) == ("support" in expected)
    for output, numbers in found.items():
        required = expected[SERVICE[output]]
        assert numbers.shape == required.shape
        # A variance far below the greatest may be what is left of a difference.
        np.testing.assert_allclose(numbers, required, rtol=1e-5, atol=1e-12 * np.abs(required).max(), err_msg=output)


@pytest.mark.parametrize("name", LOG_LINKS)
def test_beyond_the_training_range_a_runtime_predicts_as_the_service_does(name: str) -> None:
    made = trained(name)
    rows = far_rows(made.predictor.encoding.inputs, 40, 5)
    expected = predicted(made, rows)
    for output, numbers in run(made, rows).items():
        required = expected[SERVICE[output]]
        np.testing.assert_allclose(numbers, required, rtol=1e-5, atol=1e-12 * np.abs(required).max(), err_msg=output)


def test_each_rows_noise_may_come_with_it() -> None:
    made = trained("gaussian rows, process")
    rows = block(made.predictor.encoding.inputs, 6, 5)
    known = np.array([0.1, 3.0, 1e-3, 0.5, 0.1, 2.0])
    found = run(made, rows, sd=known)
    expected = predicted(made, {**rows, "sd": NumberArray(known)})
    np.testing.assert_allclose(found["variance"], expected["total"], rtol=1e-12)
    wrong = run(made, rows, sd=np.array([0.0, -1.0, np.inf, np.nan, 0.1, 0.1]))
    assert np.isnan(wrong["variance"]).tolist() == [True, True, True, False, False, False]


def test_rows_that_can_not_be_predicted_are_nan_throughout() -> None:
    made = trained("steps of classes")
    rows = fed(made.predictor.encoding.inputs, block(made.predictor.encoding.inputs, 5, 5, gaps=False))
    rows["x"][0] = np.nan
    rows["x"][1] = 1e80
    rows["colour"][2] = "mauve"
    rows["when"][3] = np.inf
    session = onnxruntime.InferenceSession(RENDERINGS["onnx"].render(made), providers=["CPUExecutionProvider"])
    for numbers in session.run(None, rows):
        bad = np.isnan(numbers.reshape(5, -1))
        assert bad.all(axis=1).tolist() == bad.any(axis=1).tolist() == [True, True, True, True, False]


def test_with_next_to_no_noise_the_residual_is_as_accurate_as_the_services() -> None:
    """By L^-1 alone the difference is that of rounding, many noise variances."""
    made = trained("all rows")
    model = made.predictor.model
    first, *others = model.functions
    assert isinstance(first, KernelFunctions)
    inputs, s, n, size = made.predictor.encoding.inputs, model.signal_variance or 0.0, 1e-13, 500
    rows, (centres, _) = block(inputs, 40, 5), encode_inputs(made.predictor.encoding, block(inputs, size, 6))
    wide = replace(first.input_map, widths=np.append(1.0, np.full(len(first.input_map.widths) - 1, 1e4)))
    kernel = replace(first, input_map=wide, centres=centres, rows=np.arange(size))
    noiseless = replace(
        model,
        functions=(kernel, *others),
        mean=np.zeros(size + len(model.covariance)),
        alpha=np.ones(size + len(model.covariance)),
        gamma=np.ones(size + len(model.covariance)),
        rows=size,
        jitter=n,
        noise_sd=(n * s) ** 0.5,
    )
    found = with_model(made, noiseless)
    known, seen = predicted(found, rows), run(found, rows)
    scale = float(known["noise"][0])
    np.testing.assert_allclose(seen["variance_residual"] / scale, known["residual"] / scale, rtol=1e-6, atol=0.1)


def test_a_text_that_is_empty_is_a_category_where_that_was_one() -> None:
    made = trained("inputs")
    encoding = made.predictor.encoding
    before = encoding.inputs[2]
    assert isinstance(before, EncodedCategory)
    colours = replace(before, categories=("", "green", "red"))
    inputs = (*encoding.inputs[:2], colours, *encoding.inputs[3:])
    other = replace(made, predictor=replace(made.predictor, encoding=replace(encoding, inputs=inputs)))
    rows = {**block(encoding.inputs, 3, 5), "colour": CategoryArray(np.array([0, 1, 2], np.int32), colours.categories)}
    np.testing.assert_allclose(run(other, rows)["mean"], predicted(other, rows)["mean"], rtol=1e-12)


def with_inputs(report: SupervisedReport, names: Sequence[str]) -> SupervisedReport:
    """The report of a version whose inputs, all of them numbers, have these names."""
    inputs = tuple(InputColumn(name, "number", ()) for name in names)
    return replace(report, plan=replace(report.plan, inputs=inputs))


def test_columns_may_be_named_as_outputs_and_nodes_are() -> None:
    made = trained("gaussian of two inputs")
    encoding = made.predictor.encoding
    names = ("probabilities", "value_3")
    inputs = tuple(replace(column, name=name) for column, name in zip(PLAIN, names, strict=True))
    predictor = replace(made.predictor, encoding=replace(encoding, inputs=inputs))
    other = replace(made, predictor=predictor, report=with_inputs(made.report, names))
    rows = block(PLAIN, 4, 5)
    found = run(other, dict(zip(names, rows.values(), strict=True)))
    np.testing.assert_array_equal(found["probabilities_"], run(made, rows)["probabilities"])


def test_many_inputs_are_seen_as_few_are() -> None:
    made = trained("matern_3_2 of two inputs")
    copies = tuple(EncodedNumber(f"x{k}", "number", 0.0, 1.0, fill=None, indicator=False) for k in range(20))
    first, *others = made.predictor.model.functions
    assert isinstance(first, KernelFunctions)
    wide = replace(first, centres=np.tile(first.centres, (1, 10)))
    model = replace(made.predictor.model, functions=(wide, *others), inputs=20)
    encoding = replace(made.predictor.encoding, inputs=copies)
    predictor = replace(made.predictor, encoding=encoding, learned=model)
    report = with_inputs(made.report, [column.name for column in copies])
    other = replace(made, predictor=predictor, report=report)
    rows = block(copies, 10, 5)
    np.testing.assert_allclose(run(other, rows)["probabilities"], predicted(other, rows)["probabilities"], rtol=1e-9)


def test_the_file_states_its_metadata_in_standard_operators_alone() -> None:
    made = trained("categorical, process")
    model = model_of(made)
    assert [(one.domain, one.version) for one in model.opset_import] == [("", OPSET)]
    assert model.ir_version == IR_VERSION
    reported = {one.key: one.value for one in model.metadata_props}
    assert json.loads(reported[CLASSES]) == ["gas", "liquid", "solid"]
    assert (reported["relevance.model"], reported["relevance.version"]) == ("small", "1")
    assert RENDERINGS["onnx"].render(made) == RENDERINGS["onnx"].render(made)
    assert {one.domain for one in model.graph.node} == {""}


def test_the_normal_share_keeps_its_digits_in_the_tails() -> None:
    graph = Graph(frozenset({"x", "y"}))
    share = Value(graph, "x").normal_share()
    graph.nodes.append(onnx.helper.make_node("Identity", [share.name], ["y"]))
    x, y = (onnx.helper.make_tensor_value_info(name, onnx.TensorProto.DOUBLE, ["rows"]) for name in "xy")
    document = onnx.helper.make_graph(graph.nodes, "share", [x], [y], graph.constants)
    made = onnx.helper.make_model(document, opset_imports=[onnx.helper.make_opsetid("", OPSET)], ir_version=IR_VERSION)
    session = onnxruntime.InferenceSession(made.SerializeToString(), providers=["CPUExecutionProvider"])
    at = np.linspace(-37.0, 10.0, 500)
    (found,) = session.run(None, {"x": at})
    np.testing.assert_allclose(found, ndtr(at), rtol=2e-7)


def test_without_the_package_it_is_stated_to_be_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "onnx", None)
    for name in [name for name in sys.modules if name.startswith("app.exports.onnx_file.")]:
        monkeypatch.delitem(sys.modules, name)
    with pytest.raises(NotInstalledError, match=r"pip install ./library '.\[onnx\]'"):
        RENDERINGS["onnx"].render(trained("constant"))


def test_nothing_of_it_is_imported_before_it_is_requested() -> None:
    formats = importlib.import_module("app.exports.formats")
    assert not any(name.startswith("onnx") for name in vars(formats))
