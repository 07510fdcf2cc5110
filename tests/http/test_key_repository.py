"""Requests with keys, on both databases."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from threading import Barrier, Event
from uuid import uuid4

import pytest
from sqlalchemy import Engine, text

from app.database.transaction import OpenTransaction, open_transactions
from app.errors import KeyInUseError, KeyReusedError
from app.http import key_repository as keys
from app.http.idempotency_records import RequestKey, StoredResponse
from app.http.key_repository import IdempotencyKeyRepository
from tests import samples
from tests.doubles.queue import ListedQueue

KEY = RequestKey(samples.OWNER, "POST /v1/things", "order-7", "ab" * 32)
RESPONSE = StoredResponse(
    201, (("Location", "/v1/things/1"), ("Content-Type", "application/json")), b'{"name":"r\xc3\xb8d"}'
)


class Changed(Exception):
    """Somebody's mind."""


def age(engine: Engine, seconds: int) -> None:
    """Have all keys been heard of so much earlier."""
    shift = {
        "sqlite": f"strftime('%Y-%m-%d %H:%M:%f000', updated_at, '-{seconds} seconds')",
        "postgresql": f"updated_at - interval '{seconds} seconds'",
    }[engine.dialect.name]
    with engine.begin() as connection:
        connection.execute(text(f"UPDATE request_keys SET updated_at = {shift}"))


def found(transaction: OpenTransaction, key: RequestKey = KEY) -> StoredResponse | None:
    with transaction() as tx:
        return IdempotencyKeyRepository(tx).find(key)


def test_a_response_comes_back_byte_for_byte(transaction: OpenTransaction) -> None:
    assert found(transaction) is None
    with transaction() as tx:
        IdempotencyKeyRepository(tx).keep(KEY, RESPONSE)
    assert found(transaction) == RESPONSE


def test_a_key_is_its_owners_and_its_scopes_alone(transaction: OpenTransaction) -> None:
    with transaction() as tx:
        IdempotencyKeyRepository(tx).keep(KEY, RESPONSE)
    others = (
        replace(KEY, owner=samples.STRANGER),
        replace(KEY, scope="POST /v1/others"),
        replace(KEY, key="order-8"),
    )
    for other in others:
        assert found(transaction, other) is None
        with transaction() as tx:
            IdempotencyKeyRepository(tx).keep(other, replace(RESPONSE, status=202))
    assert found(transaction) == RESPONSE


def test_a_key_of_another_request_is_refused(transaction: OpenTransaction) -> None:
    with transaction() as tx:
        IdempotencyKeyRepository(tx).keep(KEY, RESPONSE)
    with pytest.raises(KeyReusedError):
        found(transaction, replace(KEY, fingerprint="cd" * 32))


def test_what_was_rolled_back_was_never_returned(transaction: OpenTransaction) -> None:
    def change_ones_mind() -> None:
        with transaction() as tx:
            IdempotencyKeyRepository(tx).keep(KEY, RESPONSE)
            raise Changed

    with pytest.raises(Changed):
        change_ones_mind()
    assert found(transaction) is None


def test_a_key_is_in_use_until_its_holder_responds(transaction: OpenTransaction) -> None:
    holder = uuid4()
    with transaction() as tx:
        IdempotencyKeyRepository(tx).begin(KEY, holder)
    with pytest.raises(KeyInUseError):
        found(transaction)
    with pytest.raises(KeyReusedError):
        found(transaction, replace(KEY, fingerprint="cd" * 32))
    with pytest.raises(KeyInUseError), transaction() as tx:
        IdempotencyKeyRepository(tx).begin(KEY, uuid4())
    with transaction() as tx:
        IdempotencyKeyRepository(tx).renew(KEY, holder)
        IdempotencyKeyRepository(tx).complete(KEY, holder, RESPONSE)
    assert found(transaction) == RESPONSE


def test_a_key_that_was_let_go_of_may_be_had_by_another_request(transaction: OpenTransaction) -> None:
    holder = uuid4()
    with transaction() as tx:
        IdempotencyKeyRepository(tx).begin(KEY, holder)
    with transaction() as tx:
        IdempotencyKeyRepository(tx).release(KEY, uuid4())
    with pytest.raises(KeyInUseError):
        found(transaction)
    with transaction() as tx:
        IdempotencyKeyRepository(tx).release(KEY, holder)
    with transaction() as tx:
        IdempotencyKeyRepository(tx).keep(replace(KEY, fingerprint="cd" * 32), RESPONSE)


def test_a_response_is_not_released(transaction: OpenTransaction) -> None:
    holder = uuid4()
    with transaction() as tx:
        IdempotencyKeyRepository(tx).begin(KEY, holder)
        IdempotencyKeyRepository(tx).complete(KEY, holder, RESPONSE)
    with transaction() as tx:
        IdempotencyKeyRepository(tx).release(KEY, holder)
    assert found(transaction) == RESPONSE


