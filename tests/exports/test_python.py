"""Generated files, run where numpy alone can be imported, beside the service's own answers."""

import ast
import json
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import scipy

from app.exports.formats import RENDERINGS
from app.exports.python_file.outcomes import quantile_above
from relevance_bayes.core.models.pool import members_of
from relevance_bayes.documents.reports import ExportedVersion
from relevance_bayes.tables.columns import Block, CategoryArray, NumberArray
from relevance_bayes.tables.encoding import EncodedCategory, EncodedInput, real_values
from tests.exports.test_onnx import SERVICE
from tests.exports.trained import CASES, LOG_LINKS, block, far_rows, predicted, trained, with_mean_effect

HARNESS = """
import importlib.abc, json, pathlib, runpy, sys

class NumpyAlone(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] not in sys.stdlib_module_names | {"numpy"}:
            raise ImportError(f"{name} is not to be imported")
        return None

sys.meta_path.insert(0, NumpyAlone())
folder = pathlib.Path(sys.argv[1])
predictions = {}
for file in sorted(folder.glob("*.py")):
    predict = runpy.run_path(str(file))["predict"]
    predicted = predict(json.loads(file.with_suffix(".json").read_text()))
    predictions[file.stem] = {name: values.tolist() for name, values in predicted.items()}
assert "scipy" not in sys.modules and "app" not in sys.modules
print(json.dumps(predictions))
"""

Columns = dict[str, list[float | str | None]]
Predictions = dict[str, dict[str, list[float]]]


def listed(inputs: tuple[EncodedInput, ...], rows: Block) -> Columns:
    """Raw rows as a program's user has them."""
    reported: Columns = {}
    for column in inputs:
        raw = rows[column.name]
        if isinstance(raw, CategoryArray):
            reported[column.name] = [raw.labels[code] if code >= 0 else None for code in raw.codes.tolist()]
        else:
            reported[column.name] = [None if np.isnan(value) else value for value in real_values(raw).tolist()]
    return reported


