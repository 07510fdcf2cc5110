"""From the body of a predict call to the bytes of its answer."""

import time
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from itertools import islice
from typing import TypeAlias, TypeVar, TypeVarTuple, Unpack

from anyio import CapacityLimiter, to_thread
from pydantic import TypeAdapter
from starlette.types import Receive

from app.api.answers import predictions_json
from app.api.bodies import MAX_MEMBERS, checked
from app.api.disconnection import run_for_client
from app.api.schemas.requests import PredictOptions
from app.domain.cancellation import check_cancelled
from app.domain.errors import TooLargeError
from app.formats.json_scan import check_containers
from app.formats.json_table import count_rows, has_column, read_json, typed_block
from app.formats.misfits import refuse
from app.formats.number_rows import read_number_rows
from app.services.answering import Answer, ServedVersion, Wanted, answer, outputs_asked, outputs_of, support_of
from app.services.counting import CountedRequest, Rows
from app.services.prediction import Prediction
from relevance_bayes.tables.columns import Block, block_rows
from relevance_bayes.types.errors import Fault
from relevance_bayes.types.references import Reference

Content: TypeAlias = bytes | AsyncIterator[bytes]
"""An answer, a long one piece by piece."""

Breathe: TypeAlias = Callable[[], None]
"""What a long call calls now and then, so that others run."""

T = TypeVar("T")
Arguments = TypeVarTuple("Arguments")

MOST_BYTES_INLINE = 16_384
"""Bodies up to this size cost less to answer at once than to hand to a thread, but for squares of numbers."""

MOST_FUNCTIONS_INLINE = 1_000
"""Codes of images and long sums have thousands: a few hundred rows of these would keep all others waiting."""

MOST_BYTES_READ_INLINE = 131_072
"""The same of bodies that are read in no time: tensors, and rows of nothing but numbers."""

MOST_ROWS_INLINE = 1_000
"""Of such a body of rows: one piece of an answer."""

MOST_WORK_INLINE = MOST_BYTES_READ_INLINE * 64
"""Of the bytes of such bodies times the model's functions: some milliseconds, for which all others wait."""

LARGE_AT_ONCE = 2
"""Large bodies wait for each other, so that their numbers take a bounded share of memory and of the interpreter."""

MAX_NAMES_AT_ONCE = 16
"""Names that requests have confirmed by the database at a time. These requests, and those for short tables, have
threads of their own: all others may be taken by requests that wait for a database that does not answer."""

SMALL_AT_ONCE = 16

PIECES_AT_ONCE = 4
"""Of a long answer, in one turn in a thread: on a busy process each turn has to wait for those of all others."""

BREATH_SECONDS = 1e-4
"""What others wait for is not a turn to ask for the interpreter, but that nobody holds it: long enough to take it."""

_OPTIONS: TypeAdapter[PredictOptions] = TypeAdapter(PredictOptions)
_OPTION_NAMES = frozenset(PredictOptions.model_fields)
_DEFAULTS = PredictOptions()
_USUAL = Wanted()


