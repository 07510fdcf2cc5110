"""The audit of owners: list, export as NDJSON and CSV, verify."""

import csv
import io
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from app.audit.heads import Heads, Verification, VerifiedChain
from app.audit.records import EVERYTHING, GENESIS, AuditFilter, ChainHead, canonical, members
from app.audit.repository import AuditRepository
from app.database.keyset import KeysetPage, PageRequest
from app.database.transaction import OpenTransaction
from relevance_bayes.records.audit import AuditEntry
from relevance_bayes.records.formats import CSV, NDJSON
from relevance_bayes.tables.kinds import escaped

COLUMNS = (
    "owner",
    "number",
    "at",
    "action",
    "result",
    "actor_kind",
    "actor_id",
    "resource",
    "address",
    "user_agent",
    "request_id",
    "details",
    "previous_hash",
    "hash",
)
"""The columns of CSV; `details` is JSON."""

Batches: TypeAlias = Iterable[Sequence[AuditEntry]]


def ndjson(batches: Batches) -> Iterator[bytes]:
    """Yield a line for each entry: its canonical JSON, and so what its hash covers but for the hash itself."""
    for batch in batches:
        yield b"".join(canonical(members(entry)) + b"\n" for entry in batch)


def _comma_separated(batches: Batches) -> Iterator[bytes]:
    """Yield a header, and a row for each entry; texts that spreadsheets would compute are escaped."""
    yield _lines([COLUMNS])
    for batch in batches:
        yield _lines(map(_row, batch))


EXPORTS: dict[str, Callable[[Batches], Iterator[bytes]]] = {
    NDJSON.media_type: ndjson,
    CSV.media_type: _comma_separated,
}
"""The exports by media type."""


def _row(entry: AuditEntry) -> Sequence[str]:
    actor = {"actor_kind": entry.actor.kind, "actor_id": entry.actor.id}
    content = members(entry) | actor | {"details": canonical(dict(entry.details)).decode()}
    return ["" if content[name] is None else escaped(str(content[name])) for name in COLUMNS]


def _lines(rows: Iterable[Sequence[str]]) -> bytes:
    written = io.StringIO()
    csv.writer(written, lineterminator="\n").writerows(rows)
    return written.getvalue().encode()


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
