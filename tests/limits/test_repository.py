from app.database.transaction import OpenTransaction
from app.limits.repository import OWN, OwnerLimitsRepository
from app.limits.tables import OwnerLimitsRow
from relevance_bayes.records.limits import OwnerLimits


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
