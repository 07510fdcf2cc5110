"""The repositories of limits and of demand."""

from datetime import timedelta
from uuid import uuid4

from sqlalchemy import select, update

from app.accounts.limit_repository import (
    ALIVE_SECONDS,
    EXPIRY_SECONDS,
    NO_DEMAND,
    OWN,
    Demand,
    DemandRepository,
    OwnerLimitsRepository,
)
from app.accounts.tables import OwnerLimitsRow, RateDemandRow
from app.database.base import SecondsSince
from app.database.transaction import OpenTransaction
from relevance_bayes.records.accounts import OwnerLimits


def test_limits_are_those_of_the_settings_until_others_are_set(transaction: OpenTransaction) -> None:
    with transaction() as tx:
        repository = OwnerLimitsRepository(tx)
        assert repository.of("acme") == tx.default_limits == OwnerLimits()
        assert repository.all() == {}
        repository.set("acme", {"requests_per_second": 5, "models": None})
    with transaction() as tx:
        repository = OwnerLimitsRepository(tx)
        assert repository.own("acme") == {"requests_per_second": 5, "models": None}
        assert repository.of("acme") == OwnerLimits(requests_per_second=5)
        assert repository.of("bolt") == OwnerLimits()
        assert repository.all() == {"acme": OwnerLimits(requests_per_second=5)}


def test_limits_are_replaced_and_removed(transaction: OpenTransaction) -> None:
    for limits in ({"models": 5}, {"datasets": 0}, {}):
        with transaction() as tx:
            OwnerLimitsRepository(tx).set("acme", limits)
        with transaction() as tx:
            assert OwnerLimitsRepository(tx).own("acme") == limits
    with transaction() as tx:
        assert OwnerLimitsRepository(tx).all() == {}


def test_limits_of_another_release_are_ignored(transaction: OpenTransaction) -> None:
    with transaction() as tx:
        limits = OWN.write({"models": 3, "wishes": 3})
        tx.session.add(OwnerLimitsRow(owner="acme", limits=limits, changed_at=tx.clock()))
    with transaction() as tx:
        assert OwnerLimitsRepository(tx).own("acme") == {"models": 3}


ONE, OTHER, THIRD = uuid4(), uuid4(), uuid4()


def test_processes_get_the_demand_of_the_others_for_their_owners(transaction: OpenTransaction) -> None:
    with transaction() as tx:
        assert DemandRepository(tx, ONE).exchange({"acme": Demand(2.0, 30.0), "bolt": Demand(1.0, 0.0)}) == {}
    with transaction() as tx:
        found = DemandRepository(tx, OTHER).exchange({"acme": Demand(5.0, 6.0)})
        assert found == {ONE: {"acme": Demand(2.0, 30.0)}}
    with transaction() as tx:
        found = DemandRepository(tx, THIRD).exchange({"cord": Demand(1.0, 1.0)})
        assert found == {ONE: {}, OTHER: {}}
    with transaction() as tx:
        found = DemandRepository(tx, ONE).exchange({"acme": Demand(3.0, 0.0)})
        assert found == {OTHER: {"acme": Demand(5.0, 6.0)}, THIRD: {}}
    with transaction() as tx:
        assert DemandRepository(tx, OTHER).exchange({"acme": Demand()})[ONE] == {"acme": Demand(3.0, 0.0)}


def test_demand_that_is_withdrawn_counts_no_more(transaction: OpenTransaction) -> None:
    for process in (ONE, OTHER):
        with transaction() as tx:
            DemandRepository(tx, process).exchange({"acme": Demand(2.0, 3.0)})
    with transaction() as tx:
        assert DemandRepository(tx, ONE).exchange({}) == {}
    with transaction() as tx:
        assert DemandRepository(tx, OTHER).exchange({"acme": Demand(2.0, 3.0)}) == {}


def test_demand_of_a_process_that_has_ended_expires_and_is_deleted(transaction: OpenTransaction) -> None:
    for process in (ONE, OTHER):
        with transaction() as tx:
            DemandRepository(tx, process).exchange({"acme": Demand(2.0, 3.0)})
    age(transaction, ALIVE_SECONDS + 1)
    with transaction() as tx:
        assert DemandRepository(tx, THIRD).exchange({"acme": Demand()}) == {}
        assert kept(transaction) == 2
    age(transaction, EXPIRY_SECONDS)
    with transaction() as tx:
        DemandRepository(tx, ONE).exchange({"acme": Demand()})
    assert kept(transaction) == 1


def age(transaction: OpenTransaction, seconds: float) -> None:
    """Make all demand older."""
    with transaction() as tx:
        rows = tx.session.execute(select(RateDemandRow.process, RateDemandRow.published_at)).all()
        for process, published_at in rows:
            older = published_at - timedelta(seconds=seconds)
            tx.session.execute(update(RateDemandRow).where(RateDemandRow.process == process).values(published_at=older))
        assert all(found >= seconds for found in tx.session.scalars(select(SecondsSince(RateDemandRow.published_at))))


def kept(transaction: OpenTransaction) -> int:
    with transaction() as tx:
        return len(tx.session.scalars(select(RateDemandRow.process)).all())


def test_demand_counts_for_five_seconds(transaction: OpenTransaction) -> None:
    with transaction() as tx:
        DemandRepository(tx, ONE).exchange({"acme": Demand(2.0, 3.0)})
    for seconds, counting in ((4.0, {ONE: {"acme": Demand(2.0, 3.0)}}), (2.0, {})):
        age(transaction, seconds)
        with transaction() as tx:
            assert DemandRepository(tx, OTHER).exchange({"acme": Demand()}) == counting


def test_demand_is_found_by_the_name_of_its_rate_and_is_none_by_default() -> None:
    assert [Demand(2.0, 3.0).of(name) for name in ("requests", "rows")] == [2.0, 3.0]
    assert [NO_DEMAND.of(name) for name in ("requests", "rows")] == [0.0, 0.0]
