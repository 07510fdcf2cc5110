from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from threading import Event
from time import monotonic
from uuid import UUID

import anyio
import pytest
from sqlalchemy import text, update

from app.accounts.authenticator import (
    FULL_READ_SECONDS,
    MAX_COMMIT_SECONDS,
    MAX_WAIT_SECONDS,
    MIN_REFRESH_SECONDS,
    REFRESH_SECONDS,
    KeyAuthenticator,
)
from app.accounts.repository import ApiKeyRepository, SessionRepository
from app.accounts.service import Sessions
from app.accounts.tables import ApiKeyRow
from app.errors import UnavailableError
from app.identity import LOCAL, Principal
from tests.applications import SESSION_SECONDS, SmallParts
from tests.small_tables import NOW


class Time:
    """A monotonic clock that a test sets."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def time() -> Time:
    return Time()


@pytest.fixture
def authenticator(parts: SmallParts, time: Time) -> KeyAuthenticator:
    return KeyAuthenticator(parts.transaction, stale_seconds=60.0, now=time)


def header(secret: str, scheme: str = "Bearer") -> list[bytes]:
    return [f"{scheme} {secret}".encode()]


def found(authenticator: KeyAuthenticator, headers: Sequence[bytes]) -> Principal | None:
    return authenticator.known(headers) or anyio.run(authenticator.authenticate, headers)


def test_without_any_key_requests_are_local_until_there_is_one(
    parts: SmallParts, authenticator: KeyAuthenticator, time: Time
) -> None:
    assert found(authenticator, []) == LOCAL
    key, secret = parts.keys.create("acme", "CI", scopes=("read",))
    time.now += REFRESH_SECONDS + 0.01
    assert found(authenticator, []) is None
    assert found(authenticator, header(secret)) == Principal("acme", frozenset({"read"}))
    parts.keys.revoke("acme", UUID(key.id))
    time.now += REFRESH_SECONDS + 0.01
    assert found(authenticator, []) is None  # a service that had keys stays closed


def test_where_keys_are_needed_nobody_is_local(parts: SmallParts, time: Time) -> None:
    assert found(KeyAuthenticator(parts.transaction, needs_keys=True, now=time), []) is None


def test_a_new_key_is_known_at_once_and_a_revoked_one_for_a_second_at_most(
    parts: SmallParts, authenticator: KeyAuthenticator, time: Time
) -> None:
    parts.keys.create("acme", "other")
    assert found(authenticator, []) is None
    key, secret = parts.keys.create("acme", "CI")
    time.now += MIN_REFRESH_SECONDS + 0.01
    assert found(authenticator, header(secret)) is not None
    parts.keys.revoke("acme", UUID(key.id))
    time.now += REFRESH_SECONDS - 0.01
    assert found(authenticator, header(secret)) is not None
    time.now += 0.02
    assert found(authenticator, header(secret)) is None


@pytest.mark.parametrize("scheme", ["Bearer", "bearer", "BEARER"])
def test_the_scheme_is_case_insensitive(parts: SmallParts, authenticator: KeyAuthenticator, scheme: str) -> None:
    _, secret = parts.keys.create("acme", "CI")
    assert found(authenticator, header(secret, scheme)) is not None


def test_nothing_but_one_valid_key_authenticates(parts: SmallParts, authenticator: KeyAuthenticator) -> None:
    _, secret = parts.keys.create("acme", "CI")
    (valid,) = header(secret)
    for wrong in (
        [],
        [b""],
        [b"Bearer"],
        [b"Bearer "],
        [secret.encode()],
        header(secret, "Basic"),
        header(secret[:-1]),
        header(secret + "x"),
        [b"Bearer \xff"],
        [valid, valid],
    ):
        assert found(authenticator, wrong) is None, wrong
    assert found(authenticator, [valid]) is not None


def test_a_key_expires_between_two_reads(
    parts: SmallParts, authenticator: KeyAuthenticator, monkeypatch: pytest.MonkeyPatch
) -> None:
    with parts.transaction() as tx:
        expires_at = tx.clock() + timedelta(seconds=5)
    _, secret = parts.keys.create("acme", "CI", expires_at=expires_at)
    wall = [expires_at.timestamp() - 1.0]
    monkeypatch.setattr("app.accounts.authenticator.time.time", lambda: wall[0])
    assert found(authenticator, header(secret)) is not None
    wall[0] += 1.0
    assert authenticator.known(header(secret)) is None


def test_unknown_keys_read_the_database_ten_times_a_second_at_most(
    parts: SmallParts, authenticator: KeyAuthenticator, time: Time
) -> None:
    parts.keys.create("acme", "CI")
    assert found(authenticator, header("wrong")) is None
    before = parts.stored.opened
    for _ in range(100):
        assert found(authenticator, header("wrong")) is None
    assert parts.stored.opened == before
    time.now += MIN_REFRESH_SECONDS + 0.01
    assert found(authenticator, header("wrong")) is None
    assert parts.stored.opened == before + 1


def test_a_database_that_does_not_respond_delays_a_request_by_half_a_second_at_most(
    parts: SmallParts, authenticator: KeyAuthenticator, time: Time, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, secret = parts.keys.create("acme", "CI")
    assert found(authenticator, header(secret)) is not None
    responds, read = Event(), authenticator._read
    monkeypatch.setattr(authenticator, "_read", lambda now: responds.wait(10.0) and read(now))
    time.now += REFRESH_SECONDS + 0.01
    began = monotonic()
    for _ in range(3):
        assert found(authenticator, header(secret)) is not None  # the second and third do not wait at all
    assert MAX_WAIT_SECONDS <= monotonic() - began < 2 * MAX_WAIT_SECONDS
    time.now += 60.0
    with pytest.raises(UnavailableError, match="can't be read"):
        found(authenticator, header(secret))
    responds.set()
    time.now += MIN_REFRESH_SECONDS + 0.01
    assert found(authenticator, header(secret)) is not None


def test_without_the_database_a_service_without_keys_stays_open(
    parts: SmallParts, authenticator: KeyAuthenticator, time: Time
) -> None:
    assert found(authenticator, []) == LOCAL
    parts.stored.reachable = False
    time.now += 3600.0
    assert found(authenticator, []) == LOCAL


def test_without_the_database_known_keys_go_on_for_a_while(
    parts: SmallParts, authenticator: KeyAuthenticator, time: Time
) -> None:
    _, secret = parts.keys.create("acme", "CI")
    assert found(authenticator, header(secret)) is not None
    parts.stored.reachable = False
    time.now += 59.0
    assert found(authenticator, header(secret)) is not None
    assert found(authenticator, header("wrong")) is None
    time.now += 2.0
    for _ in range(2):  # also just after an attempt that failed
        with pytest.raises(UnavailableError):
            found(authenticator, header(secret))
    parts.stored.reachable = True
    time.now += MIN_REFRESH_SECONDS + 0.01
    assert found(authenticator, header(secret)) is not None


OF_SESSION = Principal("acme", frozenset({"read"}))


def with_session(authenticator: KeyAuthenticator, secret: str) -> Principal | None:
    return authenticator.known((), secret.encode()) or anyio.run(authenticator.authenticate, (), secret.encode())


def new_session(parts: SmallParts, *, seconds: float = SESSION_SECONDS) -> tuple[UUID, str]:
    """A key's id, and the secret of a session that was made from it."""
    key, _ = parts.keys.create("acme", "CI", scopes=("read",))
    principal = Principal("acme", frozenset({"read"}), key_id=UUID(key.id))
    return UUID(key.id), Sessions(parts.transaction, seconds).create(principal)[0]


