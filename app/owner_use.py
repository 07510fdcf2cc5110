"""The use that an owner makes of its quotas."""

from app.database.transaction import Transaction
from app.datasets.repository import DatasetRepository
from app.jobs.backlog_repository import BacklogRepository
from app.jobs.training_time import seconds_of_today
from app.registry.model_quota import count_models
from relevance_bayes.types.limits import OwnerUse


def use_of(tx: Transaction, owner: str) -> OwnerUse:
    """Return what an owner uses now."""
    datasets = DatasetRepository(tx)
    return OwnerUse(
        datasets=datasets.count(owner),
        dataset_bytes=datasets.stored_bytes(owner),
        models=count_models(tx, owner),
        unfinished_jobs=BacklogRepository(tx).count(owner),
        training_seconds_per_day=round(seconds_of_today(tx, owner), 3),
    )
