"""Components in every form of file, beside the service's own answers."""

import ast
import json
import runpy
from pathlib import Path

import numpy as np
import onnxruntime
import pytest
from scipy.stats import multivariate_normal

from app.exports import formats
from app.exports.formats import RENDERINGS
from relevance_bayes.core.types import Array
from relevance_bayes.documents.schema import DOCUMENT, version_of
from relevance_bayes.tables.encoding import encode_inputs
from tests.exports.learned import LEARNED, component_outputs, learned
from tests.exports.test_documents import MEBIBYTE
from tests.exports.test_onnx import fed
from tests.exports.test_python import Predictions, listed, predictions_of
from tests.exports.trained import block


@pytest.mark.thorough
@pytest.mark.parametrize("name", LEARNED)
@pytest.mark.parametrize("required", ["json", "npz"])
def test_what_comes_back_predicts_the_same_to_the_last_bit(name: str, required: str) -> None:
    made = learned(name)
    if required == "json":
        text = RENDERINGS["json"].render(made)
    else:
        inner, arrays = formats.read(RENDERINGS["npz"].render(made), max_bytes=MEBIBYTE)
        assert arrays.keys() >= {"model/functions/centres", "model/weights", "model/log_densities"}
        text = json.dumps(formats.with_arrays(json.loads(inner), arrays)).encode()
    back = version_of(DOCUMENT.validate_json(text, strict=True))
    assert type(back) is type(made)
    rows = block(made.predictor.encoding.inputs, 30, 5)
    expected, found = component_outputs(made, rows), component_outputs(back, rows)
    for output, numbers in expected.items():
        np.testing.assert_array_equal(found[output], numbers, err_msg=output)
    assert back.report == made.report
    assert (back.model, back.number, back.created_at) == (made.model, made.number, made.created_at)
    assert RENDERINGS["json"].render(back) == RENDERINGS["json"].render(made)


def test_the_pages_formulas_compute_from_a_document_what_the_service_reports() -> None:
    made = learned("two inputs, each with a width")
    reported = json.loads(RENDERINGS["json"].render(made))["model"]
    rows = block(made.predictor.encoding.inputs, 8, 5)
    encoded, _ = encode_inputs(made.predictor.encoding, rows)
    seen, kept = (
        np.array(places) / reported["functions"]["widths"] for places in (encoded, reported["functions"]["centres"])
    )
    inner, images = (np.exp(-np.square(one[:, None] - kept).sum(axis=2)) for one in (kept, seen))
    root, noise = np.diag(np.sqrt(reported["weights"])), reported["noise_variance"]
    variances, vectors = np.linalg.eigh(root @ inner @ root)
    projected = images @ root @ vectors / np.sqrt(variances)
    expected = component_outputs(made, rows, 3)
    np.testing.assert_allclose(np.abs(projected[:, :-4:-1]), np.abs(expected["components"]), rtol=1e-9)
    missed = 1.0 - np.square(projected[:, -3:]).sum(axis=1)
    np.testing.assert_allclose(missed, expected["reconstruction_error"], rtol=1e-9)
    # Along the axes a Gaussian of these variances beside one of noise at 0; all else is noise.
    along = multivariate_normal(cov=np.diag(variances + noise)).logpdf(projected)
    none = multivariate_normal(cov=noise * np.eye(len(variances))).logpdf(np.zeros(len(variances)))
    rest = (1.0 - np.square(projected).sum(axis=1)) / (2.0 * noise)
    np.testing.assert_allclose(along - none - rest, expected["log_density"], rtol=1e-9)
    usual = np.array(reported["log_densities"])
    np.testing.assert_array_equal((usual > expected["log_density"][:, None]).mean(axis=1), expected["novelty"])


def test_there_are_more_components_than_are_reported_and_fewer() -> None:
    many = [len(learned(name).predictor.components.variances) for name in LEARNED]
    assert max(many) > 10
    assert min(many) < 10