def test_a_revoked_or_ended_session_is_known_for_a_second_at_most(
    parts: SmallParts, authenticator: KeyAuthenticator, time: Time
) -> None:
    key_id, revoked = new_session(parts)
    _, ended = new_session(parts)
    assert with_session(authenticator, revoked) == with_session(authenticator, ended) == OF_SESSION
    parts.keys.revoke("acme", key_id)
    parts.sessions.end(ended.encode())
    time.now += REFRESH_SECONDS - 0.01
    assert with_session(authenticator, revoked) == with_session(authenticator, ended) == OF_SESSION
    time.now += 0.02
    assert with_session(authenticator, revoked) is None
    assert with_session(authenticator, ended) is None


def test_a_session_expires_with_its_key(
    parts: SmallParts, authenticator: KeyAuthenticator, time: Time, monkeypatch: pytest.MonkeyPatch
) -> None:
    key_id, secret = new_session(parts)
    before = with_session(authenticator, secret)
    assert before is not None
    parts.keys.rotate("acme", key_id, overlap=timedelta(hours=1))
    end = (NOW + timedelta(hours=1)).timestamp()
    wall = [end - 1.0]
    monkeypatch.setattr("app.accounts.authenticator.time.time", lambda: wall[0])
    time.now += REFRESH_SECONDS + 0.01
    after = with_session(authenticator, secret)
    assert after is not None
    assert (after, after.expires_at) == (before, end)
    wall[0] += 1.0
    assert with_session(authenticator, secret) is None


