"""The recorder of predictions: it keeps rows behind the response, and stores them in batches."""

import logging
import time
import zlib
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import accumulate, islice
from threading import Event, Lock, Thread
from uuid import UUID

import numpy as np

from app.database.transaction import OpenTransaction
from app.errors import ConflictError, UnavailableError
from app.metrics import Numbers, counter
from app.outcomes.records import RecordedRow
from app.outcomes.repository import RecordedPredictionRepository
from app.outcomes.scoring import rows_of
from app.prediction import PredictRequest, ServedVersion
from app.prediction.predict import RowIds
from app.registry.version_repository import VersionRepository
from relevance_bayes.core.types import Indices
from relevance_bayes.records.errors import InvalidDataError
from relevance_bayes.tables.columns import Block, CategoryArray, taken
from relevance_bayes.tasks.prediction import RowPredictions

FLUSH_SECONDS = 0.5
"""The time for which rows are collected before they are stored."""

RETRY_SECONDS = 1.0
"""The time between two attempts while the database is unavailable."""

CLOSE_SECONDS = 3.0
"""The time that the rest of the rows has at shutdown."""

MAX_CELLS = 4_000_000
"""The most values of rows, with their ids, that wait to be stored: about 32 MB of numbers."""

MANY_ROWS = 1_000
"""The rows of a request above which the rows that the share leaves out are not kept; it runs in a thread."""

ROWS_AT_ONCE = 1_000
"""The rows that one transaction stores."""

MAX_SHARES = 10_000
"""The versions whose share is remembered, to leave out rows before they wait, ..."""

SHARE_SECONDS = 5.0
"""... and for how long: the model may record another share by then."""

RECORDED = counter(
    "relevance_recorded_predictions_total",
    "Rows with ids that were `recorded`, `not_sampled` by the share of their model, or `dropped`, since the buffer "
    "was full or the database refused them.",
    "outcome",
)

_ONLY = np.zeros(1, np.intp)
"""The places of a request of one row."""

logger = logging.getLogger(__name__)


@dataclass(frozen=True, eq=False)
class _Kept:
    """Predicted rows of one request: those at `places` are to be recorded; `cells` is about their memory."""

    served: ServedVersion
    block: Block
    row_ids: RowIds
    places: Indices
    at: float
    cells: int


