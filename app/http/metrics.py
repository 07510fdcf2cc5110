"""The metrics of this process, of those that share its directory, and of the database; their route, for Prometheus."""

import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future
from platform import python_version
from threading import Lock, Thread
from typing import TypeAlias, TypeVar

from anyio import CapacityLimiter, to_thread
from fastapi import APIRouter, Request, Response

from app import __version__
from app.database.engine import Reachability
from app.database.transaction import OpenTransaction, Transaction
from app.errors import UnavailableError
from app.http.dependencies import Owner, ServicesDependency
from app.http.paths import METRICS
from app.identity import BUILT_IN_OWNER
from app.metrics import MetricSample, NumberSource, gauge

T = TypeVar("T")

MAX_RUNNING = 16
"""The maximum number of concurrent calls, including those that timed out and still run."""


class TimedCalls:
    """Runs calls in threads of their own, and stops waiting for them after a timeout.

    A database whose process is stopped, or whose network is cut, accepts a query and never responds; drivers cannot
    cancel such a wait. The call itself continues, so its result is kept when the database responds.
    """

    def __init__(self) -> None:
        self._running = 0
        self._lock = Lock()

    def call(self, function: Callable[[], T], *, seconds: float) -> T:
        """Return the result of `function` within `seconds`; else, or with too many running, raise UnavailableError."""
        with self._lock:
            if self._running >= MAX_RUNNING:
                raise UnavailableError("The database has not responded to earlier requests yet.")
            self._running += 1
        future: Future[T] = Future()
        try:
            Thread(target=self._run, args=(function, future), name="timed-call", daemon=True).start()
        except RuntimeError:
            self._end()
            raise UnavailableError("The process can't start more threads.") from None
        try:
            return future.result(seconds)
        except TimeoutError:
            raise UnavailableError(f"The database did not respond within {seconds:g} seconds.") from None

    def _run(self, function: Callable[[], T], future: "Future[T]") -> None:
        try:
            future.set_result(function())
        except BaseException as error:  # noqa: BLE001  # raised again for a caller that waits
            future.set_exception(error)
        finally:
            self._end()

    def _end(self) -> None:
        with self._lock:
            self._running -= 1


CACHE_SECONDS = 1.0
"""The seconds for which the samples of the database are used again."""

MAX_SCRAPES = 2
"""The number of concurrent scrapes. They have threads of their own, since requests that wait for the database may use
all others."""

QUERY_SECONDS = 2.0
"""The seconds that a request for metrics waits for the database."""

BUILD = gauge(
    "relevance_build_info", "The release of the service, and its version of Python; always 1.", "version", "python"
)
UP = gauge("relevance_database_up", "Whether the database answered, 1 or 0; without it, metrics from it are left out.")
PROCESSES = gauge("relevance_api_processes", "API processes whose numbers are in these metrics.")

QueryMetrics: TypeAlias = Callable[[Transaction], Iterable[MetricSample]]
"""Returns samples from the database, by queries whose time does not grow with what the database keeps."""

OwnerMetrics: TypeAlias = Callable[[str | None], Iterable[MetricSample]]
"""Returns the samples of an owner's models, or of those of all owners."""


class DatabaseMetrics:
    """Samples from the database, the same for every process; each transaction's are used for CACHE_SECONDS."""

    def __init__(
        self,
        transaction: OpenTransaction,
        queries: Sequence[QueryMetrics],
        *,
        reachability: Reachability | None = None,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._transaction = transaction
        self._queries = queries
        self._reachability = Reachability() if reachability is None else reachability
        self._now = now
        self._calls = TimedCalls()
        self._lock = Lock()
        self._read_at = float("-inf")
        self._samples: list[MetricSample] = []

    def samples(self) -> list[MetricSample]:
        """Return the samples; only that it is down while the database can't be reached."""
        with self._lock:
            if self._now() - self._read_at >= CACHE_SECONDS:
                self._samples = self._read()
                self._read_at = self._now()
            return self._samples

    def _read(self) -> list[MetricSample]:
        try:
            if self._reachability.is_away:
                return [MetricSample(UP, (), (0,))]
            return [MetricSample(UP, (), (1,)), *self._calls.call(self._query, seconds=QUERY_SECONDS)]
        except UnavailableError:
            return [MetricSample(UP, (), (0,))]

    def _query(self) -> list[MetricSample]:
        with self._transaction() as tx:
            return [sample for query in self._queries for sample in query(tx)]


class Metrics:
    """All metrics: the numbers of a source, to which the parts of this process add, and those of the database, which
    the owner `local` alone may read; and those of the owners' models, of which that owner may read all, and each other
    one its own."""

    def __init__(self, source: NumberSource, database: DatabaseMetrics, of_owner: OwnerMetrics | None = None) -> None:
        self._source = source
        self._database = database
        self._of_owner = of_owner
        self.numbers = source.numbers
        self.limiter = CapacityLimiter(MAX_SCRAPES)
        self.numbers.values[self.numbers.place(PROCESSES)] = 1
        self._build = MetricSample(BUILD, (__version__, python_version()), (1,))

    def exposition(self, owner: str, accept: str) -> tuple[bytes, str]:
        """Return the text for an owner in the format that an Accept header prefers, and its media type."""
        # Imported at the first request: it takes time at the start, and memory, that most processes do not need.
        from app.http.exposition import exposition

        counted, pids = self._source.read()
        is_operator = owner == BUILT_IN_OWNER
        owned = [] if self._of_owner is None else self._of_owner(None if is_operator else owner)
        of_all = [*self._database.samples(), *counted] if is_operator else []
        return exposition([self._build, *of_all, *owned], pids, accept)

    def close(self) -> None:
        """Close the source."""
        self._source.close()


router = APIRouter(include_in_schema=False)


@router.get(METRICS)
async def metrics(request: Request, owner: Owner, services: ServicesDependency) -> Response:
    """Return the metrics that an owner may read, in the text format of Prometheus or OpenMetrics."""
    reported, accept = services[Metrics], request.headers.get("accept", "")
    text, media_type = await to_thread.run_sync(reported.exposition, owner, accept, limiter=reported.limiter)
    return Response(text, headers={"Content-Type": media_type, "Cache-Control": "no-store"})
