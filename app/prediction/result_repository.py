"""The result files of batch predictions, in pieces: transactions are short, and an attempt can be resumed."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Literal
from uuid import UUID

from sqlalchemy import ColumnElement, and_, delete, or_, select, update

from app.database.base import SecondsSince, changed, insertion
from app.database.engine import lock_for_writing
from app.database.transaction import Transaction
from app.jobs.tables import JobRow
from app.prediction.tables import PredictionPieceRow, PredictionResultRow
from relevance_bayes.records.jobs import JOB_PATHS, Resumption

Layer = Literal["rows", "file"]
"""The layers of a stored result: the file itself, or before it the rows of which it is made once they are all there."""

MAX_BYTES_OF_A_PIECE = 2**20


@dataclass(frozen=True)
class ResultProgress:
    """The progress of a result: `rows` are written, of which `faulty` could not be predicted for, in `size` bytes.

    `averaged` of them have unknown categories. `whole`: the file is, and `size` is that of the file.
    """

    rows: int = 0
    faulty: int = 0
    size: int = 0
    whole: bool = False
    averaged: int = 0


@dataclass(frozen=True)
class _KeptResult:
    """A stored result; `resumption` is the attempt that wrote it, `by` the program."""

    reached: ResultProgress
    by: str
    resumption: Resumption


@dataclass(frozen=True, eq=False)
class Piece:
    """Consecutive bytes of a layer, from number `first` on."""

    first: int
    content: bytes


PIECES_AT_ONCE = 8
"""Of at most a MiB each: on SQLite a matter of milliseconds."""


@dataclass(frozen=True)
class _RemovedResult:
    """A part of a result that was removed; `is_expired` where it was the last of one that its owner could read."""

    owner: str
    is_expired: bool


@dataclass(frozen=True)
class ResultRepository:
    """Result files in pieces. Every write names its attempt, and has no effect where that is superseded.

    A writer locks the job's row, so that no other attempt begins before it has finished.
    """

    tx: Transaction

    def find(self, job_id: UUID) -> _KeptResult | None:
        """Return how far it is."""
        row = self._row(job_id)
        return None if row is None else _KeptResult(_reached(row), row.by, Resumption(row.attempt, row.at))

    def begin(self, job_id: UUID, attempt: int, *, by: str) -> ResultProgress | None:
        """Return how far it is by the same program, or whole; nothing else is gone on with. None where superseded."""
        if not self._is_ours(job_id, attempt):
            return None
        row = self._row(job_id)
        if row is None:
            row = PredictionResultRow(job_id=job_id, attempt=attempt, at=self.tx.clock(), by=by)
            self.tx.session.add(row)
        elif row.by != by and not row.whole:
            row.attempt, row.at, row.by = attempt, self.tx.clock(), by
            row.rows = row.faulty = row.averaged = row.size = 0
        self.tx.session.flush()
        return _reached(row)

    def put(
        self, job_id: UUID, attempt: int, layer: Layer, piece: Piece, *, reached: ResultProgress | None = None
    ) -> bool:
        """Keep a piece, and where it is the last one of a part, how far the result is then.

        The job has come further then: starts that died before don't count any more.
        """
        if not self._is_ours(job_id, attempt):
            return False
        if piece.content:
            self._keep(job_id, layer, piece)
        if reached is not None:
            result, job = PredictionResultRow, JobRow
            further = {**asdict(reached), "attempt": attempt, "at": self.tx.clock()}
            changed(self.tx.session, update(result).where(result.job_id == job_id).values(further))
            changed(self.tx.session, update(job).where(job.id == job_id).values(deaths=0))
        return True

    def trim(self, job_id: UUID, attempt: int, layer: Layer, *, size: int) -> bool:
        """Remove some of what begins at byte `size` or behind; whether to call again, in a new transaction."""
        if not self._is_ours(job_id, attempt):
            return False
        piece = PredictionPieceRow
        return self._removed(job_id, piece.layer == layer, piece.first_byte >= size) == PIECES_AT_ONCE

    def piece(self, job_id: UUID, layer: Layer, at: int) -> Piece | None:
        """The piece in which byte `at` stands; None behind the last."""
        piece = PredictionPieceRow
        query = (
            select(piece.first_byte, piece.content)
            .where(piece.job_id == job_id, piece.layer == layer, piece.first_byte <= at)
            .order_by(piece.first_byte.desc())
            .limit(1)
        )
        found = self.tx.session.execute(query).one_or_none()
        if found is None or at >= found.first_byte + len(found.content):
            return None
        return Piece(found.first_byte, found.content)

    def forget(self, job_id: UUID) -> bool:
        """Remove some of a result, which is whole no more; whether to call again, in a new transaction."""
        result = PredictionResultRow
        # Written first: a piece that is removed makes a file that is not whole.
        changed(self.tx.session, update(result).where(result.job_id == job_id).values(whole=False))
        if self._removed(job_id) == PIECES_AT_ONCE:
            return True
        changed(self.tx.session, delete(result).where(result.job_id == job_id))
        return False

    def remove_expired(self, *, older_than: float) -> _RemovedResult | None:
        """Forget some of what a job has made that ended so many seconds ago, or not well; None: nothing is left."""
        result, job = PredictionResultRow, JobRow
        useless = or_(job.state != "succeeded", result.whole.is_(False), SecondsSince(job.finished_at) > older_than)
        query = (
            select(result.job_id, job.owner, job.state)
            .join(job, job.id == result.job_id)
            .where(and_(job.finished_at.is_not(None), useless))
            .limit(1)
        )
        doomed = self.tx.session.execute(query).one_or_none()
        if doomed is None:
            return None
        is_gone = not self.forget(doomed.job_id)
        return _RemovedResult(doomed.owner, is_expired=is_gone and doomed.state == "succeeded")

    def _row(self, job_id: UUID) -> PredictionResultRow | None:
        query = select(PredictionResultRow).where(PredictionResultRow.job_id == job_id)
        return self.tx.session.scalars(query.execution_options(populate_existing=True)).one_or_none()

    def _is_ours(self, job_id: UUID, attempt: int) -> bool:
        """Return whether the attempt is the newest and running, and lock it until the transaction ends."""
        lock_for_writing(self.tx.session.connection())
        job = JobRow
        ours = select(job.id).where(job.id == job_id, job.state == "running", job.attempt == attempt)
        return self.tx.session.scalar(ours.with_for_update(key_share=True)) is not None

    def _keep(self, job_id: UUID, layer: Layer, piece: Piece) -> None:
        """In the place of itself where it is there already, of a transaction whose end was not heard."""
        row = {"job_id": job_id, "layer": layer, "first_byte": piece.first, "content": piece.content}
        put = insertion(self.tx.session, PredictionPieceRow).values(row)
        self.tx.session.execute(
            put.on_conflict_do_update(index_elements=["job_id", "layer", "first_byte"], set_={"content": piece.content})
        )

    def _removed(self, job_id: UUID, *conditions: ColumnElement[bool]) -> int:
        """Some pieces less; how many."""
        piece = PredictionPieceRow
        some = select(piece.layer, piece.first_byte).where(piece.job_id == job_id, *conditions).limit(PIECES_AT_ONCE)
        found = self.tx.session.execute(some).all()
        for layer, first in found:
            gone = delete(piece).where(piece.job_id == job_id, piece.layer == layer, piece.first_byte == first)
            changed(self.tx.session, gone)
        return len(found)


def _reached(row: PredictionResultRow) -> ResultProgress:
    return ResultProgress(row.rows, row.faulty, row.size, row.whole)


def record_expired(tx: Transaction, results: Mapping[str, int]) -> None:
    """Record the numbers of expired results by owner, for the audit: an entry for each owner, and not for each job."""
    for owner, number in results.items():
        tx.record("result.expired", owner, JOB_PATHS["prediction"], results=number)
