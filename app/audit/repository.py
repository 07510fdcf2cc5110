"""The repository of the audit."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import timedelta

from pydantic import TypeAdapter
from sqlalchemy import ColumnElement, bindparam, delete, exists, func, insert, select, update

from app.audit.records import EVERYTHING, GENESIS, AuditFilter, ChainHead, hash_of
from app.audit.tables import AuditChainRow, AuditEntryRow
from app.database import keyset
from app.database.base import Columns, Document, changed, insertion
from app.database.engine import lock_for_writing
from app.database.keyset import KeysetPage, PageRequest
from app.database.transaction import Change, Transaction
from relevance_bayes.records.audit import ActorKind, AuditActor, AuditDetail, AuditEntry

ENTRY = Columns(AuditEntry)
DETAILS: Document[dict[str, AuditDetail]] = Document(TypeAdapter(dict[str, AuditDetail]))
ACTOR: TypeAdapter[ActorKind] = TypeAdapter(ActorKind)

AT_ONCE = 1_000
"""The maximum number of rows of one deletion, and of one read of a chain."""

EXPIRY_INTERVAL = timedelta(days=1)
"""The age above the retention of a chain's first entry at which old entries are deleted, so that a chain gets at most
one entry a day about this."""


# Made once: to make them anew would take most of the time of an entry.
_HEAD = select(AuditChainRow.number, AuditChainRow.hash).where(AuditChainRow.owner == bindparam("of")).with_for_update()
_ADD = insert(AuditEntryRow)
_MOVE = update(AuditChainRow).where(AuditChainRow.owner == bindparam("of"))


@dataclass(frozen=True)
class AuditRepository:
    """Chains of entries, one for each owner; numbers have no gaps."""

    tx: Transaction

    def append(self, changes: Sequence[Change]) -> None:
        """Append changes to the chains of their owners, whose rows stay locked until this transaction ends.

        Chains are locked in the order of owners, so that transactions with several can't wait for each other.
        """
        lock_for_writing(self.tx.session.connection())
        for owner in sorted({change.owner for change in changes}):
            last = self._locked(owner)
            for change in changes:
                if change.owner == owner:
                    last = self._add(change, last)
            moved = {"of": owner, "number": last.number, "hash": last.hash}
            self.tx.session.connection().execute(_MOVE, moved)

    def head(self, owner: str) -> ChainHead | None:
        """Return the last entry that the chain of an owner must have; None without a chain."""
        row = self.tx.session.execute(
            select(AuditChainRow.number, AuditChainRow.hash).where(AuditChainRow.owner == owner)
        ).one_or_none()
        return None if row is None else ChainHead(owner, row.number, row.hash)

    def heads(self) -> tuple[ChainHead, ...]:
        """Return the last entries that all chains must have."""
        chain = AuditChainRow
        rows = self.tx.session.execute(select(chain.owner, chain.number, chain.hash))
        return tuple(ChainHead(owner, number, last_hash) for owner, number, last_hash in rows)

    def owners(self) -> tuple[str, ...]:
        """Return all owners that have a chain or entries."""
        found = {*self.tx.session.scalars(select(AuditChainRow.owner))}
        return tuple(sorted(found | {*self.tx.session.scalars(select(AuditEntryRow.owner).distinct())}))

    def page(self, owner: str, part: PageRequest, which: AuditFilter = EVERYTHING) -> KeysetPage[AuditEntry]:
        """Return a page of entries; raises InvalidRequestError for an invalid cursor."""
        query = select(AuditEntryRow).where(AuditEntryRow.owner == owner, *_selected(which))
        query = keyset.by_age(query, AuditEntryRow.number, part, keyset.read_number)
        return keyset.page(self.tx.session.scalars(query).all(), part.limit, _entry, lambda row: row.number)

    def following(self, owner: str, number: int, which: AuditFilter = EVERYTHING) -> tuple[AuditEntry, ...]:
        """Return at most AT_ONCE entries after a number, oldest first; raises ValueError where one is not readable."""
        row = AuditEntryRow
        query = select(row).where(row.owner == owner, row.number > number, *_selected(which))
        return tuple(map(_entry, self.tx.session.scalars(query.order_by(row.number).limit(AT_ONCE))))

    def first_number(self, owner: str) -> int | None:
        """Return the number of the oldest entry."""
        return self.tx.session.scalar(select(func.min(AuditEntryRow.number)).where(AuditEntryRow.owner == owner))

    def remove_expired(self, *, older_than: float) -> bool:
        """Delete some entries older than so many seconds from the beginning of a chain; return whether to call again.

        The first call for a chain appends an entry with number and hash of the last of them.
        """
        row, chain = AuditEntryRow, AuditChainRow
        begun = select(row.owner, row.number).join(chain, chain.owner == row.owner).where(row.number <= chain.expired)
        found = self.tx.session.execute(begun.order_by(row.owner, row.number).limit(AT_ONCE)).all()
        if found:
            owner = found[0].owner
            last = max(one.number for one in found if one.owner == owner)
            changed(self.tx.session, delete(row).where(row.owner == owner, row.number <= last))
            return True
        before = self.tx.clock() - timedelta(seconds=older_than)
        old = exists().where(row.owner == chain.owner, row.at < before - EXPIRY_INTERVAL, row.action != "audit.expired")
        doomed = self.tx.session.scalar(select(chain.owner).where(old).limit(1))
        if doomed is None:
            return False
        last_old = select(row.number, row.hash).where(row.owner == doomed, row.at < before)
        number, last_hash = self.tx.session.execute(last_old.order_by(row.number.desc()).limit(1)).one()
        begin = update(chain).where(chain.owner == doomed, chain.expired < number).values(expired=number)
        if changed(self.tx.session, begin):  # otherwise another worker has begun
            self.tx.record("audit.expired", doomed, "/v1/audit", through=number, hash=last_hash)
        return True

    def _locked(self, owner: str) -> ChainHead:
        """Return the last entry of a chain, which is locked; one without entries is made."""
        connection = self.tx.session.connection()
        row = connection.execute(_HEAD, {"of": owner}).one_or_none()
        if row is None:
            new = insertion(self.tx.session, AuditChainRow).values(owner=owner, number=0, hash=GENESIS, expired=0)
            connection.execute(new.on_conflict_do_nothing(index_elements=["owner"]))
            row = connection.execute(_HEAD, {"of": owner}).one()
        return ChainHead(owner, row.number, row.hash)

    def _add(self, change: Change, last: ChainHead) -> ChainHead:
        origin = change.origin
        # The id of a key does not show to the owner of a project which member it is of.
        by = None if origin.owner == change.owner else origin.owner
        details = {**change.details, "by": by}
        entry = AuditEntry(
            owner=change.owner,
            number=last.number + 1,
            at=self.tx.clock(),
            action=change.action,
            result="refused" if change.action == "request.refused" else "success",
            actor=AuditActor(origin.actor, origin.actor_id),
            resource=change.resource,
            address=origin.address,
            user_agent=origin.user_agent,
            request_id=origin.request_id,
            details={name: value for name, value in details.items() if value is not None},
            previous_hash=last.hash,
            hash="",
        )
        entry = replace(entry, hash=hash_of(entry))
        others = {"actor": entry.actor.kind, "actor_id": entry.actor.id, "details": DETAILS.write(dict(entry.details))}
        self.tx.session.connection().execute(_ADD, vars(entry) | others)
        return ChainHead(entry.owner, entry.number, entry.hash)


def store_changes(tx: Transaction) -> None:
    """Append the changes that were recorded in a transaction."""
    AuditRepository(tx).append(tx.changes)


def _selected(which: AuditFilter) -> list[ColumnElement[bool]]:
    row = AuditEntryRow
    equal = {row.action: which.action, row.actor_id: which.actor, row.resource: which.resource}
    found = [column == value for column, value in equal.items() if value is not None]
    if which.since is not None:
        found.append(row.at >= which.since)
    if which.until is not None:
        found.append(row.at < which.until)
    return found


def _entry(row: AuditEntryRow) -> AuditEntry:
    actor = AuditActor(ACTOR.validate_python(row.actor), row.actor_id)
    return ENTRY.read(row, actor=actor, details=DETAILS.read(row.details))
