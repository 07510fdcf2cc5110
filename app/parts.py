"""The services that an application is made from."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, fields

from app.accounts.member_service import Members
from app.accounts.service import ApiKeys
from app.accounts.session_service import Sessions
from app.audit.refusals import LimitedRefusals
from app.audit.service import Audit
from app.datasets.ingest import Ingest
from app.datasets.service import Datasets
from app.evaluation.service import Scoring
from app.exports.service import Exporting, Importing
from app.http.idempotency_keys import Idempotency
from app.http.metrics_service import Metrics
from app.http.readiness import Readiness
from app.jobs.service import Jobs
from app.jobs.watcher import JobWatcher
from app.limits.service import OwnersWithLimits
from app.outcomes.recorder import Recorder
from app.outcomes.service import Outcomes
from app.prediction.batch_service import BatchPredictions
from app.prediction.served_versions import ServedVersions
from app.registry.catalogue import Catalogue
from app.registry.service import Aliases, Annotations
from app.tasks.service import Training
from app.webhooks.service import Webhooks


@dataclass(eq=False)
class Parts(ABC):
    """The services of an application, and its readiness."""

    ingest: Ingest
    idempotency: Idempotency
    catalogue: Catalogue
    datasets: Datasets
    aliases: Aliases
    annotations: Annotations
    exporting: Exporting
    importing: Importing
    jobs: Jobs
    training: Training
    scoring: Scoring
    prediction: ServedVersions
    batch_predictions: BatchPredictions
    watcher: JobWatcher
    webhooks: Webhooks
    keys: ApiKeys
    members: Members
    sessions: Sessions
    audit: Audit
    refusals: LimitedRefusals
    metrics: Metrics
    limited_owners: OwnersWithLimits
    outcomes: Outcomes
    recorder: Recorder

    @abstractmethod
    def ready(self) -> Readiness:
        """Return the current readiness within a bounded time."""

    def services(self) -> Iterator[object]:
        """Yield the services."""
        return (getattr(self, one.name) for one in fields(Parts))
