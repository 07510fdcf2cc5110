"""Names that move from version to version."""

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from threading import Barrier

import pytest
from sqlalchemy import Engine

from app.database.keyset import PageRequest
from app.database.transaction import OpenTransaction, open_transactions
from app.errors import ConflictError, InUseError, PreconditionFailedError
from app.http.conditional_requests import ANY, UNCONDITIONAL, Condition
from app.prediction.served_versions import ServedVersions
from app.registry import alias_repository as under_test
from app.registry import records as limits
from app.registry.alias_repository import AliasRepository
from app.registry.records import MovedAlias
from app.registry.repository import ModelRepository
from app.registry.service import AliasService
from app.registry.version_repository import VectorRepository
from app.tasks.service import finish_training
from relevance_bayes.records.errors import InvalidRequestError, NotFoundError
from relevance_bayes.records.models import Selector
from tests import samples
from tests.doubles.queue import ListedQueue
from tests.small_models import small_version
from tests.waiting import until

OWNER, MODEL = samples.OWNER, "prices"


@pytest.fixture
def versions(transaction: OpenTransaction) -> OpenTransaction:
    """A model with three versions."""
    assert [samples.stored_version(transaction) for _ in range(3)] == [1, 2, 3]
    return transaction


def point(
    transaction: OpenTransaction,
    name: str,
    to: Selector,
    *,
    reason: str | None = None,
    condition: Condition = UNCONDITIONAL,
    by: str = OWNER,
) -> MovedAlias:
    with transaction() as tx:
        return AliasRepository(tx).move(OWNER, MODEL, name, to=to, by=by, reason=reason, condition=condition)


def test_an_alias_is_made_moved_and_found(versions: OpenTransaction) -> None:
    made = point(versions, "champion", 2, reason="The first.")
    assert made.is_new
    assert (made.alias.version, made.alias.reason, made.alias.moved_by) == (2, "The first.", OWNER)
    moved = point(versions, "champion", 3, by="ada")
    assert not moved.is_new
    assert (moved.alias.version, moved.alias.reason, moved.alias.moved_by) == (3, None, "ada")
    assert moved.alias.tag != made.alias.tag
    with versions() as tx:
        assert AliasRepository(tx).get(OWNER, MODEL, "champion") == moved.alias
        version = ModelRepository(tx).version(OWNER, MODEL, "champion")
        assert version.number == 3
        vectors = VectorRepository(tx).page(version.id, limit=9, after=None, sort="number")
        assert vectors.items == samples.vectors()
        assert ModelRepository(tx).get(OWNER, MODEL).aliases == {"champion": 3}


def test_the_same_move_again_changes_nothing_and_another_reason_is_one_more(versions: OpenTransaction) -> None:
    first = point(versions, "champion", 2, reason="Better.")
    assert point(versions, "champion", 2, reason="Better.") == MovedAlias(first.alias, is_new=False)
    other = point(versions, "champion", 2, reason="Much better.")
    assert other.alias.tag != first.alias.tag
    with versions() as tx:
        assert len(AliasRepository(tx).history(OWNER, MODEL, "champion", PageRequest(9)).items) == 2


def test_an_alias_may_point_to_where_another_one_does(versions: OpenTransaction) -> None:
    point(versions, "challenger", 3)
    point(versions, "champion", "challenger")
    point(versions, "challenger", 1)
    with versions() as tx:
        assert ModelRepository(tx).get(OWNER, MODEL).aliases == {"challenger": 1, "champion": 3}


def test_its_history_reports_who_when_from_where_to_where_and_why_page_by_page(versions: OpenTransaction) -> None:
    point(versions, "champion", 1)
    point(versions, "champion", 2, reason="Less error.", by="ada")
    with versions() as tx:
        AliasRepository(tx).remove(OWNER, MODEL, "champion", by="bob", reason="Both are bad.", condition=UNCONDITIONAL)
    point(versions, "champion", 3)
    with versions() as tx:
        full = AliasRepository(tx).history(OWNER, MODEL, "champion", PageRequest(9)).items
        first = AliasRepository(tx).history(OWNER, MODEL, "champion", PageRequest(3))
        rest = AliasRepository(tx).history(OWNER, MODEL, "champion", PageRequest(3, first.next))
    assert [(move.number, move.by, move.from_version, move.to_version, move.reason) for move in full] == [
        (4, OWNER, None, 3, None),
        (3, "bob", 2, None, "Both are bad."),
        (2, "ada", 1, 2, "Less error."),
        (1, OWNER, None, 1, None),
    ]
    assert (*first.items, *rest.items) == full
    assert rest.next is None
    times = [move.at for move in full]
    assert times == sorted(times, reverse=True)
    assert all(move.at > datetime(2026, 3, 1, tzinfo=UTC) for move in full)


