"""Predictions: what is kept, how stale it may be, and the user's units."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import norm

from app.domain.encoding import encode_inputs
from app.domain.errors import NotFoundError, UnavailableError
from app.domain.identity import BUILT_IN_OWNER as OWNER
from app.domain.requests import Task
from app.domain.tables import Block
from app.services import prediction as under_test
from app.services.prediction import ClassificationAnswer, Prediction, RegressionAnswer
from app.sparse_bayes.prediction import ClassPrediction, RealPrediction, predict
from app.sparse_bayes.priors import GaussianProcess, Independent, Prior
from tests.domain.small_tables import numbers, texts
from tests.services.in_memory import InMemory
from tests.services.small_models import AMPLITUDE, small_version


class Watch:
    """A clock that stands still."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def kept() -> InMemory:
    return InMemory()


@pytest.fixture
def watch() -> Watch:
    return Watch()


@pytest.fixture
def prediction(kept: InMemory, watch: Watch) -> Prediction:
    return Prediction(kept.open, 10**6, now=watch)


BLOCK: Block = {"x": numbers(0.5, 1.0, 3.0), "colour": texts("red", "blue", "red")}


def test_a_version_at_hand_costs_no_look_at_the_database(kept: InMemory, prediction: Prediction) -> None:
    kept.models.put(OWNER, small_version(), number=1)
    assert prediction.at_hand(OWNER, "small", None) is None
    served = prediction.version(OWNER, "small")
    opened = kept.opened
    assert prediction.at_hand(OWNER, "small", None) is served
    assert kept.opened == opened


def test_a_newer_version_is_seen_within_a_second(kept: InMemory, prediction: Prediction, watch: Watch) -> None:
    kept.models.put(OWNER, small_version(), number=1)
    prediction.version(OWNER, "small")
    kept.models.put(OWNER, small_version(), number=2)
    watch.now += 1.0
    assert prediction.at_hand(OWNER, "small", None) is None
    assert prediction.version(OWNER, "small").version.number == 2


def test_one_caller_asks_ahead_and_the_others_need_not_wait(
    kept: InMemory, prediction: Prediction, watch: Watch
) -> None:
    kept.models.put(OWNER, small_version(), number=1)
    prediction.version(OWNER, "small")
    watch.now += 0.6
    assert prediction.at_hand(OWNER, "small", None) is None
    assert prediction.at_hand(OWNER, "small", None) is not None


def test_a_deleted_version_is_gone_within_a_second(kept: InMemory, prediction: Prediction, watch: Watch) -> None:
    kept.models.put(OWNER, small_version(), number=1)
    kept.models.put(OWNER, small_version(), number=2)
    prediction.version(OWNER, "small", 1)
    kept.models.delete_version(OWNER, "small", 1)
    watch.now += 1.0
    assert prediction.at_hand(OWNER, "small", 1) is None
    with pytest.raises(NotFoundError):
        prediction.version(OWNER, "small", 1)


def test_a_version_is_loaded_once_while_it_is_kept(kept: InMemory, prediction: Prediction, watch: Watch) -> None:
    kept.models.put(OWNER, small_version(), number=1)
    for _ in range(3):
        prediction.version(OWNER, "small")
        prediction.version(OWNER, "small", 1)
        watch.now += 2.0
    assert kept.models.loads == 1


def test_a_cache_without_room_serves_all_the_same(kept: InMemory) -> None:
    kept.models.put(OWNER, small_version(), number=1)
    prediction = Prediction(kept.open, 10)
    assert prediction.version(OWNER, "small").version.number == 1
    assert prediction.at_hand(OWNER, "small", None) is None


def test_another_owner_finds_nothing(kept: InMemory, prediction: Prediction) -> None:
    kept.models.put(OWNER, small_version(), number=1)
    prediction.version(OWNER, "small")
    assert prediction.at_hand("somebody else", "small", None) is None
    with pytest.raises(NotFoundError):
        prediction.version("somebody else", "small")


