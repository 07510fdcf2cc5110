"""Predictions line by line, sent while rows are received; reading waits until predictions are sent (backpressure)."""

from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import dataclass, replace

import msgspec
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from app.errors import MalformedBodyError
from app.formats.cells import Expected, need_rows
from app.formats.line_stream import Line, read_lines
from app.http.content_encodings import Decompressor
from app.http.problems import fault_members, kind_of
from app.prediction import PredictRequest, ServedVersion, requested_outputs
from app.prediction.json_codec import options_of, prediction_lines
from app.prediction.runner import PredictionRunner, YieldGil, is_quick, no_yield
from app.prediction.schemas import read_query
from app.prediction.table_codec import ContentNegotiation, check_writable, expected_of, request_of, version_link
from app.prediction.usage_counts import CountedRequest
from relevance_bayes.records.errors import Fault, InvalidDataError, RelevanceError, sentence
from relevance_bayes.records.predictions import PredictOptionsIn
from relevance_bayes.tasks.prediction import RowPredictions

ROWS_AT_ONCE = 8192


async def stream_lines(
    request: Request, runner: PredictionRunner, served: ServedVersion, negotiated: ContentNegotiation
) -> Response:
    """Return the response to rows in lines, as they are received.

    An error before the first prediction is raised, as everywhere; a later one is the last line or, with `on_error`
    "per_row", the line of its row.
    """
    lines = _predicted(request.receive, served, runner, negotiated)
    stream = _with_final_problem(await anext(lines), lines)
    return _KeptReceive(stream, media_type=negotiated.response.media_type, headers=version_link(served))


class _KeptReceive(StreamingResponse):
    """A streaming response that does not read from `receive`, since the streamed content does."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await self.stream_response(send)
        except (ClientDisconnect, OSError):
            return  # the client has disconnected


@dataclass(frozen=True, eq=False)
class _LineCodec:
    """The codec of consecutive lines, the first of which is row `first`; the longest may have begun before this
    `piece`."""

    lines: Sequence[Line]
    first: int
    piece: bytes
    options: PredictOptionsIn
    expected: Expected

    def read_inline(self, served: ServedVersion) -> PredictRequest | None:
        """Read a few short lines."""
        longest = max((line.text for line in self.lines), key=len)
        is_inline = is_quick(served, self.piece if len(self.piece) >= len(longest) else longest)
        return self.read(served, no_yield) if is_inline else None

    def is_small(self, served: ServedVersion) -> bool:
        """Return False: a few short lines need no thread."""
        return False

    def read(self, served: ServedVersion, yield_gil: YieldGil) -> PredictRequest:
        """Read the lines; raises what is wrong with them."""
        rows = read_lines(self.lines, self.expected, strict=self.options.on_error == "fail")
        yield_gil()
        return request_of(served, rows, self.options)

    def render(self, served: ServedVersion, request: PredictRequest, prediction: RowPredictions) -> Iterator[bytes]:
        """Yield predictions, one a line."""
        yield b"".join(prediction_lines(served, prediction, outputs=request.outputs, first_row=self.first))


class _Lines:
    """Splits chunks of any size into lines."""

    def __init__(self) -> None:
        self._rest = bytearray()
        self._number = 0

    def feed(self, piece: bytes) -> Iterator[Line]:
        """Yield the lines that end in this chunk, except blank ones."""
        *ended, rest = piece.split(b"\n")
        for end in ended:
            self._rest += end
            yield from self.finish()
        self._rest += rest

    def finish(self) -> Iterator[Line]:
        """Yield the last line if it has no newline."""
        text, self._rest = bytes(self._rest), bytearray()
        self._number += 1
        if self._number == 1:
            text = text.removeprefix(b"\xef\xbb\xbf")
        if text.strip():
            yield Line(self._number, text)


async def _predicted(
    receive: Receive, served: ServedVersion, runner: PredictionRunner, negotiated: ContentNegotiation
) -> AsyncIterator[bytes]:
    """Yield lines for rows as they are received, at least one; raises what is wrong with rows, and ClientDisconnect."""
    with CountedRequest(served.counts) as counted:
        options = read_query(negotiated.query, ()).options
        check_writable(negotiated.response, options_of(options), requested_outputs(served.version, options.outputs))
        expected = expected_of(served, runner.max_rows, runner.max_bytes, options)
        decompressor = Decompressor(negotiated.encoding, runner.max_bytes)
        lines, seen = _Lines(), 0
        async for piece, come in _pieces(receive, decompressor, lines):
            for place in range(0, len(come), ROWS_AT_ONCE):
                some = come[place : place + ROWS_AT_ONCE]
                expected.check_rows(seen + len(some))
                codec = _LineCodec(some, seen, piece, options, expected)
                try:
                    rendered, _ = await runner.run(served, codec, counted)
                except (InvalidDataError, MalformedBodyError) as error:
                    faults = [_moved(fault, seen) for fault in error.faults]
                    raise type(error)(error.detail, faults) from None
                yield b"".join(rendered)
                seen += len(some)
        need_rows(seen)


def _moved(fault: Fault, rows: int) -> Fault:
    """Return the fault with its row number increased."""
    return fault if fault.row is None else replace(fault, row=rows + fault.row)


async def _pieces(
    receive: Receive, decompressor: Decompressor, lines: _Lines
) -> AsyncIterator[tuple[bytes, Sequence[Line]]]:
    """Yield chunks of a body, decompressed, and the lines that each of them ends."""
    more = True
    while more:
        message = await receive()
        if message["type"] != "http.request":
            raise ClientDisconnect
        more = message.get("more_body", False)
        for piece in decompressor.feed(message.get("body", b"")):
            yield piece, [*lines.feed(piece)]
    decompressor.finish()
    yield b"", [*lines.finish()]


async def _with_final_problem(first: bytes, responses: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """Yield the responses and, after an error, its problem."""
    yield first
    try:
        async for some in responses:
            yield some
    except RelevanceError as error:
        yield _problem_line(error)


def _problem_line(error: RelevanceError) -> bytes:
    """Return an error as a line, with the members of a problem."""
    problem = kind_of(error).members(sentence(error.detail), [fault_members(fault) for fault in error.faults])
    return msgspec.json.encode({"error": problem}) + b"\n"
