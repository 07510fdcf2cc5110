"""Versions at hand: what is kept of them, and how stale it may be."""

import pytest

from app.domain.errors import NotFoundError, UnavailableError
from app.domain.identity import BUILT_IN_OWNER as OWNER
from app.services import prediction as under_test
from app.services.prediction import Prediction
from tests.services.in_memory import InMemory
from tests.services.small_components import version_of_components
from tests.services.small_models import small_version


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
    watch.now += 0.9
    assert prediction.at_hand(OWNER, "small", None) is None
    assert prediction.at_hand(OWNER, "small", None) is not None
    watch.now += 0.1
    assert prediction.at_hand(OWNER, "small", None) is None


def test_what_a_name_means_is_renewed_before_anybody_has_to_ask(
    kept: InMemory, prediction: Prediction, watch: Watch
) -> None:
    kept.models.put(OWNER, small_version(), number=1)
    prediction.version(OWNER, "small")
    prediction.version(OWNER, "small", 1)
    looks = kept.models.looks
    for _ in range(10):
        watch.now += 0.5
        assert prediction.renew()
        assert prediction.at_hand(OWNER, "small", None) is prediction.at_hand(OWNER, "small", 1) is not None
    assert kept.models.looks == looks


def test_a_newer_version_is_loaded_before_a_name_stands_for_it(
    kept: InMemory, prediction: Prediction, watch: Watch
) -> None:
    kept.models.put(OWNER, small_version(), number=1)
    prediction.version(OWNER, "small")
    prediction.version(OWNER, "small", 1)
    kept.models.put(OWNER, small_version(), number=2)
    watch.now += 0.5
    assert prediction.renew()
    newest, first = prediction.at_hand(OWNER, "small", None), prediction.at_hand(OWNER, "small", 1)
    assert newest is not None
    assert first is not None
    assert (newest.version.number, first.version.number) == (2, 1)


def test_what_is_gone_is_forgotten_when_it_is_renewed(kept: InMemory, prediction: Prediction) -> None:
    kept.models.put(OWNER, small_version(), number=1)
    prediction.version(OWNER, "small")
    kept.models.delete(OWNER, "small")
    assert prediction.renew()
    assert prediction.at_hand(OWNER, "small", None) is None
    assert not prediction.renew()


def test_what_was_found_gone_is_at_nobodys_hand(kept: InMemory, prediction: Prediction) -> None:
    kept.models.put(OWNER, small_version(), number=1)
    prediction.version(OWNER, "small")
    kept.models.delete(OWNER, "small")
    with pytest.raises(NotFoundError):
        prediction.version(OWNER, "small")
    assert prediction.at_hand(OWNER, "small", None) is None


def test_a_name_that_nobody_asks_for_is_not_renewed(kept: InMemory, prediction: Prediction, watch: Watch) -> None:
    kept.models.put(OWNER, small_version(), number=1)
    prediction.version(OWNER, "small")
    watch.now += under_test.WANTED_SECONDS
    opened = kept.opened
    assert not prediction.renew()
    assert kept.opened == opened


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


def test_the_functions_are_those_of_the_versions_list(kept: InMemory, prediction: Prediction) -> None:
    made = small_version()
    kept.models.put(OWNER, made, number=1)
    served = prediction.version(OWNER, "small")
    assert [(one.number, one.kind, one.row, one.input) for one in served.functions] == [
        (vector.number, vector.kind, vector.row, vector.input) for vector in made.vectors
    ]
    assert len(served.functions) == len(made.predictor.model.mean)


def test_what_explains_nothing_lists_no_functions(kept: InMemory, prediction: Prediction) -> None:
    made = version_of_components()
    kept.models.put(OWNER, made, number=1)
    assert made.vectors
    assert prediction.version(OWNER, "rows").functions == ()
