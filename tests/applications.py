"""The API over a small database."""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import ParamSpec

import pytest
from fastapi.openapi.utils import get_openapi
from httpx2 import Response
from sqlalchemy import Engine
from starlette.testclient import TestClient

from app.accounts.authenticator import KeyAuthenticator
from app.accounts.limits import OwnersWithLimits
from app.accounts.service import ApiKeys, MemberService, Sessions
from app.addresses import Allowance
from app.audit.refusals import LimitedRefusals
from app.audit.repository import store_changes
from app.audit.service import Audit
from app.database.engine import make_engine
from app.database.notifier import Notifier, SqlNotifier
from app.database.transaction import Clock, OpenTransaction, now, open_transactions
from app.datasets.ingest import Ingest
from app.datasets.service import Datasets
from app.evaluation.service import EvaluationService
from app.exports.formats import RENDERINGS
from app.exports.service import Exporting, Importing
from app.http.dependencies import RequestLimits
from app.http.health import Readiness
from app.http.idempotency import Idempotency
from app.http.metrics import DatabaseMetrics, Metrics
from app.http.openapi import Json
from app.identity import BUILT_IN_OWNER
from app.jobs import statistics_repository
from app.jobs.metrics import job_metrics
from app.jobs.records import QueueControl
from app.jobs.service import JobService
from app.jobs.waiter import JobWatcher
from app.main import make_application
from app.metrics import OwnNumbers
from app.outcomes.metrics import outcome_metrics
from app.outcomes.recorder import Recorder
from app.outcomes.service import OutcomeService
from app.prediction.batch_jobs import BatchPredictionService
from app.prediction.served_versions import ServedVersions
from app.registry.catalogue import Catalogue
from app.registry.service import AliasService, Annotations
from app.services import Parts, use_of
from app.tasks import weight_unit
from app.tasks.service import TrainingService
from app.webhooks.repository import SUBSCRIBERS
from app.webhooks.service import WebhookService, webhook_metrics
from relevance_bayes.documents.reports import ExportedSupervised
from relevance_bayes.records.accounts import KeyScope, OwnerLimits
from relevance_bayes.tables.columns import Block
from tests.conftest import DATABASES, migrated_database
from tests.doubles.notifier import SilentNotifier
from tests.doubles.queue import ListedQueue, RecordingQueue
from tests.small_database import SmallDatabase, replaced_database, small_engine
from tests.small_models import small_version, version_of_numbers
from tests.small_tables import dataset_of, flags, numbers, texts

pytest.register_assert_rewrite("tests.problems")

NOW = datetime(2024, 5, 1, 13, tzinfo=UTC)
LIMITS = RequestLimits(
    max_upload_bytes=4096,
    max_body_bytes=4096,
    max_rows=100,
    max_columns=10,
    max_prediction_rows=5,
    spool_directory=None,
)
SESSION_SECONDS = 10 * 365 * 86_400.0
"""From `NOW` on, they are still valid."""

TABLE: Block = {
    "x": numbers(0.0, 1.0, 2.0, 3.0, 4.0, 5.0),
    "colour": texts("red", "blue", "red", "blue", "red", "red"),
    "y": numbers(0.5, 1.1, 2.3, 2.9, 4.2, 5.1),
    "known": flags(True, False, True, True, False, False),
    "same": numbers(7.0, 7.0, 7.0, 7.0, 7.0, 7.0),
    "one": texts("only", "only", "only", "only", "only", "only"),
    "three": texts("a", "b", "c", "a", "b", "c"),
    "gaps": numbers(1.0, None, 3.0, 4.0, 5.0, 6.0),
}
DATASET = dataset_of(TABLE, "points.csv")
SUBMIT: dict[str, Json] = {"dataset_id": str(DATASET.id), "target": "y", "inputs": ["x", "colour"]}


@dataclass(frozen=True)
class Report(Readiness):
    """The state of a job."""

    database: bool = True
    migrated: bool = True
    worker: bool = True


