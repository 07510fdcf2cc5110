"""The quota of models: those of unfinished training jobs count from their submission on."""

from app.database.transaction import Transaction
from app.jobs.backlog_repository import BacklogRepository
from app.limits.quotas import MODELS, check_quota
from app.registry.repository import ModelRepository


def count_models(tx: Transaction, owner: str) -> int:
    """Return the number of an owner's models, those of unfinished training jobs included."""
    return ModelRepository(tx).count(owner, planned=BacklogRepository(tx).models_in_training(owner))


def check_model_quota(tx: Transaction, owner: str, name: str) -> None:
    """Raise QuotaExceededError where a model of this name would be one more than the owner's limit."""

    def count() -> int:
        planned = BacklogRepository(tx).models_in_training(owner)
        if name in planned or ModelRepository(tx).find(owner, name) is not None:
            return 0
        return ModelRepository(tx).count(owner, planned=planned | {name})

    check_quota(tx, owner, MODELS, count)