def test_a_removed_alias_is_not_found_and_its_history_stays(versions: OpenTransaction) -> None:
    before = point(versions, "champion", 1).alias.tag
    with versions() as tx:
        AliasRepository(tx).remove(OWNER, MODEL, "champion", by=OWNER, reason=None, condition=UNCONDITIONAL)
    with versions() as tx:
        with pytest.raises(NotFoundError, match="no alias 'champion'"):
            AliasRepository(tx).get(OWNER, MODEL, "champion")
        with pytest.raises(NotFoundError, match="no alias 'champion'"):
            ModelRepository(tx).version(OWNER, MODEL, "champion")
        with pytest.raises(NotFoundError, match="no alias 'champion'"):
            AliasRepository(tx).remove(OWNER, MODEL, "champion", by=OWNER, reason=None, condition=UNCONDITIONAL)
        assert len(AliasRepository(tx).history(OWNER, MODEL, "champion", PageRequest(9)).items) == 2
        with pytest.raises(NotFoundError, match="no alias 'never'"):
            AliasRepository(tx).history(OWNER, MODEL, "never", PageRequest(9))
    again = point(versions, "champion", 1)
    assert again.is_new
    assert again.alias.tag != before


def test_an_alias_may_be_removed_and_made_again_in_one_unit(versions: OpenTransaction) -> None:
    point(versions, "champion", 1)
    with versions() as tx:
        for number in (2, 3):
            AliasRepository(tx).remove(OWNER, MODEL, "champion", by=OWNER, reason=None, condition=UNCONDITIONAL)
            new = Condition(none_match=frozenset({ANY}))
            AliasRepository(tx).move(OWNER, MODEL, "champion", to=number, by=OWNER, reason=None, condition=new)
    with versions() as tx:
        assert ModelRepository(tx).get(OWNER, MODEL).aliases == {"champion": 3}
        assert len(AliasRepository(tx).history(OWNER, MODEL, "champion", PageRequest(9)).items) == 5


def test_a_move_that_depends_on_what_is_no_more_changes_nothing(versions: OpenTransaction) -> None:
    seen = point(versions, "champion", 1).alias
    now = point(versions, "champion", 2).alias
    for condition in (
        Condition(match=frozenset({seen.tag})),
        Condition(none_match=frozenset({ANY})),
    ):
        with pytest.raises(PreconditionFailedError):
            point(versions, "champion", 3, condition=condition)
    with pytest.raises(PreconditionFailedError):
        point(versions, "other", 3, condition=Condition(match=frozenset({ANY})))
    with versions() as tx:
        assert AliasRepository(tx).page(OWNER, MODEL, limit=9, after=None).items == (now,)
        with pytest.raises(PreconditionFailedError):
            AliasRepository(tx).remove(
                OWNER, MODEL, "champion", by=OWNER, reason=None, condition=Condition(match=frozenset({seen.tag}))
            )
    assert point(versions, "champion", 3, condition=Condition(match=frozenset({now.tag}))).alias.version == 3
    assert point(versions, "other", 3, condition=Condition(none_match=frozenset({ANY}))).is_new


def test_of_many_who_saw_the_same_one_moves_it_and_the_others_learn_that(versions: OpenTransaction) -> None:
    seen = point(versions, "champion", 1).alias
    others, together = 6, Barrier(6)

    def attempt(number: int) -> int:
        together.wait()
        try:
            condition = Condition(match=frozenset({seen.tag}))
            return point(versions, "champion", 2 + number % 2, reason=str(number), condition=condition).alias.version
        except PreconditionFailedError:
            return 0

    with ThreadPoolExecutor(others) as threads:
        outcomes = list(threads.map(attempt, range(others)))
    assert sorted(map(bool, outcomes)) == [False] * (others - 1) + [True]
    with versions() as tx:
        assert AliasRepository(tx).get(OWNER, MODEL, "champion").version == max(outcomes)
        assert len(AliasRepository(tx).history(OWNER, MODEL, "champion", PageRequest(9)).items) == 2


def test_moves_without_a_condition_are_made_one_after_the_other(versions: OpenTransaction) -> None:
    together = Barrier(6)

    def attempt(number: int) -> bool:
        together.wait()
        return point(versions, "champion", 1 + number % 3, reason=str(number)).is_new

    with ThreadPoolExecutor(6) as threads:
        assert sorted(threads.map(attempt, range(6))) == [False] * 5 + [True]
    with versions() as tx:
        moves = AliasRepository(tx).history(OWNER, MODEL, "champion", PageRequest(9)).items
    assert [move.number for move in moves] == [6, 5, 4, 3, 2, 1]
    assert [move.from_version for move in moves[:-1]] == [move.to_version for move in moves[1:]]


def test_a_version_that_an_alias_points_to_stays(versions: OpenTransaction) -> None:
    point(versions, "champion", 2)
    point(versions, "blue", 2)
    for selector in (2, "champion"):
        with pytest.raises(InUseError, match="has the aliases 'blue', 'champion'"), versions() as tx:
            ModelRepository(tx).delete_version(OWNER, MODEL, selector)
    point(versions, "blue", 1)
    with pytest.raises(InUseError, match="has the alias 'champion'"), versions() as tx:
        ModelRepository(tx).delete_version(OWNER, MODEL, 2)
    point(versions, "champion", 1)
    with versions() as tx:
        ModelRepository(tx).delete_version(OWNER, MODEL, 2)
    with pytest.raises(NotFoundError, match="no version 2"):
        point(versions, "champion", 2)