def predictions_of(folder: Path, requested: Mapping[str, tuple[ExportedVersion, Columns]]) -> Predictions:
    """The predictions of the files of these versions, each for its rows."""
    for name, (made, columns) in requested.items():
        (folder / f"{name}.py").write_bytes(RENDERINGS["python"].render(made))
        (folder / f"{name}.json").write_text(json.dumps(columns))
    done = subprocess.run(
        (sys.executable, "-I", "-W", "error", "-c", HARNESS, str(folder)),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    reported: Predictions = json.loads(done.stdout)
    return reported


@pytest.fixture(scope="module")
def reported(tmp_path_factory: pytest.TempPathFactory) -> Predictions:
    """Those of every case."""
    versions = {f"case_{place}": trained(name) for place, name in enumerate(CASES)}
    requested = {
        name: (made, listed(inputs, block(inputs, 25, 5)))
        for name, made in versions.items()
        for inputs in [made.predictor.encoding.inputs]
    }
    return predictions_of(tmp_path_factory.mktemp("programs"), requested)


@pytest.mark.parametrize("name", CASES)
def test_a_program_predicts_as_the_service_does(reported: Predictions, name: str) -> None:
    made = trained(name)
    expected = predicted(with_mean_effect(made), block(made.predictor.encoding.inputs, 25, 5))
    found = reported[f"case_{list(CASES).index(name)}"]
    numbers = {"mean", "variance", "variance_noise", "variance_weights", "variance_residual"}
    counts = members_of(made.predictor.learned)[0].likelihood.targets == "count"
    classes = {"probabilities", "latent_mean", "latent_variance"}
    expected_names = (
        classes if made.predictor.encoding.target.classes else numbers | (set() if counts else {"lower", "upper"})
    )
    assert set(found) == expected_names | ({"support"} & set(expected))
    for output, values in found.items():
        required = expected[SERVICE[output]]
        allowed = 1e-12 * np.abs(required).max()
        np.testing.assert_allclose(np.array(values), required, rtol=1e-10, atol=allowed, err_msg=output)


@pytest.mark.parametrize("freedom", [None, 1.0, 2.5, 30.0, 400.0])
def test_quantiles_of_a_program_are_those_of_the_distribution(freedom: float | None) -> None:
    tails = [1e-30, 1e-17, 1e-6, 1e-3, 0.02, 0.1, 0.4, 0.4999, 0.5]
    distribution = scipy.stats.norm() if freedom is None else scipy.stats.t(freedom)
    found = [quantile_above(tail, freedom) for tail in tails]
    np.testing.assert_allclose(found, distribution.isf(tails), rtol=1e-9, atol=1e-12)


def test_beyond_the_training_range_a_program_predicts_as_the_service_does(tmp_path: Path) -> None:
    versions = {f"case_{place}": trained(name) for place, name in enumerate(LOG_LINKS)}
    rows = {name: far_rows(made.predictor.encoding.inputs, 25, 5) for name, made in versions.items()}
    given = {name: (made, listed(made.predictor.encoding.inputs, rows[name])) for name, made in versions.items()}
    found = predictions_of(tmp_path, given)
    for name, made in versions.items():
        expected = predicted(made, rows[name])
        for output, values in found[name].items():
            required = expected[SERVICE[output]]
            allowed = 1e-12 * np.abs(required).max()
            np.testing.assert_allclose(np.array(values), required, rtol=1e-10, atol=allowed, err_msg=f"{name} {output}")


def test_each_rows_noise_may_come_with_it_and_rows_that_can_not_be_predicted_are_nan(tmp_path: Path) -> None:
    made = trained("gaussian rows, process")
    inputs = made.predictor.encoding.inputs
    rows = block(inputs, 6, 5, gaps=False)
    columns = listed(inputs, rows)
    known = [0.1, 3.0, 1e-3, None, 0.0, 1e80]
    unsound: Columns = {**columns, "x": [None, 1e80, float("inf"), *columns["x"][3:]]}
    unsound["colour"] = [*columns["colour"][:3], "mauve", *columns["colour"][4:]]
    found = predictions_of(tmp_path, {"noise": (made, {**columns, "sd": [*known]}), "unsound": (made, unsound)})
    expected = predicted(made, {**rows, "sd": NumberArray(np.array([0.1, 3.0, 1e-3, 1.0, 1.0, 1.0]))})
    np.testing.assert_allclose(found["noise"]["variance"][:3], expected["total"][:3], rtol=1e-12)
    assert np.isnan(found["noise"]["variance"]).tolist() == [False] * 4 + [True] * 2
    for values in found["unsound"].values():
        assert np.isnan(values).tolist() == [True] * 4 + [False] * 2


def test_no_text_of_a_version_gets_out_of_its_quotes(tmp_path: Path) -> None:
    evil = '"""); import os; os.abort()  #\\'
    made = trained("gaussian learned, process")
    encoding = made.predictor.encoding
    first, other, colours, *others = encoding.inputs
    assert isinstance(colours, EncodedCategory)
    texts = (evil, "'''\n{0}", "\\N{BULLET}")
    inputs = (replace(first, name=evil), other, replace(colours, categories=texts), *others)
    target = replace(encoding.target, noise_column=None, name="{evil}")
    renamed = replace(encoding, inputs=inputs, target=target)
    version = replace(made, predictor=replace(made.predictor, encoding=renamed))
    source = RENDERINGS["python"].render(version).decode()
    assert {type(statement) for statement in ast.parse(source).body} == {
        *(ast.Expr, ast.Import, ast.ImportFrom, ast.Assign, ast.FunctionDef)
    }
    rows = dict(block(encoding.inputs, 5, 5))
    raw = rows["colour"]
    assert isinstance(raw, CategoryArray)
    mapped = {evil if name == first.name else name: column for name, column in rows.items()}
    mapped["colour"] = replace(raw, labels=texts)
    found = predictions_of(tmp_path, {"evil": (version, listed(inputs, mapped))})
    np.testing.assert_allclose(found["evil"]["mean"], predicted(made, rows)["mean"], rtol=1e-10)


@pytest.mark.parametrize("name", ["bent, additive, free", "categorical, process", "student_t, process", "constant"])
def test_a_file_can_be_read(name: str) -> None:
    source = RENDERINGS["python"].render(trained(name)).decode()
    assert source.startswith('"""Version 1 of the model')
    assert source == RENDERINGS["python"].render(trained(name)).decode()
    lines = source.splitlines()
    assert max(map(len, lines)) <= 140
    imported = {
        one.module if isinstance(one, ast.ImportFrom) else one.names[0].name
        for one in ast.parse(source).body
        if isinstance(one, ast.Import | ast.ImportFrom)
    }
    assert imported == {"collections.abc", "math", "numpy"}
    defined = {one.name for one in ast.parse(source).body if isinstance(one, ast.FunctionDef)}
    used = {node.id for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Name)}
    assert defined - used == {"predict"}