def test_names_that_are_remembered_stay_few(
    kept: InMemory, prediction: Prediction, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(under_test, "MOST_NAMES", 3)
    for name in "abcdef":
        kept.models.put(OWNER, small_version(name=name), number=1)
        prediction.version(OWNER, name)
    assert sum(prediction.at_hand(OWNER, name, None) is not None for name in "abcdef") <= 3


def test_a_database_out_of_reach_is_said(kept: InMemory, prediction: Prediction) -> None:
    kept.reachable = False
    with pytest.raises(UnavailableError):
        prediction.version(OWNER, "small")


@pytest.mark.parametrize("prior", [Independent(), GaussianProcess()])
def test_numbers_are_in_the_users_units(kept: InMemory, prediction: Prediction, prior: Prior) -> None:
    made = small_version(prior=prior)
    kept.models.put(OWNER, made, number=1)
    answer = prediction.answer(prediction.version(OWNER, "small"), BLOCK, interval=0.9)
    inputs, _ = encode_inputs(made.predictor.encoding, BLOCK)
    core = predict(made.predictor.model, inputs)
    assert isinstance(core, RealPrediction)
    assert isinstance(answer, RegressionAnswer)
    assert_allclose(answer.mean, 10 + 2 * core.mean, rtol=1e-12)
    assert_allclose(answer.noise, 4 * core.noise, rtol=1e-12)
    assert_allclose(answer.weights, 4 * core.weights, rtol=1e-12)
    assert_allclose(answer.beyond, 4 * core.beyond, rtol=1e-12)
    assert np.all(answer.beyond > 0.0) == isinstance(prior, GaussianProcess)
    assert_allclose(answer.total, answer.noise + answer.weights + answer.beyond, rtol=1e-12)
    assert_allclose(answer.sd, np.sqrt(answer.total), rtol=1e-12)
    assert_allclose(answer.lower, norm.ppf(0.05, answer.mean, answer.sd), rtol=1e-12)
    assert_allclose(answer.upper, norm.ppf(0.95, answer.mean, answer.sd), rtol=1e-12)


def test_far_from_the_data_all_of_a_process_is_beyond_its_functions(kept: InMemory, prediction: Prediction) -> None:
    kept.models.put(OWNER, small_version(prior=Independent()), number=1)
    kept.models.put(OWNER, small_version(prior=GaussianProcess()), number=2)
    far: Block = {"x": numbers(-1e6, 1e6), "colour": texts("red", "blue")}
    narrow, wide = (
        prediction.answer(prediction.version(OWNER, "small", number), far, interval=0.95) for number in (1, 2)
    )
    assert isinstance(narrow, RegressionAnswer)
    assert isinstance(wide, RegressionAnswer)
    assert_allclose(narrow.beyond, 0.0)
    assert_allclose(wide.beyond, 4 * AMPLITUDE, rtol=1e-12)
    assert_allclose(wide.total - narrow.total, 4 * AMPLITUDE, rtol=1e-12)
    assert_allclose(wide.mean, narrow.mean, rtol=1e-12)


@pytest.mark.parametrize("prior", [Independent(), GaussianProcess()])
def test_classes_have_the_cores_probabilities(kept: InMemory, prediction: Prediction, prior: Prior) -> None:
    made = small_version("classification", classes=("no", "yes"), prior=prior)
    kept.models.put(OWNER, made, number=1)
    answer = prediction.answer(prediction.version(OWNER, "small"), BLOCK, interval=0.9)
    inputs, _ = encode_inputs(made.predictor.encoding, BLOCK)
    core = predict(made.predictor.model, inputs)
    assert isinstance(core, ClassPrediction)
    assert isinstance(answer, ClassificationAnswer)
    assert answer.classes == ("no", "yes")
    assert_allclose(answer.probability, core.probability, rtol=1e-12)
    assert_allclose(answer.latent_mean, core.latent_mean, rtol=1e-12)
    assert_allclose(answer.latent_variance, core.latent_variance, rtol=1e-12)


@pytest.mark.parametrize("task", ["regression", "classification"])
def test_a_bad_row_changes_no_other(kept: InMemory, prediction: Prediction, task: Task) -> None:
    kept.models.put(OWNER, small_version(task), number=1)
    served = prediction.version(OWNER, "small")
    sound = prediction.answer(served, BLOCK, interval=0.95)
    mixed: Block = {"x": numbers(0.5, None, 1.0, 3.0, 3.0), "colour": texts("red", "blue", "blue", "green", "red")}
    answer = prediction.answer(served, mixed, interval=0.95)
    assert [fault.row for fault in answer.faults] == [1, 3]
    one, other = (
        (answer.mean, sound.mean)
        if isinstance(answer, RegressionAnswer) and isinstance(sound, RegressionAnswer)
        else (answer.probability, sound.probability)
        if isinstance(answer, ClassificationAnswer) and isinstance(sound, ClassificationAnswer)
        else (np.zeros(1), np.ones(1))
    )
    assert_allclose(one[[0, 2, 4]], other, rtol=1e-12)
    assert np.isnan(one[[1, 3]]).all()


def test_a_batch_with_bad_rows_alone_is_answered(kept: InMemory, prediction: Prediction) -> None:
    kept.models.put(OWNER, small_version(), number=1)
    answer = prediction.answer(
        prediction.version(OWNER, "small"), {"x": numbers(1.0), "colour": texts("green")}, interval=0.95
    )
    assert isinstance(answer, RegressionAnswer)
    assert np.isnan(answer.mean).all()
    assert len(answer.faults) == 1


def test_a_batch_cut_up_inside_gets_the_same_answers(
    kept: InMemory, prediction: Prediction, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept.models.put(OWNER, small_version(), number=1)
    served = prediction.version(OWNER, "small")
    block: Block = {"x": numbers(*np.linspace(-2, 4, 50)), "colour": texts(*["red", "blue"] * 25)}
    whole = prediction.answer(served, block, interval=0.95)
    monkeypatch.setattr(under_test, "ROWS_AT_ONCE", 7)
    pieces = prediction.answer(served, block, interval=0.95)
    assert isinstance(whole, RegressionAnswer)
    assert isinstance(pieces, RegressionAnswer)
    assert_allclose(pieces.mean, whole.mean, rtol=1e-12)
    assert_allclose(pieces.upper, whole.upper, rtol=1e-12)
