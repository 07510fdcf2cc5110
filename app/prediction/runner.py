"""The runner of predictions over HTTP and gRPC, and slots that limit the number of large predictions in memory."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Generic, Protocol, TypeAlias, TypeVar, TypeVarTuple, Unpack

from anyio import CapacityLimiter, to_thread
from starlette.requests import Request
from starlette.types import Receive

from app.errors import TooLargeError
from app.http.bodies import LargeBodies, LargeBody
from app.http.dependencies import services_of
from app.http.disconnection import run_for_client
from app.http.rate_limits import CURRENT as RATES
from app.prediction import PredictRequest, ServedVersion, predict
from app.prediction.served_versions import ServedVersions
from app.prediction.usage_counts import AnsweredRows, CountedRequest
from relevance_bayes.records.models import Reference
from relevance_bayes.tables.columns import block_rows
from relevance_bayes.tasks.cancellation import check_cancelled
from relevance_bayes.tasks.prediction import ROWS_OF_AVERAGE, RowPredictions

MAX_SLOTS = 3
"""The number of slots: one more than the threads for large requests, so that these compute while a response is sent."""

SECONDS_FOR_CLIENT = 0.5
"""The total time that a response may wait for its client before its slot is released."""


class PredictionSlot:
    """One of the `slots` of a process, for a prediction from its reading to the end of its response.

    A slow client delays no others: the slot is released once the response has waited SECONDS_FOR_CLIENT for it, and the
    response continues without. The slot of a response that is never sent is released likewise.
    """

    def __init__(self, slots: asyncio.Semaphore) -> None:
        self._slots = slots
        self._is_taken = False
        self._seconds = SECONDS_FOR_CLIENT
        self._waits_since = 0.0
        self._timer: asyncio.TimerHandle | None = None

    async def take(self) -> None:
        """Wait for a slot, first come, first served."""
        await self._slots.acquire()
        self._is_taken = True

    def release(self) -> None:
        """Release the slot. Idempotent."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._is_taken:
            self._is_taken = False
            self._slots.release()

    def wait_for_client(self) -> None:
        """Start the timer: the response waits for its client."""
        if self._is_taken:
            loop = asyncio.get_running_loop()
            self._waits_since = loop.time()
            self._timer = loop.call_later(self._seconds, self.release)

    def go_on(self) -> None:
        """Stop the timer: the client has received the response so far."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
            self._seconds -= asyncio.get_running_loop().time() - self._waits_since


Content: TypeAlias = bytes | AsyncIterator[bytes]
"""The body of a response, a long one in chunks."""

YieldGil: TypeAlias = Callable[[], None]
"""Called repeatedly by work in a thread, so that the event loop runs."""

RecordRows: TypeAlias = Callable[[ServedVersion, PredictRequest, RowPredictions], None]
"""Takes predicted rows that have ids, to be recorded later; never raises and never waits for the database."""

T = TypeVar("T")
Piece = TypeVar("Piece")
Rendered = TypeVar("Rendered", covariant=True)
Arguments = TypeVarTuple("Arguments")

MAX_INLINE_BYTES = 16_384
"""The maximum size of bodies that are predicted on the event loop, where they cost less than in a thread."""

MAX_INLINE_FUNCTIONS = 1_000
"""The maximum number of functions of models that predict on the event loop: codes of images and long sums have
thousands, for which a few hundred rows would block it."""

MAX_INLINE_AVERAGED = 16
"""The maximum number of rows with missing values or unknown categories that are predicted on the event loop: each costs
some 0.2 ms, a hundred times as much as another."""

MAX_QUICK_BYTES = 131_072
"""The same maximum for bodies that are decoded quickly: tensors, and rows of numbers only."""

MAX_QUICK_WORK = MAX_QUICK_BYTES * 64
"""The maximum of the size of such bodies times the model's functions: some milliseconds of the event loop."""

MAX_LARGE_THREADS = 2
"""The number of threads for large bodies, which bounds their share of memory and of the GIL."""

MAX_LOOKUP_THREADS = 16
"""The number of threads that look up names in the database. These requests, and those for short tables, have threads of
their own, since requests that wait for the database may occupy all others."""

MAX_SMALL_THREADS = 16

PIECES_AT_ONCE = 4
"""The number of chunks of a long response rendered in one turn: on a busy process, each turn waits for a thread."""

GIL_PAUSE_SECONDS = 1e-4
"""The pause in which other threads take the GIL: long enough for them to wake."""


MIN_MAX_AVERAGED = 1_000
"""The minimum of `max_averaged`."""