def test_a_dead_holders_key_is_taken_over_and_the_dead_do_not_respond(
    transaction: OpenTransaction, engine: Engine
) -> None:
    dead, heir = uuid4(), uuid4()
    with transaction() as tx:
        IdempotencyKeyRepository(tx).begin(KEY, dead)
    age(engine, round(keys.LEASE_SECONDS) + 1)
    assert found(transaction) is None
    with transaction() as tx:
        IdempotencyKeyRepository(tx).begin(KEY, heir)
    with pytest.raises(KeyInUseError), transaction() as tx:
        IdempotencyKeyRepository(tx).renew(KEY, dead)
    with pytest.raises(KeyInUseError), transaction() as tx:
        IdempotencyKeyRepository(tx).complete(KEY, dead, RESPONSE)
    with transaction() as tx:
        IdempotencyKeyRepository(tx).complete(KEY, heir, RESPONSE)
    assert found(transaction) == RESPONSE


def test_a_holder_with_heartbeats_keeps_its_key(transaction: OpenTransaction, engine: Engine) -> None:
    holder = uuid4()
    with transaction() as tx:
        IdempotencyKeyRepository(tx).begin(KEY, holder)
    age(engine, round(keys.LEASE_SECONDS) + 1)
    with transaction() as tx:
        IdempotencyKeyRepository(tx).renew(KEY, holder)
    with pytest.raises(KeyInUseError):
        found(transaction)


def test_a_response_is_kept_for_its_time(transaction: OpenTransaction, engine: Engine) -> None:
    with transaction() as tx:
        IdempotencyKeyRepository(tx).keep(KEY, RESPONSE)
    age(engine, 86_300)
    assert found(transaction) == RESPONSE
    age(engine, 200)
    assert found(transaction) is None
    again = replace(RESPONSE, content=b"again")
    with transaction() as tx:
        IdempotencyKeyRepository(tx).keep(replace(KEY, fingerprint="cd" * 32), again)
    assert found(transaction, replace(KEY, fingerprint="cd" * 32)) == again


def test_the_cleanup_forgets_what_is_over_and_nothing_else(
    transaction: OpenTransaction, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(keys, "AT_ONCE", 2)
    for number in range(5):
        with transaction() as tx:
            IdempotencyKeyRepository(tx).keep(replace(KEY, key=f"old-{number}"), RESPONSE)
    age(engine, 90_000)
    with transaction() as tx:
        IdempotencyKeyRepository(tx).keep(KEY, RESPONSE)
    more = []
    for _ in range(3):
        with transaction() as tx:
            more.append(IdempotencyKeyRepository(tx).remove_expired())
    assert more == [True, True, False]
    with engine.connect() as connection:
        assert connection.execute(text("SELECT key FROM request_keys")).scalars().all() == ["order-7"]
    with transaction() as tx:
        assert not IdempotencyKeyRepository(tx).remove_expired()


def test_how_long_responses_are_kept_is_stated_where_units_are_made(engine: Engine) -> None:
    briefly = open_transactions(engine, ListedQueue, response_retention=10.0)
    with briefly() as tx:
        IdempotencyKeyRepository(tx).keep(KEY, RESPONSE)
    age(engine, 11)
    assert found(briefly) is None


def test_of_requests_at_once_one_is_first(transaction: OpenTransaction) -> None:
    together = Barrier(6)

    def keep(number: int) -> bool:
        together.wait(20)
        try:
            with transaction() as tx:
                IdempotencyKeyRepository(tx).keep(KEY, replace(RESPONSE, content=str(number).encode()))
        except KeyInUseError:
            return False
        return True

    with ThreadPoolExecutor(6) as pool:
        first = list(pool.map(keep, range(6), timeout=60))
    assert sum(first) == 1
    kept = found(transaction)
    assert kept is not None
    assert int(kept.content) == first.index(True)


def test_a_request_that_waits_for_the_first_is_first_when_that_one_gives_up(transaction: OpenTransaction) -> None:
    kept, give_up = Event(), Event()

    def change_ones_mind() -> None:
        with transaction() as tx:
            IdempotencyKeyRepository(tx).keep(KEY, RESPONSE)
            kept.set()
            give_up.wait(20)
            raise Changed

    def keep() -> None:
        with transaction() as tx:
            IdempotencyKeyRepository(tx).keep(KEY, replace(RESPONSE, status=202))

    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(change_ones_mind)
        assert kept.wait(20)
        second = pool.submit(keep)
        give_up.set()
        with pytest.raises(Changed):
            first.result(30)
        second.result(30)
    assert found(transaction) == replace(RESPONSE, status=202)