def test_a_version_that_is_deleted_while_an_alias_moves_there_is_one_or_the_other(versions: OpenTransaction) -> None:
    for number in (1, 2):
        together = Barrier(2)

        def move(number: int = number, together: Barrier = together) -> bool:
            together.wait()
            try:
                return bool(point(versions, "champion", number))
            except NotFoundError:
                return False

        def remove(number: int = number, together: Barrier = together) -> bool:
            together.wait()
            try:
                with versions() as tx:
                    ModelRepository(tx).delete_version(OWNER, MODEL, number)
            except InUseError:
                return False
            return True

        with ThreadPoolExecutor(2) as threads:
            done = [threads.submit(work) for work in (move, remove)]
        assert sorted(future.result() for future in done) == [False, True]


def test_a_deleted_models_aliases_and_their_history_go_with_it(versions: OpenTransaction) -> None:
    point(versions, "champion", 2)
    with versions() as tx:
        ModelRepository(tx).delete(OWNER, MODEL)
    with versions() as tx, pytest.raises(NotFoundError, match="no model"):
        AliasRepository(tx).get(OWNER, MODEL, "champion")
    with pytest.raises(NotFoundError, match="no model"):
        point(versions, "champion", 2)
    assert samples.stored_version(versions) == 4
    with versions() as tx:
        assert AliasRepository(tx).page(OWNER, MODEL, limit=9, after=None).items == ()
        with pytest.raises(NotFoundError, match="no alias"):
            AliasRepository(tx).history(OWNER, MODEL, "champion", PageRequest(9))
    assert point(versions, "champion", 4).is_new


def test_owners_do_not_see_each_others_aliases(versions: OpenTransaction) -> None:
    samples.stored_version(versions, owner=samples.STRANGER)
    point(versions, "champion", 2)
    with versions() as tx:
        assert ModelRepository(tx).get(samples.STRANGER, MODEL).aliases == {}
        assert AliasRepository(tx).page(samples.STRANGER, MODEL, limit=9, after=None).items == ()
        for read in (AliasRepository(tx).get, ModelRepository(tx).version):
            with pytest.raises(NotFoundError):
                read(samples.STRANGER, MODEL, "champion")
        with pytest.raises(NotFoundError):
            AliasRepository(tx).history(samples.STRANGER, MODEL, "champion", PageRequest(9))


def test_aliases_are_listed_by_name_page_by_page(versions: OpenTransaction) -> None:
    for name in ("c", "a", "b"):
        point(versions, name, 1)
    with versions() as tx:
        first = AliasRepository(tx).page(OWNER, MODEL, limit=2, after=None)
        rest = AliasRepository(tx).page(OWNER, MODEL, limit=2, after=first.next)
        with pytest.raises(InvalidRequestError):
            AliasRepository(tx).page(OWNER, MODEL, limit=2, after="nonsense")
        assert [model.aliases for model in ModelRepository(tx).page(OWNER, PageRequest(9)).items] == [
            {"a": 1, "b": 1, "c": 1}
        ]
    assert [alias.alias for alias in (*first.items, *rest.items)] == ["a", "b", "c"]


def test_a_model_has_so_many_aliases_and_no_more(versions: OpenTransaction, monkeypatch: pytest.MonkeyPatch) -> None:
    assert limits.MAX_ALIASES == 100
    monkeypatch.setattr(under_test, "MAX_ALIASES", 2)
    for name in ("a", "b"):
        point(versions, name, 1)
    with pytest.raises(ConflictError, match="2 aliases"):
        point(versions, "c", 1)
    assert point(versions, "b", 2).alias.version == 2


@pytest.mark.thorough
def test_another_process_serves_what_an_alias_points_to_within_a_second(
    transaction: OpenTransaction, engine: Engine
) -> None:
    made = small_version()
    for _ in range(2):
        job_id = samples.running_job(transaction, made=made.report.plan)
        with transaction() as tx:
            assert finish_training(tx, job_id, 1, made) is not None
    here, there = AliasService(transaction), ServedVersions(open_transactions(engine, ListedQueue), 10**6)

    def current_version() -> int:
        at_hand = there.at_hand(OWNER, "small", "champion")
        return (at_hand or there.version(OWNER, "small", "champion")).version.number

    here.move(OWNER, "small", "champion", to=1)
    assert current_version() == 1
    here.move(OWNER, "small", "champion", to=2)
    until(lambda: current_version() == 2, seconds=1.0)
    here.remove(OWNER, "small", "champion")
    with pytest.raises(NotFoundError, match="no alias 'champion'"):
        until(lambda: current_version() == 0, seconds=1.0)