def max_averaged(max_rows: int) -> int:
    """Return the maximum number of rows with missing values or unknown categories of a request of at most `max_rows`.

    Together they cost as many rows as ten such requests; files of 1,000 rows with gaps are predicted in any case.
    """
    return max(MIN_MAX_AVERAGED, 10 * max_rows // ROWS_OF_AVERAGE)


class Codec(Protocol[Rendered]):
    """The codec of one request: it reads the body, and renders the response in chunks."""

    def read_inline(self, served: ServedVersion) -> PredictRequest | None:
        """Read the request if it is to be predicted on the event loop; return None if in a thread."""

    def read(self, served: ServedVersion, yield_gil: YieldGil) -> PredictRequest:
        """Read the request in a thread."""

    def is_small(self, served: ServedVersion) -> bool:
        """Return whether the request may run in the threads for small ones."""

    def render(self, served: ServedVersion, request: PredictRequest, prediction: RowPredictions) -> Iterator[Rendered]:
        """Yield the response in chunks, at least one."""


@dataclass(frozen=True, eq=False)
class Rest(Generic[Piece]):
    """The remaining chunks of a long response, and its slot among the large predictions."""

    pieces: Iterator[Piece]
    slot: PredictionSlot


class DeferredCodec(Generic[Piece]):
    """The codec of a body that is read from disk, or decompressed, only once its thread runs."""

    def __init__(self, body: bytes | LargeBody, codec_of: Callable[[bytes], Codec[Piece]]) -> None:
        self._body: bytes | LargeBody = body
        self._codec_of = codec_of
        self._codec: Codec[Piece] | None = None

    def read_inline(self, served: ServedVersion) -> None:
        """Return None: the body is read in a thread."""
        return

    def is_small(self, served: ServedVersion) -> bool:
        """Return False: the body is large."""
        return False

    def read(self, served: ServedVersion, yield_gil: YieldGil) -> PredictRequest:
        """Return the request that the codec of the body reads."""
        body, self._body = self._body, b""
        self._codec = self._codec_of(body if isinstance(body, bytes) else body.read())
        return self._codec.read(served, yield_gil)

    def render(self, served: ServedVersion, request: PredictRequest, prediction: RowPredictions) -> Iterator[Piece]:
        """Render with the codec of the body."""
        assert self._codec is not None
        return self._codec.render(served, request, prediction)


class PredictionRunner:
    """Predicts for up to `max_rows` and `max_bytes` a request: small ones on the event loop, large ones in threads."""

    def __init__(
        self,
        versions: ServedVersions,
        max_rows: int,
        max_bytes: int,
        spool_directory: Path | None = None,
        *,
        record: RecordRows = lambda *_: None,
    ) -> None:
        self._versions = versions
        self._record = record
        self.bodies = LargeBodies(spool_directory)
        self.max_rows = max_rows
        self.max_bytes = max_bytes
        self.max_averaged = max_averaged(max_rows)
        self._large = CapacityLimiter(MAX_LARGE_THREADS)
        self._slots = asyncio.Semaphore(MAX_SLOTS)
        self._small = CapacityLimiter(MAX_SMALL_THREADS)
        self._lookups = CapacityLimiter(MAX_LOOKUP_THREADS)

    async def served(self, owner: str, reference: Reference) -> ServedVersion:
        """Return the version to predict with; raises RateLimitError, and what `ServedVersions.version` does."""
        if (rates := RATES.get()) is not None:
            rates.check_rows()
        return self._versions.at_hand(owner, *reference) or await self._looked_up(owner, reference)

    async def predict(
        self, served: ServedVersion, codec: Codec[Piece], receive: Receive | None = None
    ) -> "tuple[Sequence[Piece], Rest[Piece] | None]":
        """Return the first chunks of a response, and the rest of a long one; raises what the codec and `predict` do.

        While a large request runs, `receive` reports that its client disconnects; the result is then ClientLeftError.
        """
        with CountedRequest(served.counts) as counted:
            return await self.run(served, codec, counted, receive)

    async def run(
        self, served: ServedVersion, codec: Codec[Piece], counted: AnsweredRows, receive: Receive | None = None
    ) -> "tuple[Sequence[Piece], Rest[Piece] | None]":
        """Return the same for a part of a request, whose rows are `counted`."""
        request = codec.read_inline(served)
        if request is not None:
            with suppress(TooLargeError):  # predicted in a thread, if at all
                return [*self._rendered(served, codec, request, counted, MAX_INLINE_AVERAGED)], None
        if codec.is_small(served):
            begun, rest = await to_thread.run_sync(self._begun, served, codec, counted, limiter=self._small)
            return begun, None if rest is None else Rest(rest, PredictionSlot(self._slots))
        return await self.run_for_client(receive, served, codec, counted)

    async def run_for_client(
        self, receive: Receive | None, served: ServedVersion, codec: Codec[Piece], counted: AnsweredRows
    ) -> "tuple[Sequence[Piece], Rest[Piece] | None]":
        """Return the same from a thread, once one is free; cancelled when the client disconnects."""
        slot = PredictionSlot(self._slots)
        try:
            begun, rest = await run_for_client(
                receive, self._begun, served, codec, counted, limiter=self._large, before=slot.take
            )
        except BaseException:
            slot.release()
            raise
        if rest is None:
            slot.release()
            return begun, None
        slot.wait_for_client()
        return begun, Rest(rest, slot)

    def _rendered(
        self,
        served: ServedVersion,
        codec: Codec[Piece],
        request: PredictRequest,
        counted: AnsweredRows,
        max_averaged: int,
    ) -> Iterator[Piece]:
        """Predict and render; raises TooLargeError for more than `max_averaged` rows that are averages, in all parts of
        a request for more than the runner's."""
        rows = block_rows(request.block)
        max_averaged = min(max_averaged, self.max_averaged - counted.averaged)
        if rows > max_averaged:
            request = replace(request, options=replace(request.options, max_averaged=max_averaged))
        prediction = predict(served, request)
        counted.add(rows, prediction.support, prediction.rows_averaged)
        if served.monitor is not None:
            served.monitor.add(request.block, prediction, rows)
        if request.row_ids:
            self._record(served, request, prediction)
        return codec.render(served, request, prediction)

    def _begun(
        self, served: ServedVersion, codec: Codec[Piece], counted: AnsweredRows
    ) -> "tuple[Sequence[Piece], Iterator[Piece] | None]":
        """Return the first chunks, and the rest if there is one."""
        pieces = self._rendered(served, codec, codec.read(served, yield_gil), counted, self.max_averaged)
        begun = [*islice(pieces, 2)]
        return begun, None if len(begun) < 2 else pieces

    async def _looked_up(self, owner: str, reference: Reference) -> ServedVersion:
        limiter = self._lookups if self._versions.is_known(owner, *reference) else None
        return await to_thread.run_sync(self._versions.version, owner, *reference, limiter=limiter)

    def content(self, begun: Sequence[bytes], rest: Rest[bytes] | None) -> Content:
        """Return the body from what `predict` returned: bytes where it is short."""
        return b"".join(begun) if rest is None else self._streamed(begun, rest)

    async def _streamed(self, begun: Sequence[bytes], rest: Rest[bytes]) -> AsyncIterator[bytes]:
        """Yield chunks; each few are rendered in a thread, once the client has received those before."""
        try:
            for piece in begun:
                yield piece
            rest.slot.go_on()
            while some := await self.run_large(_some, rest.pieces):
                rest.slot.wait_for_client()
                yield some
                rest.slot.go_on()
        finally:
            rest.slot.release()

    async def run_large(self, call: Callable[[Unpack[Arguments]], T], *arguments: *Arguments) -> T:
        """Run a call in a thread for large requests, once one is free."""
        return await to_thread.run_sync(call, *arguments, limiter=self._large)


def _some(pieces: Iterator[bytes]) -> bytes:
    """Return the next few chunks joined, empty at the end."""
    made: list[bytes] = []
    for piece in islice(pieces, PIECES_AT_ONCE):
        made.append(piece)
        yield_gil()
    return b"".join(made)


def is_quick(served: ServedVersion, body: bytes) -> bool:
    """Return whether a body of this size is predicted faster on the event loop than in a thread."""
    small = len(body) <= MAX_INLINE_BYTES and served.version.report.functions <= MAX_INLINE_FUNCTIONS
    return small and b'"covariance"' not in body


def is_read_quickly(served: ServedVersion, size: int) -> bool:
    """Return the same for a body that is decoded quickly."""
    return size <= MAX_QUICK_BYTES and size * served.version.report.functions <= MAX_QUICK_WORK


def yield_gil() -> None:
    """Let the event loop run; raise WorkCancelledError where the client has disconnected."""
    check_cancelled()
    time.sleep(GIL_PAUSE_SECONDS)


def no_yield() -> None:
    """Do nothing, on the event loop itself."""


def runner_of(request: Request) -> PredictionRunner:
    """Return the application's prediction runner."""
    return services_of(request)[PredictionRunner]
