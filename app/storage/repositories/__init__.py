"""The ports of the domain over SQL: one file a port; rows stay inside."""

from app.storage.repositories.aliases import SqlAliases
from app.storage.repositories.checkpoints import SqlCheckpoints
from app.storage.repositories.datasets import SqlDatasets
from app.storage.repositories.deliveries import SqlDeliveries
from app.storage.repositories.jobs import SqlJobs
from app.storage.repositories.keys import SqlKeys
from app.storage.repositories.models import SqlModels
from app.storage.repositories.results import SqlResults
from app.storage.repositories.webhooks import SqlWebhooks
from app.storage.repositories.workers import SqlWorkers

__all__ = [
    "SqlAliases",
    "SqlCheckpoints",
    "SqlDatasets",
    "SqlDeliveries",
    "SqlJobs",
    "SqlKeys",
    "SqlModels",
    "SqlResults",
    "SqlWebhooks",
    "SqlWorkers",
]
