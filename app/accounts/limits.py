"""The limits of owners and what they use; and quotas, checked in the transaction that adds to it."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import TypeAlias
from urllib.parse import quote

from app.accounts.limit_repository import OwnerLimitsRepository
from app.accounts.records import MAX_OWNER_LENGTH, is_label
from app.database.transaction import OpenTransaction, Transaction
from app.errors import QuotaExceededError, TooManyJobsError
from relevance_bayes.records.accounts import LIMIT_NAMES, LimitedOwner, OwnerLimits, OwnerUse
from relevance_bayes.records.errors import InvalidRequestError, RelevanceError

NO_LIMIT = "none"
"""The text of no limit in commands and in the audit."""

UseOf: TypeAlias = Callable[[Transaction, str], OwnerUse]
"""Returns what an owner uses."""


@dataclass(frozen=True)
class OwnersWithLimits:
    """The limits of owners; processes apply new rates within two seconds, and new quotas at once."""

    transaction: OpenTransaction
    use_of: UseOf

    def get(self, owner: str) -> LimitedOwner:
        """Return the limits of an owner, and what it uses; any text may be one."""
        with self.transaction() as tx:
            return self._read(tx, owner)

    def all(self) -> tuple[LimitedOwner, ...]:
        """Return the owners for which limits are set, by name."""
        with self.transaction() as tx:
            return tuple(self._read(tx, owner) for owner in sorted(OwnerLimitsRepository(tx).all()))

    def replace(self, owner: str, limits: Mapping[str, int | None]) -> LimitedOwner:
        """Set the limits of an owner by name (None: no limit); those that are left out are the settings' again.

        Raises InvalidRequestError for a text that can't be an owner.
        """
        with self.transaction() as tx:
            return self._set(tx, owner, limits)

    def change(self, owner: str, limits: Mapping[str, int | None], *, reset: Collection[str] = ()) -> LimitedOwner:
        """Set some limits of an owner, and reset others to those of the settings; raises as `replace`."""
        with self.transaction() as tx:
            repository = OwnerLimitsRepository(tx)
            repository.locked(owner)
            kept = {name: limit for name, limit in repository.own(owner).items() if name not in reset}
            return self._set(tx, owner, {**kept, **limits})

    def _set(self, tx: Transaction, owner: str, limits: Mapping[str, int | None]) -> LimitedOwner:
        if not is_label(owner, MAX_OWNER_LENGTH):
            raise InvalidRequestError(
                f"Expected an owner of 1 to {MAX_OWNER_LENGTH} printable characters, got {owner!r}."
            )
        repository = OwnerLimitsRepository(tx)
        if repository.own(owner) != limits:
            repository.set(owner, limits)
            shown = {name: NO_LIMIT if limit is None else limit for name, limit in limits.items()}
            tx.record("limits.updated", owner, f"/v1/limits/{quote(owner, safe='')}", **shown)
        return self._read(tx, owner)

    def _read(self, tx: Transaction, owner: str) -> LimitedOwner:
        repository = OwnerLimitsRepository(tx)
        own = repository.own(owner)
        names = tuple(name for name in LIMIT_NAMES if name in own)
        return LimitedOwner(owner, repository.of(owner), names, self.use_of(tx, owner))


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