class Predicting:
    """Answers predict calls of up to `most_rows` and `most_bytes`: small ones on the event loop, large ones in a thread
    and in pieces."""

    def __init__(self, prediction: Prediction, most_rows: int, most_bytes: int) -> None:
        self._prediction = prediction
        self.most_rows = most_rows
        self.most_bytes = most_bytes
        self._large = CapacityLimiter(LARGE_AT_ONCE)
        self._small = CapacityLimiter(SMALL_AT_ONCE)
        self._names = CapacityLimiter(MAX_NAMES_AT_ONCE)

    async def answered(self, owner: str, reference: Reference, body: bytes, receive: Receive) -> Content:
        """The answer to a JSON body; raises as `Prediction.version` does, and for a body that is refused.

        `receive`, after the body, is where a long answer's client is seen to leave: then ClientLeftError.
        """
        served = await self.served(owner, reference)
        began = time.perf_counter_ns()
        try:
            asked = _asked_at_once(served, body, self.most_rows)
            content = None if asked is None else b"".join(_told(served, asked, self.most_rows, served.counts.rows))
        except BaseException:
            served.counts.end(began, failed=True)
            raise
        if content is not None:
            served.counts.end(began, failed=False)
            return content
        with CountedRequest(served.counts) as counted:
            call = partial(predicted, served, body, self.most_rows, counted)
            return await self.told(served, body, call, receive, inline=False)

    async def served(self, owner: str, reference: Reference) -> ServedVersion:
        """The version to predict with; raises what `Prediction.version` does."""
        served = self._prediction.at_hand(owner, *reference)
        return await self._found(owner, reference) if served is None else served

    async def _found(self, owner: str, reference: Reference) -> ServedVersion:
        limiter = self._names if self._prediction.is_known(owner, *reference) else None
        return await to_thread.run_sync(self._prediction.version, owner, *reference, limiter=limiter)

    async def told(
        self,
        served: ServedVersion,
        body: bytes,
        call: Callable[[Breathe], Iterator[bytes]],
        receive: Receive,
        *,
        inline: bool,
    ) -> Content:
        """What `call` tells in pieces, run as by `run`: whole where it is short, else with the rest to come."""
        begun, rest = await self.run(served, body, lambda breathe: _begun(call(breathe)), receive, inline=inline)
        return b"".join(begun) if rest is None else self._streamed(begun, rest)

    async def _streamed(self, begun: Sequence[bytes], rest: Iterator[bytes]) -> AsyncIterator[bytes]:
        """Each few pieces are made in a turn of their own, and once the client has taken those before."""
        for piece in begun:
            yield piece
        while some := await self.run_large(_some, rest):
            yield some

    async def run(
        self,
        served: ServedVersion,
        body: bytes,
        call: Callable[[Breathe], T],
        receive: Receive | None = None,
        *,
        inline: bool,
    ) -> T:
        """`call`, which is given how to breathe, at once where the body is small and it may be run `inline`.

        With `receive`, by which the rest of the body does not come, a large call ends when the client leaves.
        """
        if is_quick(served, body):
            return call(no_breath) if inline else await to_thread.run_sync(call, breathe, limiter=self._small)
        if receive is None:
            return await self.run_large(call, breathe)
        return await self.run_for_client(receive, call, breathe)

    async def run_for_client(
        self, receive: Receive | None, call: Callable[[Unpack[Arguments]], T], *arguments: *Arguments
    ) -> T:
        """The same as `run_large`, ended when the client leaves."""
        return await run_for_client(receive, call, *arguments, limiter=self._large)

    async def run_large(self, call: Callable[[Unpack[Arguments]], T], *arguments: *Arguments) -> T:
        """A call in a thread, once few enough others are."""
        return await to_thread.run_sync(call, *arguments, limiter=self._large)


def is_quick(served: ServedVersion, body: bytes) -> bool:
    """Whether to answer at once, on the event loop, rather than in a thread."""
    small = len(body) <= MOST_BYTES_INLINE and served.version.report.functions <= MOST_FUNCTIONS_INLINE
    return small and b'"covariance"' not in body


def is_read_quickly(served: ServedVersion, size: int) -> bool:
    """Whether a body of so many bytes, if it is read in no time, is quickly answered."""
    return size <= MOST_BYTES_READ_INLINE and size * served.version.report.functions <= MOST_WORK_INLINE


def _begun(pieces: Iterator[bytes]) -> tuple[Sequence[bytes], Iterator[bytes] | None]:
    """The first pieces, by which it is known whether there is a rest."""
    begun = [*islice(pieces, 2)]
    return begun, None if len(begun) < 2 else pieces


def _some(pieces: Iterator[bytes]) -> bytes:
    """A few more; nothing where there are none."""
    made: list[bytes] = []
    for piece in islice(pieces, PIECES_AT_ONCE):
        made.append(piece)
        breathe()
    return b"".join(made)


def breathe() -> None:
    """Let the event loop run; raise WorkCancelledError where the work is for a client that left."""
    check_cancelled()
    time.sleep(BREATH_SECONDS)


def no_breath() -> None:
    """On the event loop itself there is nobody to wait for."""


def predicted(
    served: ServedVersion,
    body: bytes,
    most_rows: int,
    counted: Rows,
    breathe: Breathe,
) -> Iterator[bytes]:
    """Predictions for the table in a body, made at once and told as JSON in pieces.

    `breathe` is called after each piece of a long body.
    """
    return _told(served, asked_in_json(served, body, breathe, most_rows), most_rows, counted)


def _told(served: ServedVersion, asked: "Asked", most_rows: int, counted: Rows) -> Iterator[bytes]:
    found, faults = answered(served, asked, most_rows, counted)
    return predictions_json(served, found, outputs=asked.outputs, faults=faults)


