"""Ingestion of a table: each block is stored in a short transaction; the dataset is visible once all are stored."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import partial
from itertools import chain
from uuid import UUID

from app.accounts.limits import DATASET_BYTES, DATASETS, check_quota
from app.database.transaction import Clock, OpenTransaction
from app.datasets.records import Dataset, Received, Upload
from app.datasets.repository import DatasetRepository
from app.errors import UnavailableError
from app.formats.streams import TableStream
from app.http.idempotency_records import Keyed
from app.http.key_repository import IdempotencyKeyRepository
from app.identity import uuid7
from relevance_bayes.records.errors import InvalidDataError
from relevance_bayes.tables.columns import Block
from relevance_bayes.tables.statistics import TableStatistics

ABANDONED_AFTER = timedelta(hours=1)
"""Time without a write after which an upload is deleted."""


@dataclass(frozen=True)
class Ingest:
    """Stores uploads as datasets."""

    transaction: OpenTransaction
    clock: Clock

    def receive(
        self,
        owner: str,
        name: str,
        table: TableStream,
        *,
        reuse: bool = False,
        keyed: Keyed[Received] | None = None,
    ) -> Received:
        """Store a table, or an image.

        With `reuse`, a dataset of the owner with the same name and content is returned in its place, where there is
        one; of two uploads at the same time, each may make one.

        The table is read outside transactions, so it may be slow. After an error nothing of the upload stays. The
        response to a `keyed` request is stored in the transaction that makes the dataset. Raises InvalidDataError where
        there are no rows, KeyInUseError, QuotaExceededError, and what the blocks of the table raise.
        """
        first = next(table.blocks, None)
        if first is None:
            raise InvalidDataError("The table has no rows.")
        upload = Upload(uuid7(), owner, name, self.clock(), table.names, table.kinds, table.image)
        with self.transaction() as tx:
            if keyed is not None:
                IdempotencyKeyRepository(tx).begin(keyed.key, upload.id)
            datasets = DatasetRepository(tx)
            check_quota(tx, owner, DATASETS, lambda: datasets.count(owner) + 1)
            datasets.begin(upload)
        try:
            made = self._store(upload, chain((first,), table.blocks), keyed)
            read = table.readings()
            made = replace(made, columns=tuple(replace(one, reading=read.get(one.name)) for one in made.columns))
            return self._finished(upload, made, reuse=reuse, keyed=keyed)
        except BaseException:
            self._discard(upload.id, keyed)
            raise

    def _store(self, upload: Upload, blocks: Iterator[Block], keyed: Keyed[Received] | None) -> Dataset:
        """Store the blocks, and return the dataset that they make once it is finished."""
        seen = TableStatistics(upload.names, upload.kinds)
        for number, block in enumerate(blocks):
            first_row = seen.rows
            seen.add(block)
            with self.transaction() as tx:
                if keyed is not None:
                    IdempotencyKeyRepository(tx).renew(keyed.key, upload.id)
                datasets = DatasetRepository(tx)
                datasets.append(upload.id, number, first_row, block)
                check_quota(tx, upload.owner, DATASET_BYTES, partial(datasets.stored_bytes, upload.owner))
        return Dataset(
            id=upload.id,
            owner=upload.owner,
            name=upload.name,
            created_at=upload.created_at,
            rows=seen.rows,
            digest=seen.digest(),
            columns=tuple(seen.summaries()),
            image=upload.image,
        )

    def _finished(self, upload: Upload, made: Dataset, *, reuse: bool, keyed: Keyed[Received] | None) -> Received:
        """Make the upload visible, or return the dataset that it repeats and discard it."""
        found = None
        if reuse:
            with self.transaction() as tx:
                found = DatasetRepository(tx).same(made)
        received = Received(found or made, is_new=found is None)
        response = None if keyed is None else keyed.response(received)
        with self.transaction() as tx:
            if keyed is not None and response is not None:
                IdempotencyKeyRepository(tx).complete(keyed.key, upload.id, response)
            if found is None:
                DatasetRepository(tx).finish(upload.id, rows=made.rows, digest=made.digest, columns=made.columns)
        if found is not None:
            self._discard(upload.id, None)
        return received

    def _discard(self, dataset_id: UUID, keyed: Keyed[Received] | None) -> None:
        try:
            if keyed is not None:
                with self.transaction() as tx:
                    IdempotencyKeyRepository(tx).release(keyed.key, dataset_id)
            more = True
            while more:  # a piece at a time, so that transactions are short
                with self.transaction() as tx:
                    more = DatasetRepository(tx).discard(dataset_id)
        except UnavailableError:
            return  # the first error is raised; the periodic cleanup deletes the rest

    def remove_expired(self) -> int:
        """Delete abandoned uploads, and what is left of deleted datasets; return the number of deleted pieces."""
        silent_since = self.clock() - ABANDONED_AFTER
        pieces, found = 0, True
        while found:
            with self.transaction() as tx:
                found = DatasetRepository(tx).remove_expired(not_written_since=silent_since)
            pieces += found
        return pieces
