"""Changes that no request makes, and addresses that a proxy forwards."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from uuid import UUID

import httpx2
import pytest

from app.audit.service import Audit
from app.database.transaction import OpenTransaction
from app.identity import BUILT_IN_OWNER, uuid7
from app.jobs.repository import JobRepository
from app.main import make_application
from app.prediction.result_repository import Piece, ResultProgress, ResultRepository
from app.server.server import Config, ConnectionLimits
from app.services import Retention
from app.webhooks.repository import WebhookRepository
from relevance_bayes.records.audit import AuditEntry
from relevance_bayes.records.webhooks import EVENT_TYPES, Webhook
from tests import samples
from tests.accounts.test_session_repository import NoEntries
from tests.applications import LIMITS, SmallParts
from tests.server.serving import started
from tests.transactions import HandClock

JSON = {"Content-Type": "application/json"}


def entries(transaction: OpenTransaction) -> list[AuditEntry]:
    return [entry for batch in Audit(transaction).batches(samples.OWNER) for entry in batch]


def test_a_webhook_whose_receiver_unsubscribed_is_disabled_by_the_service_once(
    transaction: OpenTransaction, clock: HandClock
) -> None:
    webhook = Webhook(str(uuid7()), "https://hooks.example/x", EVENT_TYPES, None, enabled=True, created_at=clock())
    with transaction() as tx:
        WebhookRepository(tx).add(samples.OWNER, webhook, "whsec_x")
    for _ in range(2):
        with transaction() as tx:
            WebhookRepository(tx).disable(UUID(webhook.id))
    created, disabled = entries(transaction)
    assert (created.action, created.details["host"]) == ("webhook.created", "hooks.example")
    assert (disabled.action, disabled.resource) == ("webhook.disabled", f"/v1/webhooks/{webhook.id}")
    assert (disabled.actor.kind, disabled.actor.id) == ("service", None)


def test_files_that_retention_deletes_leave_an_entry_for_each_run(transaction: OpenTransaction) -> None:
    for _ in range(3):
        job_id = samples.running_job(transaction)
        with transaction() as tx:
            ResultRepository(tx).begin(job_id, 1, by="here")
        with transaction() as tx:
            ResultRepository(tx).put(job_id, 1, "file", Piece(0, b"x"), reached=ResultProgress(1, 0, 1, whole=True))
        with transaction() as tx:
            assert JobRepository(tx).succeed(job_id, 1)
    long = 10.0**9
    kept = Retention(transaction, NoEntries(), lambda: datetime.now(UTC), long, long, long, long)
    for retention in (kept, replace(kept, seconds_of_results=-long), replace(kept, seconds_of_results=-long)):
        retention.remove_expired()
    (expired,) = [entry for entry in entries(transaction) if entry.action == "result.expired"]
    assert (expired.resource, expired.details) == ("/v1/batch-predictions", {"results": 3})


@contextmanager
def served(parts: SmallParts) -> Iterator[str]:
    """The URL of the application behind the service's own server."""
    config = Config(make_application(parts, LIMITS), ConnectionLimits())
    with started(config) as (_, connect):
        with connect() as connection:
            host, port = connection.getpeername()
        yield f"http://{host}:{port}"


@pytest.mark.parametrize(
    ("forwarded", "address"), [({}, "127.0.0.1"), ({"X-Forwarded-For": "192.0.2.7, 127.0.0.1"}, "192.0.2.7")]
)
def test_the_address_is_the_one_that_a_proxy_on_loopback_forwards(
    forwarded: dict[str, str], address: str, parts: SmallParts
) -> None:
    with served(parts) as url:
        changed = httpx2.patch(f"{url}/v1/models/small", content=json.dumps({}), headers={**forwarded, **JSON})
    assert changed.status_code == 200, changed.text
    found = [entry for batch in parts.audit.batches(BUILT_IN_OWNER) for entry in batch]
    assert found[-1].address == address
