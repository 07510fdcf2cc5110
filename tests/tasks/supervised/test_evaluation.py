"""Rows beside what came of them: the figures that a fit records of rows held out are those of the same rows judged."""

from dataclasses import replace

import numpy as np
import pytest

from app.evaluation.metrics.classes import ClassScores
from app.evaluation.metrics.numbers import NumberScores
from app.prediction import PredictRequest, evaluate_block, predict
from relevance_bayes.core.likelihoods import LogGaussian, StudentT
from relevance_bayes.core.models.prediction import predict as core_predict
from relevance_bayes.core.models.prediction import scores
from relevance_bayes.records.errors import InvalidRequestError
from relevance_bayes.tables.columns import Block, BooleanArray
from relevance_bayes.tables.encoding import encode_inputs, encode_target, user_scores
from relevance_bayes.tasks.prediction import LabelledClasses, LabelledNumbers, PredictOptions
from relevance_bayes.tasks.supervised import evaluation as under_test
from relevance_bayes.tasks.supervised.predictions import RegressionPrediction
from relevance_bayes.tasks.supervised.training import NewSupervisedVersion
from tests.served_versions import served
from tests.small_components import version_of_components
from tests.small_models import small_version
from tests.small_tables import numbers, texts

INPUTS: Block = {"x": numbers(0.5, 1.0, 3.0, 2.0), "colour": texts("red", "blue", "red", "blue")}
TARGET = numbers(11.0, 9.5, 13.0, 8.0)


def learned_under(likelihood: LogGaussian | StudentT) -> NewSupervisedVersion:
    made = small_version()
    target = replace(made.predictor.encoding.target, logarithmic=isinstance(likelihood, LogGaussian), shift=0.0)
    predictor = replace(
        made.predictor,
        encoding=replace(made.predictor.encoding, target=target),
        learned=replace(made.predictor.model, likelihood=likelihood),
    )
    return replace(made, predictor=predictor)


@pytest.mark.parametrize(
    "made",
    [small_version(), learned_under(LogGaussian()), learned_under(StudentT(4.0))],
    ids=["gaussian", "log_gaussian", "student_t"],
)
def test_figures_of_numbers_are_those_that_a_fit_records(made: NewSupervisedVersion) -> None:
    block: Block = {**INPUTS, "y": TARGET}
    encoding = made.predictor.encoding
    inputs, _ = encode_inputs(encoding, block)
    prediction = core_predict(made.predictor.model, inputs)
    expected = user_scores(encoding.target, scores(prediction, encode_target(encoding.target, block)))
    (labelled,) = evaluate_block(served(made), block).labelled
    assert isinstance(labelled, LabelledNumbers)
    found = NumberScores.of(labelled).result()
    reported = {"rmse": found.metrics.rmse, "mae": found.metrics.mae, "r2": found.metrics.r2, "nll": found.metrics.nll}
    assert {**reported, "coverage_95": found.metrics.coverage[-1].share} == pytest.approx(expected, rel=1e-9)


def test_figures_of_classes_are_those_that_a_fit_records() -> None:
    made = small_version("classification")
    block: Block = {**INPUTS, "y": BooleanArray(np.array([1, 0, 1, 1], np.int8))}
    inputs, _ = encode_inputs(made.predictor.encoding, block)
    expected = scores(core_predict(made.predictor.model, inputs), encode_target(made.predictor.encoding.target, block))
    (labelled,) = evaluate_block(served(made), block).labelled
    assert isinstance(labelled, LabelledClasses)
    found = ClassScores.of(labelled).result()
    assert {
        "error": found.metrics.error,
        "log_loss": found.metrics.log_loss,
        "brier": found.metrics.brier,
    } == pytest.approx(expected)


def test_ends_of_intervals_and_means_are_those_that_are_returned() -> None:
    version = served(small_version())
    block: Block = {**INPUTS, "y": TARGET}
    (labelled,) = evaluate_block(version, block).labelled
    assert isinstance(labelled, LabelledNumbers)
    for place, interval in enumerate((0.5, 0.8, 0.95)):
        reported = predict(version, PredictRequest(block, PredictOptions(interval)))
        assert isinstance(reported, RegressionPrediction)
        assert labelled.lower[place] == pytest.approx(reported.lower)
        assert labelled.upper[place] == pytest.approx(reported.upper)
        assert labelled.mean == pytest.approx(reported.mean)
        assert labelled.sd == pytest.approx(reported.sd)


def test_rows_without_a_target_or_a_prediction_are_counted_and_the_others_judged() -> None:
    block: Block = {
        "x": numbers(0.5, 1e300, 3.0, -1e300, 1e300),
        "colour": texts("red", "blue", "red", "red", "red"),
        "y": numbers(11.0, 9.5, None, 8.0, None),
    }
    found = evaluate_block(served(small_version()), block)
    assert (found.without_target, found.not_predicted) == (2, 2)
    assert found.chosen.tolist() == [True, False, False, False, False]
    assert [len(labelled.target) for labelled in found.labelled if isinstance(labelled, LabelledNumbers)] == [1]


def test_a_class_that_the_version_has_never_seen_is_distinguished_from_a_gap() -> None:
    made = small_version("classification", classes=("no", "yes"))
    block: Block = {**INPUTS, "y": texts("yes", "perhaps", None, "no")}
    found = evaluate_block(served(made), block)
    (labelled,) = found.labelled
    assert isinstance(labelled, LabelledClasses)
    assert (labelled.truth.tolist(), found.without_target) == ([1, -1, 0], 1)


def test_a_long_block_is_judged_in_pieces_to_the_same_figures(monkeypatch: pytest.MonkeyPatch) -> None:
    block: Block = {**INPUTS, "y": TARGET}
    version = served(small_version())
    (full,) = evaluate_block(version, block).labelled
    monkeypatch.setattr(under_test, "ROWS_AT_ONCE", 3)
    parts = [part for part in evaluate_block(version, block).labelled if isinstance(part, LabelledNumbers)]
    assert isinstance(full, LabelledNumbers)
    assert [len(part.target) for part in parts] == [3, 1]
    assert np.concatenate([part.log_density for part in parts]) == pytest.approx(full.log_density)


def test_what_has_no_target_cannot_be_judged() -> None:
    with pytest.raises(InvalidRequestError, match="no target"):
        evaluate_block(served(version_of_components()), INPUTS)
