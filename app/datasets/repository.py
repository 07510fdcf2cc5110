"""The repository of datasets and their blocks.

A block is stored as bytes: {"columns": [[name, kind] or [name, "category", labels], ...]}, one array each.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

import numpy as np
from pydantic import TypeAdapter
from sqlalchemy import ColumnElement, Select, delete, func, select, update
from sqlalchemy.orm import Session

from app.database import keyset
from app.database.base import Columns, Document, changed
from app.database.engine import lock_for_writing
from app.database.frame import Arrays, Content, Json, Stored, UnreadableBytesError, read, write
from app.database.keyset import KeysetPage, PageRequest
from app.database.transaction import CANCEL, Transaction, count_holds, hold
from app.datasets.records import Dataset, Upload
from app.datasets.tables import DatasetBlockRow, DatasetRow
from app.errors import InUseError
from relevance_bayes.records.datasets import Image
from relevance_bayes.records.errors import NotFoundError
from relevance_bayes.tables.columns import (
    Block,
    BooleanArray,
    CategoryArray,
    Column,
    ColumnSummary,
    NumberArray,
    TimestampArray,
    block_rows,
)


def encode_block(block: Block) -> bytes:
    """Return a block as bytes; raises UnicodeEncodeError for a text with an unpaired surrogate."""
    columns: list[Json] = []
    arrays: list[Stored] = []
    for name, column in block.items():
        match column:
            case NumberArray(values):
                columns.append([name, "number"])
                arrays.append(values)
            case TimestampArray(values):
                columns.append([name, "timestamp"])
                arrays.append(values)
            case BooleanArray(flags):
                columns.append([name, "boolean"])
                arrays.append(flags)
            case CategoryArray(codes, labels):
                columns.append([name, "category", list(labels)])
                arrays.append(codes)
    return write(Content.BLOCK, {"columns": columns}, arrays, compressible=True)


def cell_bytes(block: Block) -> int:
    """Return the bytes that the cells of a block take uncompressed: of a text, those of UTF-8 wherever it occurs."""
    return sum(map(_cell_bytes, block.values()))


def _cell_bytes(column: Column) -> int:
    if not isinstance(column, CategoryArray):
        return column.values.nbytes
    lengths = np.fromiter((len(label.encode()) for label in column.labels), np.int64, len(column.labels))
    return int(lengths[column.codes[column.codes >= 0]].sum()) + column.codes.nbytes


def decode_block(data: bytes) -> Block:
    """Return a block from its bytes; raises UnreadableBytesError."""
    value, arrays = read(Content.BLOCK, data)
    match value:
        case {"columns": [*columns]}:
            return dict(_column(column, number, arrays) for number, column in enumerate(columns))
    raise UnreadableBytesError("expected the columns of a block")


def _column(described: Json, number: int, arrays: Arrays) -> tuple[str, Column]:
    match described:
        case [str(name), "number"]:
            return name, NumberArray(arrays.real(number))
        case [str(name), "timestamp"]:
            return name, TimestampArray(arrays.real(number))
        case [str(name), "boolean"]:
            return name, BooleanArray(arrays.flags(number))
        case [str(name), "category", [*labels]]:
            return name, CategoryArray(arrays.codes(number), tuple(str(label) for label in labels))
    raise UnreadableBytesError(f"expected a column of a known kind, got {described!r}")


UPLOAD = Columns(Upload)
DATASET = Columns(Dataset)
COLUMNS = Document(TypeAdapter(tuple[ColumnSummary, ...]))


BLOCKS_AT_ONCE = 8
"""The number of blocks deleted in one transaction; on SQLite about 60 ms for blocks of 2 MB."""


def remove_piece(session: Session, dataset_id: UUID) -> bool:
    """Delete some blocks of a dataset in state `deleted`, at last the dataset itself; return whether any is left."""
    if session.scalar(select(DatasetRow.state).where(DatasetRow.id == dataset_id)) != "deleted":
        return False
    piece = (
        select(DatasetBlockRow.number)
        .where(DatasetBlockRow.dataset_id == dataset_id)
        .order_by(DatasetBlockRow.number)
        .limit(BLOCKS_AT_ONCE)
        .subquery()
    )
    last = select(func.max(piece.c.number)).scalar_subquery()
    removed = changed(
        session,
        delete(DatasetBlockRow).where(DatasetBlockRow.dataset_id == dataset_id, DatasetBlockRow.number <= last),
    )
    if removed == BLOCKS_AT_ONCE:
        return True
    changed(session, delete(DatasetRow).where(DatasetRow.id == dataset_id))
    return False


@dataclass(frozen=True)
class DatasetRepository:
    """Datasets; an upload is invisible until `finish`."""

    tx: Transaction

    def begin(self, upload: Upload) -> None:
        """Insert an upload, which is visible only to its uploader."""
        row = UPLOAD.write(
            DatasetRow,
            upload,
            state="uploading",
            written_at=self.tx.clock(),
            height=None if upload.image is None else upload.image.height,
            width=None if upload.image is None else upload.image.width,
        )
        self.tx.session.add(row)
        self.tx.session.flush()

    def append(self, dataset_id: UUID, number: int, first_row: int, block: Block) -> None:
        """Store block `number` (from 0), whose first row is `first_row`, and record the time of the write.

        Raises NotFoundError where the upload was deleted meanwhile.
        """
        # Encoded first, so that no lock is held meanwhile.
        content = encode_block(block)
        alive = update(DatasetRow).where(DatasetRow.id == dataset_id, DatasetRow.state == "uploading")
        size = DatasetRow.stored_bytes + max(len(content), cell_bytes(block))
        if not changed(self.tx.session, alive.values(written_at=self.tx.clock(), stored_bytes=size)):
            raise _upload_is_gone()
        row = DatasetBlockRow(
            dataset_id=dataset_id, number=number, first_row=first_row, rows=block_rows(block), content=content
        )
        self.tx.session.add(row)
        self.tx.session.flush()
        self.tx.session.expunge(row)

    def count(self, owner: str) -> int:
        """Return the number of an owner's datasets, uploads included."""
        return self.tx.session.scalar(select(func.count()).select_from(DatasetRow).where(*_kept(owner))) or 0

    def stored_bytes(self, owner: str) -> int:
        """Return the size of the cells of an owner's datasets before they are compressed, uploads included."""
        return int(self.tx.session.scalar(select(func.sum(DatasetRow.stored_bytes)).where(*_kept(owner))) or 0)

    def finish(self, dataset_id: UUID, *, rows: int, digest: str, columns: Sequence[ColumnSummary]) -> Dataset:
        """Make an upload a dataset; raises NotFoundError where it was deleted meanwhile."""
        ready = (
            update(DatasetRow)
            .where(DatasetRow.id == dataset_id, DatasetRow.state == "uploading")
            .values(
                state="ready",
                rows=rows,
                digest=digest,
                columns=COLUMNS.write(tuple(columns)),
                written_at=self.tx.clock(),
            )
        )
        if not changed(self.tx.session, ready):
            raise _upload_is_gone()
        made = _dataset(self.tx.session.scalars(_ready().where(DatasetRow.id == dataset_id)).one())
        self.tx.record(
            "dataset.created", made.owner, _path(dataset_id), name=made.name, rows=made.rows, digest=made.digest
        )
        return made

    def discard(self, dataset_id: UUID) -> bool:
        """Abandon an upload and delete a piece of it; return whether more is left. A finished dataset stays."""
        given_up = update(DatasetRow).where(DatasetRow.id == dataset_id, DatasetRow.state == "uploading")
        changed(self.tx.session, given_up.values(state="deleted"))
        return remove_piece(self.tx.session, dataset_id)

    def remove_expired(self, *, not_written_since: datetime) -> bool:
        """Delete a piece of an upload without a write since a time, or of a deleted dataset.

        Return whether there was one: call again, in a new transaction.
        """
        silent = update(DatasetRow).where(DatasetRow.state == "uploading", DatasetRow.written_at < not_written_since)
        changed(self.tx.session, silent.values(state="deleted"))
        doomed = self.tx.session.scalar(select(DatasetRow.id).where(DatasetRow.state == "deleted").limit(1))
        if doomed is None:
            return False
        remove_piece(self.tx.session, doomed)
        return True

    def get(self, owner: str, dataset_id: UUID) -> Dataset:
        """Return a finished dataset; raises NotFoundError."""
        row = self.tx.session.scalars(
            _ready().where(DatasetRow.owner == owner, DatasetRow.id == dataset_id)
        ).one_or_none()
        if row is None:
            raise NotFoundError(f"There is no dataset {dataset_id}.")
        return _dataset(row)

    def same(self, dataset: Dataset) -> Dataset | None:
        """Return the oldest finished dataset with the owner, name and content of a dataset."""
        alike = (
            DatasetRow.owner == dataset.owner,
            DatasetRow.name == dataset.name,
            DatasetRow.digest == dataset.digest,
            DatasetRow.rows == dataset.rows,
        )
        found = map(_dataset, self.tx.session.scalars(_ready().where(*alike).order_by(DatasetRow.id)))
        return next((one for one in found if one.image == dataset.image), None)

    def page(self, owner: str, part: PageRequest, *, name: str | None = None) -> KeysetPage[Dataset]:
        """Return a page of finished datasets; raises InvalidRequestError for an invalid cursor."""
        query = _ready().where(DatasetRow.owner == owner)
        if name is not None:
            query = query.where(DatasetRow.name == name)
        query = keyset.by_age(query, DatasetRow.id, part, keyset.read_id)
        return keyset.page(self.tx.session.scalars(query).all(), part.limit, _dataset, lambda row: row.id)

    def block(self, dataset_id: UUID, number: int) -> tuple[int, Block] | None:
        """Return the number of a block's first row, and the block; None after the last one."""
        found = self.tx.session.execute(
            select(DatasetBlockRow.first_row, DatasetBlockRow.content).where(
                DatasetBlockRow.dataset_id == dataset_id, DatasetBlockRow.number == number
            )
        ).one_or_none()
        return None if found is None else (found.first_row, decode_block(found.content))

    def block_holding(self, dataset_id: UUID, row: int) -> int:
        """Return the number of the block that contains a row; raises NotFoundError after the last row."""
        number = self.tx.session.scalar(
            select(DatasetBlockRow.number).where(
                DatasetBlockRow.dataset_id == dataset_id,
                DatasetBlockRow.first_row <= row,
                DatasetBlockRow.first_row + DatasetBlockRow.rows > row,
            )
        )
        if number is None:
            raise NotFoundError(f"The dataset has no row {row + 1} of the data.")
        return number

    def hold(self, owner: str, dataset_id: UUID, *, job_id: UUID) -> None:
        """Prevent the deletion of a dataset until a job ends; raises NotFoundError."""
        lock_for_writing(self.tx.session.connection())
        mine = (DatasetRow.owner == owner, DatasetRow.id == dataset_id, DatasetRow.state == "ready")
        found = select(DatasetRow.id).where(*mine).with_for_update(read=True, key_share=True)
        if self.tx.session.scalar(found) is None:
            raise NotFoundError(f"There is no dataset {dataset_id}.")
        hold(self.tx, job_id, owner, "dataset", dataset_id)

    def delete(self, owner: str, dataset_id: UUID) -> None:
        """Delete a dataset; raises NotFoundError, or InUseError while an unfinished job needs it.

        `remove_expired` deletes the blocks of a large one: to delete all at once would block every writer.
        """
        lock_for_writing(self.tx.session.connection())
        mine = (DatasetRow.owner == owner, DatasetRow.id == dataset_id, DatasetRow.state == "ready")
        # Locked until the end: `hold` locks this row too, so that the two can't miss each other.
        if self.tx.session.scalar(select(DatasetRow.id).where(*mine).with_for_update()) is None:
            raise NotFoundError(f"There is no dataset {dataset_id}.")
        if jobs := count_holds(self.tx, owner, "dataset", dataset_id):
            raise InUseError(f"The dataset is needed by unfinished jobs ({jobs}): {CANCEL}")
        changed(self.tx.session, update(DatasetRow).where(*mine).values(state="deleted"))
        remove_piece(self.tx.session, dataset_id)
        self.tx.record("dataset.deleted", owner, _path(dataset_id))


def _path(dataset_id: UUID) -> str:
    return f"/v1/datasets/{dataset_id}"


def _ready() -> Select[DatasetRow]:
    return select(DatasetRow).where(DatasetRow.state == "ready").execution_options(populate_existing=True)


def _kept(owner: str) -> tuple[ColumnElement[bool], ...]:
    return DatasetRow.owner == owner, DatasetRow.state.in_(("ready", "uploading"))


def _dataset(row: DatasetRow) -> Dataset:
    if row.columns is None:
        raise AssertionError(f"dataset {row.id} is ready without its figures, which violates a constraint of the table")
    image = None if row.height is None or row.width is None else Image(row.height, row.width)
    return DATASET.read(row, columns=COLUMNS.read(row.columns), image=image)


def _upload_is_gone() -> NotFoundError:
    return NotFoundError("The upload timed out without data and was deleted: send it again.")