class StoredParts(Parts):
    """An application's parts over a database."""

    def __init__(
        self,
        transaction: OpenTransaction,
        queue: QueueControl,
        notifier: Notifier,
        *,
        clock: Clock = now,
    ) -> None:
        source = OwnNumbers()
        prediction = ServedVersions(transaction, 10**6, numbers=source.numbers)
        super().__init__(
            ingest=Ingest(transaction, clock),
            idempotency=Idempotency(transaction),
            catalogue=Catalogue(transaction, weight_unit),
            datasets=Datasets(transaction),
            aliases=AliasService(transaction),
            annotations=Annotations(transaction),
            exporting=Exporting(transaction),
            importing=Importing(transaction),
            jobs=JobService(transaction, queue),
            training=TrainingService(transaction, clock),
            scoring=EvaluationService(transaction, clock),
            prediction=prediction,
            batch_predictions=BatchPredictionService(transaction, prediction, clock),
            watcher=JobWatcher(transaction, notifier),
            webhooks=WebhookService(transaction, Allowance(), clock),
            keys=ApiKeys(transaction),
            members=MemberService(transaction),
            sessions=Sessions(transaction, SESSION_SECONDS),
            audit=Audit(transaction),
            refusals=LimitedRefusals(transaction),
            metrics=Metrics(source, DatabaseMetrics(transaction, (job_metrics(7.0), webhook_metrics, outcome_metrics))),
            limited_owners=OwnersWithLimits(transaction, use_of),
            outcomes=OutcomeService(transaction, prediction),
            recorder=Recorder(transaction, numbers=source.numbers),
        )
        self.report = Report()
        self.transaction = transaction

    @staticmethod
    def over(engine: Engine, *, max_unfinished: int = 1_000) -> "StoredParts":
        """Parts over an engine, with the time as it is; at most `max_unfinished` jobs may wait."""
        transaction = open_transactions(
            engine,
            ListedQueue,
            subscribers=(*statistics_repository.SUBSCRIBERS, *SUBSCRIBERS),
            store_changes=store_changes,
            default_limits=OwnerLimits(unfinished_jobs=max_unfinished),
        )
        return StoredParts(transaction, RecordingQueue(), SqlNotifier(engine))

    def ready(self) -> Report:
        return self.report


class SmallParts(StoredParts):
    """An application's parts over a small database, where time stands still."""

    def __init__(self, stored: SmallDatabase) -> None:
        super().__init__(stored.transaction, stored.queue, SilentNotifier(), clock=lambda: NOW)
        self.stored = stored


