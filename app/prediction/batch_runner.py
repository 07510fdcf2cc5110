"""Predictions for a dataset, row after row into a file that is kept in pieces; what a start before it wrote, stays."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeVar
from uuid import UUID

from app.database.transaction import Transaction
from app.datasets.records import Dataset
from app.datasets.repository import DatasetRepository
from app.formats import ASSEMBLED_FROM, BATCH_FORMATS, named
from app.formats.format import AssembledFormat, PartsFormat
from app.formats.streams import FlatTable, KeptColumn, errors_by_row, faulty_rows
from app.jobs.records import Job, JobFailure
from app.jobs.worker.attempts import JobAttempt, Pace, Superseded
from app.prediction import PredictRequest, ServedVersion, predict, version_metadata
from app.prediction.batch_jobs import PREDICTION, PredictionPlan, options_by
from app.prediction.dataset_rows import PROGRESS_SECONDS, version_at_hand
from app.prediction.result_repository import MAX_BYTES_OF_A_PIECE, Layer, Piece, ResultProgress, ResultRepository
from relevance_bayes.records.batch_predictions import BatchPredicted, BatchPredictionIn
from relevance_bayes.records.errors import Fault
from relevance_bayes.records.jobs import Progress
from relevance_bayes.tables.columns import Block, block_rows, taken

MAX_CELLS_AT_ONCE = 2**19
"""Of a part: with what is made of them on the way, some tens of MiB."""

MAX_FAULTS_REPORTED = 20

T = TypeVar("T")


class RefusedRows(Exception):
    """Rows that can't be predicted for, where these are not to be left out."""

    def __init__(self, faults: Sequence[Fault]) -> None:
        super().__init__(f"{len(faults)} faults")
        self.faults = tuple(faults)


def predict_dataset(attempt: JobAttempt, job: Job, *, by: str) -> BatchPredicted | JobFailure:
    """Return what a batch prediction made, or why not; `by` is the program. Raises Superseded, Interrupted."""
    request, plan = PREDICTION.read(job)
    served = version_at_hand(attempt, job, plan.version)
    dataset = attempt.records.retry(lambda tx: DatasetRepository(tx).get(job.owner, request.dataset_id))
    return BatchPredictionRun(attempt, by, request, plan, dataset, served, Pace(PROGRESS_SECONDS)).run()