def alike(found: Array, expected: Array, output: str) -> None:
    """A density is what is left of 1, over the noise: its digits are those of its greatest part."""
    np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-12 * np.abs(expected).max(), err_msg=output)


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Predictions:
    """The predictions of the files of all cases."""
    versions = {f"case_{place}": learned(name) for place, name in enumerate(LEARNED)}
    requested = {
        name: (made, listed(inputs, block(inputs, 25, 5)))
        for name, made in versions.items()
        for inputs in [made.predictor.encoding.inputs]
    }
    return predictions_of(tmp_path_factory.mktemp("programs"), requested)


@pytest.mark.parametrize("name", LEARNED)
def test_a_program_reports_what_the_service_does(programs: Predictions, name: str) -> None:
    made = learned(name)
    expected = component_outputs(made, block(made.predictor.encoding.inputs, 25, 5))
    found = programs[f"case_{list(LEARNED).index(name)}"]
    assert found.keys() == expected.keys()
    for output, numbers in expected.items():
        alike(np.array(found[output]), numbers, output)


def test_a_program_reports_as_many_components_as_are_requested(tmp_path: Path) -> None:
    made = learned("many components")
    inputs = made.predictor.encoding.inputs
    rows = block(inputs, 5, 5, gaps=False)
    file = tmp_path / "program.py"
    file.write_bytes(RENDERINGS["python"].render(made))
    predict = runpy.run_path(str(file))["predict"]
    for first in (1, 3, 1_000):
        found = predict(listed(inputs, rows), components=first)
        for output, numbers in component_outputs(made, rows, first).items():
            alike(found[output], numbers, output)
    columns = listed(inputs, rows)
    unsound = predict({**columns, "x": [None, 1e80, *columns["x"][2:]]})
    for numbers in unsound.values():
        bad = np.isnan(numbers.reshape(5, -1))
        assert bad.all(axis=1).tolist() == bad.any(axis=1).tolist() == [True, True, False, False, False]


def test_a_programs_text_can_be_read() -> None:
    source = RENDERINGS["python"].render(learned("matern_3_2")).decode()
    assert source.startswith('"""Version 1 of the model')
    assert max(map(len, source.splitlines())) <= 140
    tree = ast.parse(source)
    defined = {one.name for one in tree.body if isinstance(one, ast.FunctionDef)}
    assert defined - {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)} == {"predict"}


@pytest.mark.parametrize("name", LEARNED)
def test_a_runtime_reports_what_the_service_does(name: str) -> None:
    made = learned(name)
    inputs = made.predictor.encoding.inputs
    rows = block(inputs, 25, 5)
    session = onnxruntime.InferenceSession(RENDERINGS["onnx"].render(made), providers=["CPUExecutionProvider"])
    names = [output.name for output in session.get_outputs()]
    expected = component_outputs(made, rows)
    assert names == list(expected)
    for output, numbers in zip(names, session.run(names, fed(inputs, rows)), strict=True):
        assert numbers.shape == expected[output].shape
        alike(numbers, expected[output], output)


def test_rows_of_which_nothing_can_be_reported_are_nan_throughout() -> None:
    made = learned("gaussian")
    inputs = made.predictor.encoding.inputs
    rows = fed(inputs, block(inputs, 4, 5, gaps=False))
    rows["x"][0] = np.nan
    rows["x"][1] = 1e80
    rows["colour"][2] = "mauve"
    session = onnxruntime.InferenceSession(RENDERINGS["onnx"].render(made), providers=["CPUExecutionProvider"])
    for numbers in session.run(None, rows):
        bad = np.isnan(numbers.reshape(4, -1))
        assert bad.all(axis=1).tolist() == bad.any(axis=1).tolist() == [True, True, True, False]


@pytest.mark.parametrize("name", ["by hand", "one usual row"])
def test_novelty_steps_where_a_usual_row_is_and_nowhere_else(name: str) -> None:
    """From a row like those learned from to one that is like none."""
    made = learned(name)
    inputs = made.predictor.encoding.inputs
    rows = block(inputs, 300, 5)
    expected = component_outputs(made, rows)["novelty"]
    assert len(np.unique(expected)) >= 2
    session = onnxruntime.InferenceSession(RENDERINGS["onnx"].render(made), providers=["CPUExecutionProvider"])
    (found,) = session.run(["novelty"], fed(inputs, rows))
    np.testing.assert_array_equal(found, expected)
