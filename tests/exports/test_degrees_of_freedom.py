"""The degrees of freedom in documents: absent where predictions are Gaussian, and those of one model or a pool."""

import json
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import norm
from scipy.stats import t as student_t

from app.exports.formats import RENDERINGS
from relevance_bayes.core.models.model import Model
from relevance_bayes.core.models.pool import LearnedModel, Pool, degrees_of_freedom_of, members_of
from relevance_bayes.documents.reports import ExportedSupervised
from relevance_bayes.documents.schema import DOCUMENT, version_of
from relevance_bayes.documents.validation import supervised_faults
from relevance_bayes.tasks.supervised.report import SupervisedPredictor
from tests.exports.trained import block, predicted, trained

ONE, SEVERAL, LOGARITHM = "gaussian learned, process", "a pool", "log_gaussian, process"


def learned(name: str) -> Model | Pool:
    found = trained(name).predictor.learned
    assert isinstance(found, Model | Pool)
    return found


def written(made: ExportedSupervised) -> dict[str, object]:
    document: dict[str, object] = json.loads(RENDERINGS["json"].render(made))
    return document


def read(document: dict[str, object]) -> ExportedSupervised:
    back = version_of(DOCUMENT.validate_json(json.dumps(document), strict=True))
    assert isinstance(back, ExportedSupervised)
    return back


def pointers(name: str, model: LearnedModel) -> set[str | None]:
    encoding = trained(name).predictor.encoding
    return {fault.pointer for fault in supervised_faults(SupervisedPredictor(encoding, model), "regression")}


@pytest.mark.parametrize("name", [ONE, SEVERAL])
def test_an_interval_of_few_rows_is_students_t(name: str) -> None:
    made = trained(name)
    found = predicted(made, block(made.predictor.encoding.inputs, 20, 5))
    nu = degrees_of_freedom_of(made.predictor.learned)
    assert nu is not None
    reach = float(student_t.ppf(0.975, nu)) * found["sd"]
    np.testing.assert_allclose(found["upper"] - found["mean"], reach, rtol=1e-6)
    np.testing.assert_allclose(found["mean"] - found["lower"], reach, rtol=1e-6)


@pytest.mark.parametrize("name", [ONE, SEVERAL, LOGARITHM])
def test_a_document_without_degrees_of_freedom_predicts_by_the_normal_distribution(name: str) -> None:
    made = trained(name)
    rows = block(made.predictor.encoding.inputs, 20, 5)
    document = written(made)
    model = document["model"]
    assert isinstance(model, dict)
    assert model["degrees_of_freedom"] == learned(name).degrees_of_freedom
    model["degrees_of_freedom"] = None
    before, found = predicted(made, rows), predicted(read(document), rows)
    rows_learned = members_of(made.predictor.learned)[0].rows
    if name != LOGARITHM:
        np.testing.assert_array_equal(found["mean"], before["mean"])
        for member in ("total", "noise", "weights", "residual"):
            np.testing.assert_allclose(before[member], found[member] * rows_learned / (rows_learned - 1.0), rtol=1e-12)
        np.testing.assert_allclose(found["upper"] - found["mean"], norm.ppf(0.975) * found["sd"], rtol=1e-9)
    assert (found["upper"] < before["upper"]).all()


def test_only_learned_noise_of_one_size_is_integrated() -> None:
    for name in ("gaussian 0.1, process", "gaussian rows, process", "student_t, process", "heteroscedastic noise"):
        assert pointers(name, learned(name)) == set()
        forged = replace(learned(name), degrees_of_freedom=3.0)
        assert pointers(name, forged) == {"/model/degrees_of_freedom"}


def test_one_row_leaves_no_degrees_of_freedom() -> None:
    model = learned(ONE)
    assert isinstance(model, Model)
    assert pointers(ONE, replace(model, rows=1)) >= {"/model/degrees_of_freedom"}


def test_members_of_a_pool_have_none_of_their_own() -> None:
    found = learned(SEVERAL)
    assert isinstance(found, Pool)
    first, second, *others = found.members
    forged = replace(found, members=(first, replace(second, degrees_of_freedom=3.0), *others))
    assert pointers(SEVERAL, found) == set()
    assert pointers(SEVERAL, forged) == {"/model/members/1/degrees_of_freedom"}