@dataclass(frozen=True)
class BatchPredictionRun:
    """One start of a batch prediction; `by` is the program that computes it, and goes on with none of another."""

    attempt: JobAttempt
    by: str
    request: BatchPredictionIn
    plan: PredictionPlan
    dataset: Dataset
    served: ServedVersion
    pace: Pace

    def run(self) -> BatchPredicted | JobFailure:
        """Return what was made, or why not; raises Superseded, Interrupted."""
        reached = self._ours(self._begin())
        if not reached.whole:
            try:
                reached = self._predict(reached)
            except RefusedRows as refusal:
                return _unanswerable(refusal.faults)
            if not reached.whole:
                reached = self._assemble(reached)
        self._trim("rows", 0)
        return BatchPredicted(reached.rows, reached.faulty, reached.size, reached.averaged)

    @property
    def _parts(self) -> tuple[Layer, PartsFormat]:
        """Where the parts go, and in which format; those of a file that is assembled are an Arrow stream before."""
        written = named(BATCH_FORMATS, self.request.format)
        return ("file", written) if isinstance(written, PartsFormat) else ("rows", ASSEMBLED_FROM)

    def _begin(self) -> ResultProgress | None:
        job_id, number = self.attempt.job_id, self.attempt.number
        return self.attempt.records.retry(lambda tx: ResultRepository(tx).begin(job_id, number, by=self.by))

    def _predict(self, reached: ResultProgress) -> ResultProgress:
        """The parts of all rows that are not there yet."""
        layer, coded = self._parts
        self._trim(layer, reached.size)
        self._report("predict", reached.rows)
        for first_row, block in self._blocks(reached):
            content, faulty, averaged = self._part(block, first_row, coded)
            rows = first_row + block_rows(block)
            is_last = rows == self.dataset.rows
            content += coded.end() if is_last else b""
            further = ResultProgress(
                rows,
                reached.faulty + faulty,
                reached.size + len(content),
                is_last and layer == "file",
                reached.averaged + averaged,
            )
            self._put(layer, reached.size, content, further)
            reached = further
            if is_last or self.pace.is_due():
                self._report("predict", rows)
        return reached

    def _blocks(self, reached: ResultProgress) -> Iterator[tuple[int, Block]]:
        """Yield the rows that are not written yet, in the same parts for every attempt."""
        if reached.rows == self.dataset.rows:
            return
        dataset_id, columns = self.dataset.id, self._columns
        step = max(1, MAX_CELLS_AT_ONCE // max(len(self.plan.columns), len(columns)))
        holding = self.attempt.records.retry(lambda tx: DatasetRepository(tx).block_holding(dataset_id, reached.rows))
        for first_row, block in self.attempt.blocks(dataset_id, first=holding):
            for start in range(0, block_rows(block), step):
                if first_row + start >= reached.rows:
                    self.attempt.look()
                    some = slice(start, start + step)
                    yield first_row + start, {name: taken(block[name], some) for name in columns}

    @property
    def _columns(self) -> tuple[str, ...]:
        """Those of the dataset that the version reads, and those that are kept."""
        noise = self.served.model.noise_column
        names = [name for name, _ in self.served.columns]
        if noise is not None and self.dataset.column(noise) is not None:
            names.append(noise)
        return tuple(dict.fromkeys([*names, *self.request.keep]))

    def _part(self, block: Block, first_row: int, coded: PartsFormat) -> tuple[bytes, int, int]:
        """Its bytes, and how many of its rows can't be predicted for, and are averages; raises Refused."""
        request = self.request
        found = predict(self.served, PredictRequest(block, options_by(request)))
        tells_errors = request.on_error == "per_row"
        if found.faults and not tells_errors:
            raise RefusedRows([_placed(fault, first_row) for fault in found.faults[:MAX_FAULTS_REPORTED]])
        faulty = faulty_rows(block_rows(block), found.faults)
        table = FlatTable(
            found.columns(self.plan.outputs),
            faulty,
            errors_by_row(found.faults) if tells_errors else None,
            version_metadata(self.served.version),
            {name: KeptColumn(block[name], self._is_integral(name)) for name in request.keep},
            request.csv_escape_formulas,
        )
        n_faulty = 0 if faulty is None else int(faulty.sum())
        return coded.part(table, is_first=first_row == 0), n_faulty, found.rows_averaged

    def _is_integral(self, name: str) -> bool:
        column = self.dataset.column(name)
        return column is not None and column.integral

    def _assemble(self, reached: ResultProgress) -> ResultProgress:
        """The file of all rows, which begins anew where a start before it had not ended it."""
        self._trim("file", 0)
        size, written = 0, named(BATCH_FORMATS, self.request.format)
        assert isinstance(written, AssembledFormat)
        for content in written.assemble(self._kept(reached.size)):
            self.attempt.look()
            if self.pace.is_due():
                self._report("write", reached.rows)
            self._put("file", size, content)
            size += len(content)
        whole = replace(reached, size=size, whole=True)
        self._put("file", size, b"", whole)
        return whole

    def _kept(self, size: int) -> Iterator[bytes]:
        job_id, at = self.attempt.job_id, 0
        while at < size:
            piece = self._ours(self.attempt.records.retry(partial(_piece, job_id, at)))
            yield piece.content
            at += len(piece.content)

    def _put(self, layer: Layer, first: int, content: bytes, reached: ResultProgress | None = None) -> None:
        """Keep a part, and how far it is with the last of its pieces; raises Superseded, Interrupted."""
        job_id, number = self.attempt.job_id, self.attempt.number
        starts = range(0, max(len(content), 1), MAX_BYTES_OF_A_PIECE)
        for start in starts:
            piece = Piece(first + start, content[start : start + MAX_BYTES_OF_A_PIECE])
            then = reached if start == starts[-1] else None
            write = partial(_put, job_id=job_id, attempt=number, layer=layer, piece=piece, reached=then)
            if not self.attempt.records.retry(write):
                raise Superseded

    def _trim(self, layer: Layer, size: int) -> None:
        job_id, number = self.attempt.job_id, self.attempt.number
        while self.attempt.records.retry(lambda tx: ResultRepository(tx).trim(job_id, number, layer, size=size)):
            pass

    def _report(self, phase: str, rows: int) -> None:
        self.attempt.report(Progress(phase=phase, completed=rows, total=self.dataset.rows, unit="rows"))

    def _ours(self, found: T | None) -> T:
        if found is None:
            raise Superseded
        return found


def _put(
    tx: Transaction, *, job_id: UUID, attempt: int, layer: Layer, piece: Piece, reached: ResultProgress | None
) -> bool:
    return ResultRepository(tx).put(job_id, attempt, layer, piece, reached=reached)


def _piece(job_id: UUID, at: int, tx: Transaction) -> Piece | None:
    return ResultRepository(tx).piece(job_id, "rows", at)


def _placed(fault: Fault, first_row: int) -> Fault:
    return fault if fault.row is None else replace(fault, row=first_row + fault.row)


def _unanswerable(faults: Sequence[Fault]) -> JobFailure:
    return JobFailure(
        "unanswerable-rows",
        "Some rows can't be predicted for",
        f'{faults[0].detail} Correct these rows, or send "on_error": "per_row".',
        tuple(faults),
    )
