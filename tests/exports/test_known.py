"""Known functions in every form of file, beside the service's own answers."""

import ast
import json
import math
from pathlib import Path

import numpy as np
import onnxruntime
import pytest

from app.exports import formats
from app.exports.formats import RENDERINGS
from relevance_bayes.documents.schema import DOCUMENT, version_of
from relevance_bayes.tables.columns import NumberArray
from tests.exports.known import KNOWN, rows_of, values_of
from tests.exports.test_documents import MEBIBYTE
from tests.exports.test_onnx import fed
from tests.exports.test_python import listed, predictions_of


@pytest.mark.parametrize("name", KNOWN)
@pytest.mark.parametrize("required", ["json", "npz"])
def test_what_comes_back_has_the_same_values_to_the_last_bit(name: str, required: str) -> None:
    made = KNOWN[name]()
    rows = rows_of(made)
    if required == "json":
        text = RENDERINGS["json"].render(made)
    else:
        inner, arrays = formats.read(RENDERINGS["npz"].render(made), max_bytes=MEBIBYTE)
        assert {"model/centres", "model/coefficients", "model/widths"} == arrays.keys()
        text = json.dumps(formats.with_arrays(json.loads(inner), arrays)).encode()
    back = version_of(DOCUMENT.validate_json(text, strict=True))
    assert type(back) is type(made)
    np.testing.assert_array_equal(values_of(back, rows), values_of(made, rows))
    assert back.report == made.report
    assert (back.model, back.number, back.created_at) == (made.model, made.number, made.created_at)
    assert RENDERINGS["json"].render(back) == RENDERINGS["json"].render(made)


def test_the_pages_formula_computes_from_a_document_what_the_service_predicts() -> None:
    made = KNOWN["terms and a constant"]()
    reported, rows = json.loads(RENDERINGS["json"].render(made))["model"], rows_of(made)
    places = np.column_stack([rows[column.name].values for column in made.predictor.encoding.inputs])
    expected = [
        reported["constant"]
        + sum(
            c * math.exp(-sum(((x - z) / r) ** 2 for x, z, r in zip(place, centre, width, strict=True)))
            for c, centre, width in zip(reported["coefficients"], reported["centres"], reported["widths"], strict=True)
        )
        for place in places.tolist()
    ]
    np.testing.assert_allclose(values_of(made, rows), expected, rtol=1e-12)


def test_a_program_has_the_values_that_the_service_has(tmp_path: Path) -> None:
    versions = {f"case_{place}": made() for place, made in enumerate(KNOWN.values())}
    requested = {name: (made, listed(made.predictor.encoding.inputs, rows_of(made))) for name, made in versions.items()}
    found = predictions_of(tmp_path, requested)
    assert found.keys() == versions.keys()
    for name, made in versions.items():
        assert set(found[name]) == {"value"}
        np.testing.assert_allclose(found[name]["value"], values_of(made, rows_of(made)), rtol=1e-12, atol=1e-14)


def test_a_row_without_a_number_has_no_value_in_a_program(tmp_path: Path) -> None:
    made = KNOWN["terms and a constant"]()
    columns = listed(made.predictor.encoding.inputs, rows_of(made, 3))
    columns["depth [m]"] = [None, 1e80, 0.5]
    (value,) = predictions_of(tmp_path, {"gaps": (made, columns)})["gaps"].values()
    assert np.isnan(value).tolist() == [True, True, False]


def test_a_programs_text_can_be_read() -> None:
    source = RENDERINGS["python"].render(KNOWN["terms and a constant"]()).decode()
    assert source.startswith('"""Version 1 of the model')
    assert max(map(len, source.splitlines())) <= 140
    tree = ast.parse(source)
    defined = {one.name for one in tree.body if isinstance(one, ast.FunctionDef)}
    assert defined - {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)} == {"predict"}


@pytest.mark.parametrize("name", KNOWN)
def test_a_runtime_has_the_values_that_the_service_has(name: str) -> None:
    made = KNOWN[name]()
    rows = rows_of(made)
    session = onnxruntime.InferenceSession(RENDERINGS["onnx"].render(made), providers=["CPUExecutionProvider"])
    (output,) = (one.name for one in session.get_outputs())
    assert output == ("value_" if "value" in rows else "value")
    (found,) = session.run(None, fed(made.predictor.encoding.inputs, rows))
    expected = values_of(made, rows)
    assert found.shape == expected.shape
    np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-14)
    gap = {**rows, next(iter(rows)): NumberArray(np.full(30, np.nan))}
    (unknown,) = session.run(None, fed(made.predictor.encoding.inputs, gap))
    assert np.isnan(unknown).all()
