"""Event streams that are open while a key, a session or a membership ends."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from time import monotonic, sleep
from typing import Protocol
from uuid import UUID

import pytest
from starlette.testclient import TestClient

from app.identity import BUILT_IN_OWNER
from app.jobs import routes
from app.jobs.service import History, JobService
from relevance_bayes.records.accounts import KeyScope
from relevance_bayes.records.jobs import JobKind
from tests import samples
from tests.accounts.test_routes import OWN_PAGE, session
from tests.applications import StoredParts
from tests.jobs.test_event_routes import fail, numbers, progress
from tests.keys import share
from tests.waiting import until

PROJECT = {"Relevance-Project": BUILT_IN_OWNER}


@pytest.fixture(autouse=True)
def _copies_of_now(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.accounts.authenticator.REFRESH_SECONDS", 0.0)
    monkeypatch.setattr("app.accounts.authenticator.MIN_REFRESH_SECONDS", 0.0)


@pytest.fixture
def running(live_parts: StoredParts) -> UUID:
    """A job with two events in the project that is shared with `vision`."""
    share(live_parts.members, BUILT_IN_OWNER, "vision", "viewer")
    return samples.running_job(live_parts.transaction, owner=BUILT_IN_OWNER)


def key(live_parts: StoredParts, *, owner: str = "vision", scope: KeyScope = "read") -> tuple[UUID, dict[str, str]]:
    made, secret = live_parts.keys.create(owner, "of a test", scopes=(scope,))
    return UUID(made.id), {"Authorization": f"Bearer {secret}"}


@pytest.fixture
def looks(monkeypatch: pytest.MonkeyPatch) -> list[UUID]:
    """The jobs whose events streams have read, once for each time."""
    looks: list[UUID] = []
    history = JobService.history

    def counted(self: JobService, owner: str, job_id: UUID, *, limit: int, after: int, kind: JobKind | None) -> History:
        found = history(self, owner, job_id, limit=limit, after=after, kind=kind)
        looks.append(job_id)
        return found

    monkeypatch.setattr(JobService, "history", counted)
    return looks


class Read(Protocol):
    """Reads the numbers of the events of a stream, while something happens once it waits for an event."""

    def __call__(self, job_id: UUID, headers: dict[str, str], *later: Callable[[], object]) -> list[int]: ...


@pytest.fixture
def read(client_with_keys: TestClient, looks: list[UUID]) -> Read:
    def read(job_id: UUID, headers: dict[str, str], *later: Callable[[], object]) -> list[int]:
        before = len(looks)

        def happen() -> None:
            until(lambda: len(looks) >= before + 2)
            for call in later:
                sleep(0.1)
                call()

        with ThreadPoolExecutor(1) as pool:
            happened = pool.submit(happen)
            sent = {**headers, "Accept": "text/event-stream"}
            response = client_with_keys.get(f"/v1/training-jobs/{job_id}/events", headers=sent)
            happened.result()
        assert response.status_code == 200, response.text
        return numbers(response.content)

    return read


def test_a_stream_of_a_member_goes_on_until_the_job_has_ended(
    live_parts: StoredParts, running: UUID, read: Read
) -> None:
    _, headers = key(live_parts)
    later = (lambda: progress(live_parts, running), lambda: fail(live_parts, running))
    assert read(running, headers | PROJECT, *later) == [1, 2, 3, 4]


@pytest.mark.thorough
@pytest.mark.parametrize("is_session", [False, True], ids=["key", "session"])
def test_a_stream_of_a_former_member_ends_before_its_next_event(
    client_with_keys: TestClient, live_parts: StoredParts, running: UUID, read: Read, *, is_session: bool
) -> None:
    _, headers = key(live_parts)
    sent = session(client_with_keys, headers | PROJECT) | OWN_PAGE if is_session else headers | PROJECT
    later = (lambda: live_parts.members.remove(BUILT_IN_OWNER, "vision"), lambda: progress(live_parts, running))
    assert read(running, sent, *later) == [1, 2]
    _, of_owner = key(live_parts, owner=BUILT_IN_OWNER)
    assert read(running, of_owner, lambda: fail(live_parts, running)) == [1, 2, 3, 4]


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
def test_a_silent_stream_ends_with_its_key_its_session_or_its_membership(
    client_with_keys: TestClient, live_parts: StoredParts, running: UUID, read: Read, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(routes, "KEEP_ALIVE_SECONDS", 0.1)
    key_id, of_key = key(live_parts)
    cookie = session(client_with_keys, key(live_parts)[1] | PROJECT)
    _, of_member = key(live_parts)
    ends: tuple[tuple[dict[str, str], Callable[[], object]], ...] = (
        (of_key | PROJECT, lambda: live_parts.keys.revoke("vision", key_id)),
        (cookie | OWN_PAGE, lambda: live_parts.sessions.end(cookie["Cookie"].partition("=")[2].encode())),
        (of_member | PROJECT, lambda: live_parts.members.remove(BUILT_IN_OWNER, "vision")),
    )
    for headers, end in ends:
        began = monotonic()
        assert read(running, headers, end) == [1, 2]
        assert monotonic() - began < 10.0
