"""The tables."""

from app.storage.tables.aliases import AliasMoveRow, ModelAliasRow
from app.storage.tables.annotations import ModelTagRow, VersionTagRow
from app.storage.tables.base import Base
from app.storage.tables.datasets import DatasetBlockRow, DatasetRow
from app.storage.tables.holds import JobHoldRow
from app.storage.tables.jobs import JobCheckpointRow, JobProgressRow, JobTransitionRow, TrainingJobRow
from app.storage.tables.keys import RequestKeyRow
from app.storage.tables.models import NO_TARGET, ModelRow, ModelVersionRow, PosteriorRow, RelevanceVectorRow
from app.storage.tables.results import PredictionPieceRow, PredictionResultRow
from app.storage.tables.webhooks import WebhookAttemptRow, WebhookDeliveryRow, WebhookRow
from app.storage.tables.workers import WorkerRow

__all__ = [
    "NO_TARGET",
    "AliasMoveRow",
    "Base",
    "DatasetBlockRow",
    "DatasetRow",
    "JobCheckpointRow",
    "JobHoldRow",
    "JobProgressRow",
    "JobTransitionRow",
    "ModelAliasRow",
    "ModelRow",
    "ModelTagRow",
    "ModelVersionRow",
    "PosteriorRow",
    "PredictionPieceRow",
    "PredictionResultRow",
    "RelevanceVectorRow",
    "RequestKeyRow",
    "TrainingJobRow",
    "VersionTagRow",
    "WebhookAttemptRow",
    "WebhookDeliveryRow",
    "WebhookRow",
    "WorkerRow",
]