def test_sessions_are_read_once_and_then_those_alone_that_changed(
    parts: SmallParts, authenticator: KeyAuthenticator, time: Time, monkeypatch: pytest.MonkeyPatch
) -> None:
    full, windows = [], []
    principals, changes = SessionRepository.principals, SessionRepository.changes

    def counted(repository: SessionRepository) -> Mapping[bytes, Principal]:
        full.append(time.now)
        return principals(repository)

    def windowed(repository: SessionRepository, *, within: float) -> Mapping[bytes, Principal | None]:
        windows.append(within)
        return changes(repository, within=within)

    monkeypatch.setattr(SessionRepository, "principals", counted)
    monkeypatch.setattr(SessionRepository, "changes", windowed)
    _, secret = new_session(parts)
    assert with_session(authenticator, secret) == OF_SESSION
    for seconds in (2.0, 5.0):
        _, other = new_session(parts)
        time.now += seconds
        assert with_session(authenticator, secret) == OF_SESSION
        assert with_session(authenticator, other) == OF_SESSION
    assert len(full) == 1
    assert {2.0 + MAX_COMMIT_SECONDS, 5.0 + MAX_COMMIT_SECONDS} <= {round(one, 6) for one in windows}
    with parts.stored.engine.begin() as connection:  # as a database that was restored: nothing shows it
        connection.execute(text("DELETE FROM sessions"))
    time.now += FULL_READ_SECONDS
    assert with_session(authenticator, secret) is None
    assert len(full) == 2


def test_keys_are_read_once_and_then_those_alone_that_changed(
    parts: SmallParts, authenticator: KeyAuthenticator, time: Time, monkeypatch: pytest.MonkeyPatch
) -> None:
    full: list[float] = []
    principals = ApiKeyRepository.principals

    def counted(repository: ApiKeyRepository) -> Mapping[bytes, Principal]:
        full.append(time.now)
        return principals(repository)

    monkeypatch.setattr(ApiKeyRepository, "principals", counted)
    made = [parts.keys.create("local", "of a test", scopes=("read",)) for _ in range(3)]
    secrets = [secret for _, secret in made]
    assert all(found(authenticator, header(secret)) for secret in secrets)
    parts.keys.revoke("local", UUID(made[0][0].id))
    with parts.stored.engine.begin() as connection:  # of which nothing was notified
        revoked = update(ApiKeyRow).where(ApiKeyRow.id == UUID(made[1][0].id))
        connection.execute(revoked.values(revoked_at=NOW - timedelta(minutes=5)))
    _, new = parts.keys.create("local", "new", scopes=("read",))
    time.now += REFRESH_SECONDS + 0.01
    assert [found(authenticator, header(secret)) is not None for secret in (*secrets, new)] == [
        False,
        False,
        True,
        True,
    ]
    assert len(full) == 1
    time.now += FULL_READ_SECONDS
    assert found(authenticator, header(new)) is not None
    assert len(full) == 2


