"""Answers of models in which each of three classes has a latent."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from app.inference.signature import tensors_of
from app.prediction import PredictRequest, predict
from relevance_bayes.core.basis import evaluate
from relevance_bayes.core.models.prediction import ClassPrediction
from relevance_bayes.core.models.prediction import predict as core_predict
from relevance_bayes.records.errors import InvalidRequestError
from relevance_bayes.tables.columns import Block
from relevance_bayes.tables.encoding import encode_inputs
from relevance_bayes.tasks.prediction import PredictOptions
from relevance_bayes.tasks.supervised.prediction import SupervisedModel
from relevance_bayes.tasks.supervised.predictions import ClassificationPrediction
from tests.exports.trained import block, trained
from tests.prediction.test_predict import BLOCK, MIXED
from tests.served_versions import served
from tests.small_models import STATES, WEIGHTS, version_of_three_classes
from tests.small_tables import numbers, texts

MADE = version_of_three_classes()
MANY: Block = {"x": numbers(*np.linspace(-1.0, 4.0, 40)), "colour": texts(*["red", "blue"] * 20)}


def classes(block: Block, required: PredictOptions = PredictOptions()) -> ClassificationPrediction:  # noqa: B008
    found = predict(served(MADE), PredictRequest(block, required))
    assert isinstance(found, ClassificationPrediction)
    return found


def test_each_class_has_the_cores_probability_and_latent() -> None:
    found = classes(BLOCK)
    inputs, _ = encode_inputs(MADE.predictor.encoding, BLOCK)
    core = core_predict(MADE.predictor.model, inputs)
    assert isinstance(core, ClassPrediction)
    assert found.classes == STATES
    assert (found.probabilities.shape, found.latent_mean.shape, found.latent_variance.shape) == ((3, 3), (3, 3), (3,))
    assert_allclose(found.probabilities, core.probabilities, rtol=1e-12)
    assert_allclose(found.probabilities.sum(axis=1), 1.0, rtol=1e-12)
    assert_allclose(found.latent_mean, core.latent_mean, rtol=1e-12)
    assert_allclose(found.latent_variance, core.latent_variance, rtol=1e-12)
    assert found.support is not None


@pytest.mark.parametrize("max_functions", [1, 2, 20])
def test_a_class_is_explained_by_its_own_latent(max_functions: int) -> None:
    found = classes(MANY, PredictOptions(explain=max_functions))
    inputs, _ = encode_inputs(MADE.predictor.encoding, MANY)
    chosen = found.most_probable
    assert len(np.unique(chosen)) > 1
    terms = evaluate(MADE.predictor.model.functions, inputs) * WEIGHTS.T[chosen]
    assert found.explanation is not None
    shown = min(max_functions, 3)
    assert_allclose(np.abs(found.explanation.added), -np.sort(-np.abs(terms), axis=1)[:, :shown], rtol=1e-12)
    assert_allclose(found.explanation.added, np.take_along_axis(terms, found.explanation.functions, axis=1), rtol=1e-12)
    if max_functions > 2:
        ours = np.take_along_axis(found.latent_mean, chosen[:, None], axis=1)[:, 0]
        assert_allclose(found.explanation.added.sum(axis=1), ours, rtol=1e-12)
        assert_allclose(found.explanation.shares.sum(axis=1), 1.0, rtol=1e-12)


def test_a_bad_row_among_classes_changes_no_other() -> None:
    found = classes(MIXED, PredictOptions(explain=2, unknown_categories="error", nulls="error"))
    alone = classes({"x": numbers(0.5, 1.0, 3.0), "colour": texts("red", "blue", "red")}, PredictOptions(explain=2))
    sound = np.array([0, 2, 4])
    assert {fault.row for fault in found.faults} == {1, 3}
    assert_array_equal(np.isnan(found.probabilities).all(axis=1), [False, True, False, True, False])
    assert_allclose(found.probabilities[sound], alone.probabilities, rtol=1e-12)
    assert found.explanation is not None
    assert alone.explanation is not None
    assert_array_equal(found.explanation.functions[sound], alone.explanation.functions)
    assert_allclose(found.explanation.added[sound], alone.explanation.added, rtol=1e-12)


def test_a_table_of_bad_rows_or_none_has_no_class_to_explain() -> None:
    empty: Block = {"x": numbers(), "colour": texts()}
    assert classes(empty, PredictOptions(explain=2)).probabilities.shape == (0, 3)
    bad = classes({"x": numbers(1e300), "colour": texts("red")}, PredictOptions(explain=2))
    assert np.isnan(bad.probabilities).all()


@pytest.mark.parametrize("name", ["bernoulli_per_class, process", "bernoulli_per_class 1.4, independent"])
def test_a_model_for_each_class_has_a_variance_for_each_in_every_form(name: str) -> None:
    made = trained(name)
    rows = block(made.predictor.encoding.inputs, 12, 5, gaps=False)
    found = SupervisedModel.of(made.predictor, made.report).predict(rows, PredictOptions())
    assert isinstance(found, ClassificationPrediction)
    assert found.latent_variance.shape == found.latent_mean.shape == (12, 3)
    flat = found.columns(("probabilities", "latent"))
    kinds = ("probability", "latent_mean", "latent_variance")
    assert list(flat) == [f"{kind}_{state}" for kind in kinds for state in found.classes]
    for place, state in enumerate(found.classes):
        assert_array_equal(flat[f"latent_variance_{state}"], found.latent_variance[:, place])
    names = list(tensors_of(found))
    assert names == ["label", "probabilities", *(["support"] if found.support is not None else [])]
    with pytest.raises(InvalidRequestError):
        SupervisedModel.of(made.predictor, made.report).predict(rows, PredictOptions(covariance=True))


def test_no_rows_have_a_response_with_all_its_members() -> None:
    made = trained("bernoulli_per_class 1.4, independent")
    rows = block(made.predictor.encoding.inputs, 0, 5, gaps=False)
    found = SupervisedModel.of(made.predictor, made.report).predict(rows, PredictOptions(explain=2))
    assert isinstance(found, ClassificationPrediction)
    assert found.probabilities.shape == found.latent_variance.shape == (0, 3)