class Recorder:
    """Keeps predicted rows that have ids, and stores the share of them that their model records.

    A row is in the share by its id alone, so every version records the same rows. A thread, started by the first row,
    stores what has come each FLUSH_SECONDS. While the database is unavailable rows wait; where they exceed MAX_CELLS,
    further ones are dropped and counted.
    """

    def __init__(
        self, transaction: OpenTransaction, *, numbers: Numbers | None = None, now: Callable[[], float] = time.time
    ) -> None:
        self._transaction = transaction
        self._now = now
        self._numbers = Numbers() if numbers is None else numbers
        self._places = {name: self._numbers.place(RECORDED, name) for name in ("recorded", "not_sampled", "dropped")}
        self._kept: deque[_Kept] = deque()
        self._cells = 0
        self._shares: dict[UUID, tuple[float, float]] = {}
        self._lock, self._storing = Lock(), Lock()
        self._used, self._closing = Event(), Event()
        self._thread: Thread | None = None

    def note(self, served: ServedVersion, request: PredictRequest, prediction: RowPredictions) -> None:
        """Keep the rows of a request that have ids and no fault; of a long one only those in the share."""
        row_ids, block = request.row_ids, request.block
        places = _ONLY if len(row_ids) == 1 else np.arange(len(row_ids))
        if prediction.faults or None in row_ids:
            faulty = {fault.row for fault in prediction.faults}
            has_id = [place not in faulty and one is not None for place, one in enumerate(row_ids)]
            places = places[np.array(has_id, np.bool_)]
        if len(row_ids) > MANY_ROWS:
            chosen = self._sampled(served.version.id, row_ids, places)
            self._numbers.add(self._places["not_sampled"], len(places) - len(chosen))
            row_ids = [row_ids[place] for place in chosen.tolist()]
            block, places = {name: taken(column, chosen) for name, column in block.items()}, np.arange(len(chosen))
        if not len(places):
            return
        cells = _cells(block, row_ids)
        with self._lock:
            if self._cells + cells > MAX_CELLS or self._closing.is_set():
                self._numbers.add(self._places["dropped"], len(places))
                return
            self._kept.append(_Kept(served, block, row_ids, places, self._now(), cells))
            self._cells += cells
            if self._thread is None or not self._thread.is_alive():
                self._thread = Thread(target=self._run, name="recorder", daemon=True)
                self._thread.start()
        if not self._used.is_set():
            self._used.set()

    def flush(self) -> None:
        """Store the rows that were kept so far; raises UnavailableError, and then keeps those that were not stored."""
        with self._storing:
            while batch := self._batch():
                try:
                    self._store(batch)
                except (ConflictError, InvalidDataError) as error:
                    self._numbers.add(self._places["dropped"], sum(len(one.places) for one in batch))
                    logger.warning("predictions were not recorded", extra={"reason": error.detail})
                with self._lock:
                    for one in batch:
                        self._kept.popleft()
                        self._cells -= one.cells

    def close(self) -> None:
        """Store the rest, for CLOSE_SECONDS at most, and end the thread."""
        with self._lock:
            self._closing.set()
        self._used.set()
        if self._thread is not None:
            self._thread.join(CLOSE_SECONDS)

    def _batch(self) -> list[_Kept]:
        """Return the oldest requests with at most ROWS_AT_ONCE rows, at least one where there is one."""
        with self._lock:
            oldest = [*islice(self._kept, ROWS_AT_ONCE)]
        rows = accumulate(len(one.places) for one in oldest)
        n_requests = sum(1 for total in rows if total <= ROWS_AT_ONCE)
        return oldest[: max(n_requests, 1)]

    def _store(self, batch: list[_Kept]) -> None:
        with self._transaction() as tx:
            found = VersionRepository(tx).record_shares({one.served.version.id for one in batch})
            self._remember(found)
            rows = [row for one in batch if one.served.version.id in found for row in self._rows(one)]
            n_stored = RecordedPredictionRepository(tx).add(rows)
        self._numbers.add(self._places["recorded"], n_stored)
        self._numbers.add(self._places["not_sampled"], sum(len(one.places) for one in batch) - len(rows))

    def _remember(self, found: dict[UUID, float]) -> None:
        self._shares |= {version_id: (share, self._now()) for version_id, share in found.items()}
        while len(self._shares) > MAX_SHARES:
            del self._shares[next(iter(self._shares))]

    def _rows(self, kept: _Kept) -> Iterator[RecordedRow]:
        served, at = kept.served, datetime.fromtimestamp(kept.at, UTC)
        places = self._sampled(served.version.id, kept.row_ids, kept.places)
        if not len(places):
            return
        noise = served.model.noise_column
        names = [name for name, _ in served.columns] + ([] if noise is None else [noise])
        for place, inputs in zip(places.tolist(), rows_of(kept.block, names, places), strict=True):
            row_id = kept.row_ids[place]
            assert row_id is not None
            yield RecordedRow(served.version.id, row_id, at, inputs)

    def _sampled(self, version_id: UUID, row_ids: RowIds, places: Indices) -> Indices:
        """Return those of the places whose row ids are in the share of a version, as last known."""
        share, known_at = self._shares.get(version_id, (1.0, 0.0))
        if share >= 1.0 or self._now() - known_at > SHARE_SECONDS:
            return places
        return places[np.array([is_sampled(row_ids[place], share) for place in places.tolist()], np.bool_)]

    def _run(self) -> None:
        while not self._closing.is_set():
            self._used.wait()
            self._used.clear()
            self._closing.wait(FLUSH_SECONDS)
            try:
                self.flush()
            except UnavailableError as error:
                logger.debug("predictions were not recorded yet", extra={"reason": error.detail})
                self._used.set()
                self._closing.wait(RETRY_SECONDS)
        self._end()

    def _end(self) -> None:
        try:
            self.flush()
        except UnavailableError:
            self._numbers.add(self._places["dropped"], sum(len(one.places) for one in self._kept))


def is_sampled(row_id: str | None, share: float) -> bool:
    """Return whether a row is in a share of all rows: by its id alone, so in a larger share too."""
    return row_id is not None and zlib.crc32(row_id.encode()) < share * 2**32


def _cells(block: Block, row_ids: RowIds) -> int:
    """Return about the memory of rows, in units of 8 bytes."""
    texts = sum(len(row_id) for row_id in row_ids if row_id is not None)
    texts += sum(len(label) for one in block.values() if isinstance(one, CategoryArray) for label in one.labels)
    return len(row_ids) * (1 + len(block)) + texts // 8