def test_a_new_session_is_known_at_once_even_where_the_copy_is_new(parts: SmallParts) -> None:
    authenticator = KeyAuthenticator(parts.transaction, needs_keys=True)
    for _ in range(3):
        assert found(authenticator, header("wrong")) is None  # the copy is of now
        _, secret = new_session(parts)
        assert with_session(authenticator, secret) == OF_SESSION


def test_a_new_key_is_known_at_once_even_where_the_copy_is_new(parts: SmallParts) -> None:
    authenticator = KeyAuthenticator(parts.transaction, needs_keys=True)
    for number in range(3):
        assert found(authenticator, header("wrong")) is None  # the copy is of now
        assert found(authenticator, header(parts.keys.create("acme", f"key-{number}")[1])) is not None


def test_a_session_is_found_in_the_copy_after_the_one_that_is_being_read(
    parts: SmallParts, monkeypatch: pytest.MonkeyPatch
) -> None:
    authenticator = KeyAuthenticator(parts.transaction, needs_keys=True)
    read, may_end = authenticator._read, Event()
    secrets: list[str] = []

    def slow(now: float) -> object:
        keys = read(now)
        if not secrets:  # the session is made after the first read
            secrets.append(new_session(parts)[1])
            may_end.set()
        return keys

    monkeypatch.setattr(authenticator, "_read", slow)
    monkeypatch.setattr("app.accounts.authenticator.MIN_REFRESH_SECONDS", 1.0)  # longer than it takes to make a session
    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(found, authenticator, header("wrong"))
        may_end.wait(10.0)
        assert with_session(authenticator, secrets[0]) == OF_SESSION
        assert first.result() is None


def test_unknown_sessions_read_the_database_ten_times_a_second_at_most(parts: SmallParts) -> None:
    authenticator = KeyAuthenticator(parts.transaction, needs_keys=True)
    assert with_session(authenticator, "wrong") is None
    before, began = parts.stored.opened, monotonic()

    async def send_many() -> None:
        async with anyio.create_task_group() as tasks:
            for number in range(100):
                tasks.start_soon(authenticator.authenticate, (), b"%d" % number)

    anyio.run(send_many)
    assert parts.stored.opened - before <= 1 + (monotonic() - began) / MIN_REFRESH_SECONDS


def test_a_session_expires_between_two_reads(
    parts: SmallParts, authenticator: KeyAuthenticator, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, secret = new_session(parts, seconds=5.0)
    with parts.transaction() as tx:
        wall = [tx.clock().timestamp() + 4.0]
    monkeypatch.setattr("app.accounts.authenticator.time.time", lambda: wall[0])
    assert with_session(authenticator, secret) == OF_SESSION
    wall[0] += 1.0
    assert authenticator.known((), secret.encode()) is None


def test_the_header_wins_over_the_session_and_neither_is_the_other(
    parts: SmallParts, authenticator: KeyAuthenticator
) -> None:
    _, secret = new_session(parts)
    _, key = parts.keys.create("local", "CI", scopes=("train",))
    assert with_session(authenticator, secret) == OF_SESSION
    for headers, expected in (
        (header(key), Principal("local", frozenset({"train"}))),
        (header("wrong"), None),
        (header(key) * 2, None),
        (header(secret), None),
    ):
        assert authenticator.known(headers, secret.encode()) == expected
    assert authenticator.known((), key.encode()) is None


def test_without_the_database_known_sessions_go_on_for_a_while(
    parts: SmallParts, authenticator: KeyAuthenticator, time: Time
) -> None:
    _, secret = new_session(parts)
    assert with_session(authenticator, secret) == OF_SESSION
    parts.stored.reachable = False
    time.now += 59.0
    assert with_session(authenticator, secret) == OF_SESSION
    time.now += 2.0
    with pytest.raises(UnavailableError):
        with_session(authenticator, secret)