def answered(served: ServedVersion, asked: "Asked", most_rows: int, counted: Rows) -> tuple[Answer, list[Fault]]:
    """The answer, and what is wrong with its rows; raises InvalidDataError where that is refused, TooLargeError."""
    check_rows(rows := block_rows(asked.block), most_rows)
    if asked.refuses:
        refuse(asked.misfits)
    found = answer(served, asked.block, asked.wanted)
    faults = asked.placed(found.faults) if asked.lines else found.faults
    if asked.refuses:
        refuse(faults)
    counted.add(rows, support_of(found))
    if not (faults or asked.misfits):
        return found, []
    # A cell that did not fit is a gap in the block: what is said of the gap adds nothing.
    said = {fault.row for fault in asked.misfits}
    return found, [*asked.misfits, *(fault for fault in faults if fault.row not in said)]


def max_containers(most_rows: int) -> int:
    """The most objects and arrays of a JSON body with a table of so many rows, each of which may be one."""
    return 2 * most_rows + MAX_MEMBERS


def check_rows(rows: int, most_rows: int) -> None:
    """Raise TooLargeError for more rows than `most_rows`."""
    if rows > most_rows:
        raise TooLargeError(f"The table has {rows} rows, more than {most_rows}; send it in parts.")


@dataclass(frozen=True, eq=False)
class Asked:
    """A table to predict for, what does not fit in it, and how predictions are wanted.

    `lines`, one for each row, where each stands on a line of its own. `escapes_formulas` is of answers in CSV alone.
    """

    block: Block
    misfits: tuple[Fault, ...]
    outputs: tuple[str, ...]
    wanted: Wanted
    refuses: bool
    lines: tuple[int, ...] = ()
    escapes_formulas: bool = False

    def placed(self, faults: Sequence[Fault]) -> Sequence[Fault]:
        """The same faults with their lines."""
        return [fault if fault.row is None else replace(fault, line=self.lines[fault.row]) for fault in faults]


def _asked_at_once(served: ServedVersion, body: bytes, most_rows: int) -> Asked | None:
    """What a body asks for that costs less to answer on the event loop than to hand to a thread; None for any other."""
    if is_quick(served, body):
        return asked_in_json(served, body, no_breath, most_rows)
    few = is_read_quickly(served, len(body)) and body.count(b"{") <= 1 + MOST_ROWS_INLINE
    return _asked_shortly(served, body, no_breath) if few else None


def asked_in_json(served: ServedVersion, body: bytes, breathe: Breathe, most_rows: int) -> Asked:
    """What a JSON body asks for; raises TooLargeError for more than `most_rows`."""
    check_containers(body, max_containers(most_rows))
    return _asked_shortly(served, body, breathe) or _asked(served, body, most_rows)


def _asked_shortly(served: ServedVersion, body: bytes, breathe: Breathe) -> Asked | None:
    """Rows of numbers with the commonest options; None for all else, also where something is wrong with it."""
    found = read_number_rows(body, served.number_names, breathe=breathe)
    if found is None:
        return None
    options = _short_options(found.interval, found.outputs, outputs_of(served.version))
    return None if options is None else Asked(found.block, (), *options, refuses=True)


@lru_cache(maxsize=1_000)
def _short_options(
    interval: float | None, outputs: tuple[str, ...] | None, possible: tuple[str, ...]
) -> tuple[tuple[str, ...], Wanted] | None:
    """The outputs and how they are wanted; None where that makes no sense."""
    if interval is not None and not 0.0 < interval < 1.0:
        return None
    wanted = _USUAL if interval is None else Wanted(interval)
    if outputs is None:
        return possible, wanted
    return (tuple(dict.fromkeys(outputs)), wanted) if outputs and {*outputs} <= {*possible} else None


def _asked(served: ServedVersion, body: bytes, most_rows: int) -> Asked:
    raw = read_json(body, max_columns=max(MAX_MEMBERS, 2 * len(served.columns)), others=_OPTION_NAMES)
    check_rows(count_rows(raw), most_rows)  # before each of them may be found wrong
    options = checked(_OPTIONS, raw.others) if raw.others else _DEFAULTS
    outputs = outputs_asked(served.version, options.outputs)
    columns, noise = served.columns, served.answering.noise_column
    if noise is not None and has_column(raw, noise):
        columns = (*columns, (noise, "number"))
    block, misfits = typed_block(raw, columns, not_read=served.not_read)
    refuses, escapes = options.on_error == "fail", options.csv_escape_formulas
    return Asked(block, misfits, outputs, wanted_of(options), refuses, escapes_formulas=escapes)


def wanted_of(options: PredictOptions) -> Wanted:
    """How answers are wanted by these options."""
    return Wanted(options.interval, options.covariance, options.explain, options.deciding, options.components)
