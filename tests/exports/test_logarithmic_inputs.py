"""Inputs by their logarithms in documents and files: they predict as the service does."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from app.exports.formats import RENDERINGS
from relevance_bayes.core.types import Array
from relevance_bayes.documents.reports import ExportedSupervised
from relevance_bayes.documents.schema import DOCUMENT, version_of
from relevance_bayes.tables.encoding import EncodedNumber
from tests.exports.test_onnx import run
from tests.exports.test_python import listed, predictions_of
from tests.exports.trained import block, predicted, trained

NAME = "gaussian learned, process"


def with_logarithms() -> ExportedSupervised:
    """A version whose numbers count by their logarithms."""
    made = trained(NAME)
    encoding = made.predictor.encoding
    others = [
        replace(one, shift=0.5, scale=1.5, unit=0.25)
        for one in encoding.inputs
        if isinstance(one, EncodedNumber) and one.kind == "number"
    ]
    assert others
    return replace(made, predictor=replace(made.predictor, encoding=encoding.with_logarithms(others)))


@pytest.fixture
def expected() -> dict[str, Array]:
    made = with_logarithms()
    found = predicted(made, block(made.predictor.encoding.inputs, 25, 5))
    plain = predicted(trained(NAME), block(made.predictor.encoding.inputs, 25, 5))
    assert np.abs(found["mean"] - plain["mean"]).max() > 1e-3
    return found


def test_a_runtime_predicts_as_the_service_does(expected: dict[str, Array]) -> None:
    made = with_logarithms()
    found = run(made, block(made.predictor.encoding.inputs, 25, 5))
    for name in found.keys() & expected.keys():
        np.testing.assert_allclose(found[name], expected[name], rtol=1e-6, atol=1e-12)
    np.testing.assert_allclose(found["mean"], expected["mean"], rtol=1e-6)


def test_a_generated_file_predicts_as_the_service_does(expected: dict[str, Array], tmp_path: Path) -> None:
    made = with_logarithms()
    inputs = made.predictor.encoding.inputs
    found = predictions_of(tmp_path, {"case": (made, listed(inputs, block(inputs, 25, 5)))})["case"]
    for name in ("mean", "lower", "upper"):
        np.testing.assert_allclose(found[name], expected[name], rtol=1e-6)


def test_a_document_has_the_unit_and_predicts_the_same_after_import(expected: dict[str, Array]) -> None:
    made = with_logarithms()
    document = json.loads(RENDERINGS["json"].render(made))
    numbers = [one for one in document["inputs"] if one["kind"] == "logarithm"]
    assert numbers
    assert all(one["unit"] == 0.25 for one in numbers)
    back = version_of(DOCUMENT.validate_json(json.dumps(document), strict=True))
    assert isinstance(back, ExportedSupervised)
    assert back.predictor.encoding == made.predictor.encoding
    found = predicted(back, block(made.predictor.encoding.inputs, 25, 5))
    np.testing.assert_array_equal(found["mean"], expected["mean"])
    np.testing.assert_array_equal(found["sd"], expected["sd"])
