"""Quotas of what an owner has, checked in the transaction that adds to it."""

from collections.abc import Callable
from dataclasses import dataclass

from app.database.transaction import Transaction
from app.errors import QuotaExceededError, TooManyJobsError
from app.limits.repository import OwnerLimitsRepository
from relevance_bayes.records.errors import RelevanceError
from relevance_bayes.records.limits import OwnerLimits


@dataclass(frozen=True)
class Quota:
    """A quota: the limit among those of an owner, and the error for more than it."""

    limit: Callable[[OwnerLimits], int | None]
    error: Callable[[int], RelevanceError]


def _exceeded(noun: str) -> Callable[[int], QuotaExceededError]:
    return lambda limit: QuotaExceededError(
        f"Expected at most {limit:,} {noun} of this owner, got more: delete some first."
    )


DATASETS = Quota(lambda limits: limits.datasets, _exceeded("datasets"))
DATASET_BYTES = Quota(lambda limits: limits.dataset_bytes, _exceeded("bytes of datasets"))
MODELS = Quota(lambda limits: limits.models, _exceeded("models"))
UNFINISHED_JOBS = Quota(
    lambda limits: limits.unfinished_jobs,
    lambda limit: TooManyJobsError(f"{limit:,} jobs are unfinished, the maximum: try again later, or cancel some."),
)


def check_quota(tx: Transaction, owner: str, quota: Quota, use: Callable[[], int]) -> None:
    """Raise the quota's error where `use`, with what this transaction adds, is above the owner's limit.

    It is counted while no other transaction checks a quota of the owner, and not at all where there is no limit.
    """
    repository = OwnerLimitsRepository(tx)
    if quota.limit(repository.of(owner)) is None:
        return
    limit = quota.limit(repository.locked(owner))
    if limit is not None and use() > limit:
        raise quota.error(limit)
