"""Decisions of one version: by its own frequencies, beside bad rows, and what they leave as it was."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from app.prediction import PredictRequest, predict
from relevance_bayes.records.errors import InvalidRequestError
from relevance_bayes.records.predictions import ClassPrior, DecisionOptions
from relevance_bayes.tables.columns import Block
from relevance_bayes.tasks.decisions import decided, with_priors
from relevance_bayes.tasks.prediction import PredictOptions
from relevance_bayes.tasks.supervised.predictions import ClassificationPrediction
from relevance_bayes.tasks.supervised.training import NewSupervisedVersion
from tests.prediction.test_predict import BLOCK, MIXED
from tests.served_versions import served
from tests.small_models import ROWS_OF_CLASSES, small_version, version_of_three_classes
from tests.small_tables import numbers, texts
from tests.tasks.supervised.test_predictions_classes import MANY

TWO, THREE = small_version("classification"), version_of_three_classes()
COSTS = np.array([[0.0, 1.0, 4.0], [2.0, 0.0, 1.0], [6.0, 3.0, 0.0]])


def priors(made: NewSupervisedVersion, *given: float) -> tuple[ClassPrior, ...]:
    return tuple(map(ClassPrior, made.predictor.encoding.target.classes, given))


def classes(
    made: NewSupervisedVersion, deciding: DecisionOptions | None, *, explain: int | None = None
) -> ClassificationPrediction:
    found = predict(served(made), PredictRequest(MANY, PredictOptions(explain=explain, deciding=deciding)))
    assert isinstance(found, ClassificationPrediction)
    return found


@pytest.mark.parametrize(("made", "new"), [(TWO, (0.9, 0.1)), (THREE, (0.1, 0.7, 0.2))], ids=["two", "three"])
def test_priors_are_against_the_frequencies_that_were_learned_from(
    made: NewSupervisedVersion, new: tuple[float, ...]
) -> None:
    plain, found = classes(made, None), classes(made, DecisionOptions(priors(made, *new)))
    rows = np.array(ROWS_OF_CLASSES[len(new)])
    assert_allclose(found.probabilities, with_priors(plain.probabilities, rows / rows.sum(), np.array(new)), rtol=1e-12)
    assert_array_equal(found.latent_mean, plain.latent_mean)
    assert found.decisions is not None
    assert_array_equal(found.decisions.chosen, found.most_probable)
    assert (found.most_probable != plain.most_probable).any()
    assert plain.decisions is None


def test_the_frequencies_learned_from_as_priors_change_nothing() -> None:
    plain, found = classes(THREE, None), classes(THREE, DecisionOptions(priors(THREE, 0.5, 0.3, 0.2)))
    assert_allclose(found.probabilities, plain.probabilities, rtol=1e-12)


def test_costs_and_a_limit_decide_by_the_probabilities_under_the_priors() -> None:
    found = classes(THREE, DecisionOptions(priors(THREE, 0.1, 0.7, 0.2), tuple(map(tuple, COSTS.tolist())), 0.7))
    expected = decided(found.probabilities, COSTS, 0.7)
    assert found.decisions is not None
    assert_array_equal(found.decisions.chosen, expected.chosen)
    assert_allclose(found.decisions.expected_cost, expected.expected_cost, rtol=1e-12)
    assert_array_equal(found.decisions.rejected, expected.rejected)
    assert 0 < expected.rejected.sum() < len(expected.rejected)
    assert (found.decisions.chosen != found.most_probable).any()


def test_what_is_explained_is_the_class_that_is_most_probable_under_the_priors() -> None:
    found = classes(THREE, DecisionOptions(priors(THREE, 0.02, 0.03, 0.95)), explain=3)
    ours = np.take_along_axis(found.latent_mean, found.most_probable[:, None], axis=1)[:, 0]
    assert found.explanation is not None
    assert_allclose(found.explanation.added.sum(axis=1), ours, rtol=1e-12)
    assert (found.most_probable != classes(THREE, None).most_probable).any()


@pytest.mark.parametrize("made", [TWO, THREE], ids=["two", "three"])
def test_a_bad_row_changes_no_other_decision(made: NewSupervisedVersion) -> None:
    deciding = DecisionOptions(reject_cost=0.4)
    refusing = PredictOptions(deciding=deciding, unknown_categories="error", nulls="error")
    mixed = predict(served(made), PredictRequest(MIXED, refusing))
    sound: Block = {"x": numbers(0.5, 1.0, 3.0), "colour": texts("red", "blue", "red")}
    alone = predict(served(made), PredictRequest(sound, PredictOptions(deciding=deciding)))
    assert isinstance(mixed, ClassificationPrediction)
    assert isinstance(alone, ClassificationPrediction)
    assert mixed.decisions is not None
    assert alone.decisions is not None
    places = [0, 2, 4]
    assert_array_equal(mixed.decisions.chosen[places], alone.decisions.chosen)
    assert_array_equal(mixed.decisions.rejected[places], alone.decisions.rejected)
    assert_allclose(mixed.decisions.expected_cost[places], alone.decisions.expected_cost, rtol=1e-12)
    assert np.isnan(mixed.decisions.expected_cost[[1, 3]]).all()


def test_bad_rows_alone_have_no_decisions_to_make() -> None:
    bad: Block = {"x": numbers(1e300), "colour": texts("red")}
    found = predict(
        served(THREE), PredictRequest(bad, PredictOptions(deciding=DecisionOptions(priors(THREE, 0.1, 0.7, 0.2))))
    )
    assert isinstance(found, ClassificationPrediction)
    assert found.decisions is not None
    assert np.isnan(found.decisions.expected_cost).all()


def test_a_number_is_refused() -> None:
    with pytest.raises(InvalidRequestError, match="predicts a number"):
        predict(
            served(small_version()), PredictRequest(BLOCK, PredictOptions(deciding=DecisionOptions(reject_cost=1.0)))
        )