@pytest.fixture(scope="module", params=DATABASES)
def stored_client(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    """A client of the application on a database that a module's tests share: SQLite, then PostgreSQL.

    There are the models `small` of a number and a text, `numbers` of numbers, and `small@champion`.
    """
    directory = tmp_path_factory.mktemp("stored")
    with migrated_database(str(request.param), request, directory) as url, closing_engine(url) as engine:
        limits = replace(LIMITS, max_body_bytes=10**6, max_upload_bytes=10**6)
        application = make_application(StoredParts.over(engine), limits, log_requests=False)
        with TestClient(application, raise_server_exceptions=False, base_url="http://localhost") as client:
            for name, version in (("small", small_version()), ("numbers", version_of_numbers())):
                exported = ExportedSupervised(name, 1, NOW, version.report, version.predictor)
                content = RENDERINGS["json"].render(exported)
                headers = {"Content-Type": "application/json"}
                response = client.post(f"/v1/models/{name}/versions", content=content, headers=headers)
                assert response.status_code == 201, response.text
            response = client.put("/v1/models/small/aliases/champion", json={"version": 1})
            assert response.status_code == 201, response.text
            yield client


P = ParamSpec("P")


def made_once(make: Callable[P, Json]) -> Callable[P, Json]:
    """A document's maker that makes one of the same routers and texts once, and afterwards copies it."""
    # With the routers: while they live, no other one has their id.
    made = dict[tuple[object, ...], tuple[Sequence[object], str]]()

    def copied(*args: P.args, **options: P.kwargs) -> Json:
        routes = options["routes"]
        assert isinstance(routes, Sequence)
        routers = [getattr(route, "original_router", type(route)) for route in routes]
        texts = (value for value in options.values() if isinstance(value, str))
        known = (*texts, *map(id, routers))
        if known not in made:
            made[known] = routers, json.dumps(make(*args, **options))
        copy: Json = json.loads(made[known][1])
        return copy

    return copied


@pytest.fixture(scope="session", autouse=True)
def _schemas_made_once() -> Iterator[None]:
    """OpenAPI documents are made once a test process and not by each application: that takes a second."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("fastapi.applications.get_openapi", made_once(get_openapi))
        yield


@pytest.fixture(scope="session")
def openapi(engine_of_one_file: Engine) -> Response:
    """The OpenAPI document of the application without a key, made once: it takes half a second."""
    with TestClient(
        make_application(StoredParts.over(engine_of_one_file), LIMITS), base_url="http://localhost"
    ) as client:
        return client.get("/openapi.json")


@contextmanager
def closing_engine(url: str) -> Iterator[Engine]:
    """An engine that is disposed of at the end."""
    engine = make_engine(url)
    yield engine
    engine.dispose()


@pytest.fixture(scope="session")
def parts_template(sqlite_template: Path) -> Path:
    """A file with one dataset, one regression `small`, one classification `classes`, to be copied."""
    path = sqlite_template.with_name("parts.db")
    with replaced_database(small_engine(path), sqlite_template) as stored:
        stored.put_dataset(replace(DATASET, owner=BUILT_IN_OWNER), TABLE)
        stored.put_version(BUILT_IN_OWNER, small_version(), number=1)
        stored.put_version(BUILT_IN_OWNER, small_version("classification", name="classes"), number=1)
    return path


@pytest.fixture(scope="module")
def module_template(parts_template: Path) -> Path:
    """The file that `parts` are copies of; a module whose tests all need more overrides it by a `filled_template`."""
    return parts_template


def filled_template(template: Path, name: str, fill: Callable[[SmallParts], None]) -> Path:
    """Return a copy of a file, under a name of its own, with what `fill` adds."""
    path = template.with_name(name)
    with replaced_database(small_engine(path), template) as stored:
        fill(SmallParts(stored))
    return path


@pytest.fixture
def parts(engine_of_one_file: Engine, module_template: Path) -> Iterator[SmallParts]:
    """Parts with what `module_template` holds."""
    with replaced_database(engine_of_one_file, module_template) as stored:
        yield SmallParts(stored)


@pytest.fixture
def client(parts: SmallParts) -> Iterator[TestClient]:
    """A client of the application; an exception that nobody foresaw is answered, as a server would."""
    with TestClient(
        make_application(parts, LIMITS), raise_server_exceptions=False, base_url="http://localhost"
    ) as client:
        yield client


Operation = tuple[str, str, frozenset[KeyScope]]
"""Method, path and sufficient scopes."""


class Minutes:
    """A monotonic clock that goes on by a minute each time it is read; during a walk it stands still."""

    def __init__(self) -> None:
        self._now, self._step = 0.0, 60.0

    def __call__(self) -> float:
        self._now += self._step
        return self._now

    def walk(self, operations: Iterable[Operation]) -> Iterator[Operation]:
        """All operations, of which the first reads the keys: it takes most of the time of a request that is refused."""
        self._now, self._step = self._now + 60.0, 0.0
        yield from operations
        self._step = 60.0


@pytest.fixture
def minutes() -> Minutes:
    """The clock of `locked`."""
    return Minutes()


@pytest.fixture
def locked(parts: SmallParts, minutes: Minutes) -> Iterator[TestClient]:
    """A client of an application that needs keys; every request reads them, unless it is one of a walk."""
    authenticator = KeyAuthenticator(parts.transaction, needs_keys=True, now=minutes)
    with TestClient(
        make_application(parts, LIMITS, authenticator=authenticator, log_requests=False), base_url="http://localhost"
    ) as client:
        yield client


@pytest.fixture
def live_parts(engine: Engine) -> Iterator[StoredParts]:
    """An application's parts over a database, with its watcher of jobs."""
    parts = StoredParts.over(engine)
    yield parts
    parts.watcher.close()


@pytest.fixture
def client_with_keys(live_parts: StoredParts) -> Iterator[TestClient]:
    """A client of an application that needs keys."""
    authenticator = KeyAuthenticator(live_parts.transaction, needs_keys=True)
    with TestClient(
        make_application(live_parts, LIMITS, authenticator=authenticator), base_url="http://localhost"
    ) as client:
        yield client
