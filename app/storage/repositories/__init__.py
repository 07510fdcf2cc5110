"""Repositories, made from a transaction where they are used: one file each; rows stay inside."""

from app.storage.repositories.aliases import AliasRepository
from app.storage.repositories.checkpoints import CheckpointRepository
from app.storage.repositories.datasets import DatasetRepository
from app.storage.repositories.deliveries import DeliveryRepository
from app.storage.repositories.jobs import JobRepository
from app.storage.repositories.keys import IdempotencyKeyRepository
from app.storage.repositories.models import ModelRepository
from app.storage.repositories.results import ResultRepository
from app.storage.repositories.webhooks import WebhookRepository
from app.storage.repositories.workers import WorkerRepository

__all__ = [
    "AliasRepository",
    "CheckpointRepository",
    "DatasetRepository",
    "DeliveryRepository",
    "IdempotencyKeyRepository",
    "JobRepository",
    "ModelRepository",
    "ResultRepository",
    "WebhookRepository",
    "WorkerRepository",
]
