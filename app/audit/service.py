"""The audit of owners: list, export, verify."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from app.audit.heads import Heads
from app.audit.records import EVERYTHING, GENESIS, AuditFilter, ChainHead
from app.audit.repository import AuditRepository
from app.audit.verification import Verification, VerifiedChain
from app.database.keyset import KeysetPage, PageRequest
from app.database.transaction import OpenTransaction
from relevance_bayes.records.audit import AuditEntry


@dataclass(frozen=True)
class Audit:
    """Entries of owners, as they were recorded with the changes."""

    transaction: OpenTransaction

    def page(self, owner: str, part: PageRequest, which: AuditFilter = EVERYTHING) -> KeysetPage[AuditEntry]:
        """Return a page of entries; raises InvalidRequestError for an invalid cursor."""
        with self.transaction() as tx:
            return AuditRepository(tx).page(owner, part, which)

    def batches(self, owner: str, which: AuditFilter = EVERYTHING) -> Iterator[Sequence[AuditEntry]]:
        """Yield all entries, oldest first, some at a time, each read in a transaction of its own."""
        number = 0
        while True:
            with self.transaction() as tx:
                found = AuditRepository(tx).following(owner, number, which)
            if not found:
                return
            yield found
            number = found[-1].number

    def owners(self) -> tuple[str, ...]:
        """Return all owners with entries."""
        with self.transaction() as tx:
            return AuditRepository(tx).owners()

    def heads(self) -> tuple[ChainHead, ...]:
        """Return the last entries that all chains must have."""
        with self.transaction() as tx:
            return AuditRepository(tx).heads()

    def verify(self, owner: str, checkpoints: Sequence[ChainHead] = (), heads: Heads | None = None) -> VerifiedChain:
        """Verify the chain of an owner, while others may append to it; `heads` are older than what is read."""
        if heads is not None:
            checkpoints = (*checkpoints, *heads.checkpoints(owner))
        while True:
            with self.transaction() as tx:
                first = AuditRepository(tx).first_number(owner)
            found = self._verified(Verification(owner, checkpoints, heads))
            if not found.faults:
                return found
            with self.transaction() as tx:
                if AuditRepository(tx).first_number(owner) == first:
                    return found  # otherwise retention deleted entries meanwhile

    def _verified(self, verification: Verification) -> VerifiedChain:
        owner, number, head = verification.owner, 0, None
        try:
            while True:
                with self.transaction() as tx:
                    # Read before the entries, so that these go at least as far.
                    head = AuditRepository(tx).head(owner)
                    batch = AuditRepository(tx).following(owner, number)
                if not batch:
                    break
                for entry in batch:
                    verification.add(entry)
                number = batch[-1].number
        except ValueError:
            verification.unreadable()
        return verification.result(head or ChainHead(owner, 0, GENESIS))
