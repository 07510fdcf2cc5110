"""Predictions line by line: they leave while rows still come; rows are read no faster than predictions are taken."""

from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import dataclass, replace

import msgspec
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from app.errors import MalformedBodyError
from app.formats.expected import Expected, need_rows
from app.formats.line_rows import Line, read_lines
from app.http.decompression import Decompressor
from app.http.problems import fault_members, kind_of
from app.prediction import PredictRequest, ServedVersion, requested_outputs
from app.prediction.format_checks import check_writable
from app.prediction.json_codec import options_of
from app.prediction.query import read_query
from app.prediction.render import prediction_lines
from app.prediction.runner import PredictionRunner, YieldGil, is_quick, no_yield
from app.prediction.schemas.predict import PredictOptionsIn
from app.prediction.table_codec import ContentNegotiation, expected_of, request_of, version_link
from app.prediction.usage_counts import CountedRequest
from app.tasks.prediction import Prediction
from relevance_bayes.types.errors import Fault, InvalidDataError, RelevanceError, sentence

ROWS_AT_ONCE = 8192


async def stream_lines(
    request: Request, runner: PredictionRunner, served: ServedVersion, negotiated: ContentNegotiation
) -> Response:
    """The response to rows on lines, as far as they have come.

    What is wrong before the first prediction leaves is raised, as everywhere; what is wrong later is the last line, or,
    where bad rows are not to refuse the others, the line in the row's place.
    """
    lines = _predicted(request.receive, served, runner, negotiated)
    stream = _with_final_problem(await anext(lines), lines)
    return _KeptReceive(stream, media_type=negotiated.response.media_type, headers=version_link(served))


class _KeptReceive(StreamingResponse):
    """Leaves `receive`, by which others learn that the client has gone, to what is streamed."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await self.stream_response(send)
        except (ClientDisconnect, OSError):
            return  # nobody is there to be told


@dataclass(frozen=True, eq=False)
class _LineCodec:
    """Consecutive lines, of which the first has row `first`; the longest line may have begun before this `piece`."""

    lines: Sequence[Line]
    first: int
    piece: bytes
    options: PredictOptionsIn
    expected: Expected

    def read_inline(self, served: ServedVersion) -> PredictRequest | None:
        """A few short lines."""
        longest = max((line.text for line in self.lines), key=len)
        is_inline = is_quick(served, self.piece if len(self.piece) >= len(longest) else longest)
        return self.read(served, no_yield) if is_inline else None

    def is_small(self, served: ServedVersion) -> bool:
        """Never: a few short lines need no thread."""
        return False

    def read(self, served: ServedVersion, yield_gil: YieldGil) -> PredictRequest:
        """Raises what is wrong with the lines."""
        rows = read_lines(self.lines, self.expected, strict=self.options.on_error == "fail")
        yield_gil()
        return request_of(served, rows, self.options)

    def render(self, served: ServedVersion, request: PredictRequest, prediction: Prediction) -> Iterator[bytes]:
        """A prediction on each line."""
        yield b"".join(prediction_lines(served, prediction, outputs=request.outputs, first_row=self.first))


class _Lines:
    """Takes lines out of pieces that end anywhere."""

    def __init__(self) -> None:
        self._rest = bytearray()
        self._number = 0

    def feed(self, piece: bytes) -> Iterator[Line]:
        """The lines that end in this piece, but for blank ones."""
        *ended, rest = piece.split(b"\n")
        for end in ended:
            self._rest += end
            yield from self.finish()
        self._rest += rest

    def finish(self) -> Iterator[Line]:
        """Return what is there of a line, as one."""
        text, self._rest = bytes(self._rest), bytearray()
        self._number += 1
        if self._number == 1:
            text = text.removeprefix(b"\xef\xbb\xbf")
        if text.strip():
            yield Line(self._number, text)


async def _predicted(
    receive: Receive, served: ServedVersion, runner: PredictionRunner, negotiated: ContentNegotiation
) -> AsyncIterator[bytes]:
    """Lines for rows as they come, one at least; raises what the rows are refused for, and ClientDisconnect."""
    with CountedRequest(served.counts) as counted:
        options = read_query(negotiated.query, ()).options
        check_writable(negotiated.response, options_of(options), requested_outputs(served.version, options.outputs))
        expected = expected_of(served, runner.max_rows, runner.max_bytes)
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
    """The same fault, of a row further down."""
    return fault if fault.row is None else replace(fault, row=rows + fault.row)


async def _pieces(
    receive: Receive, decompressor: Decompressor, lines: _Lines
) -> AsyncIterator[tuple[bytes, Sequence[Line]]]:
    """Pieces of a body, unpacked, and the lines that each of them ends."""
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
    """The responses, and where they end too early, why."""
    yield first
    try:
        async for some in responses:
            yield some
    except RelevanceError as error:
        yield _problem_line(error)


def _problem_line(error: RelevanceError) -> bytes:
    """Return an error as a line, with the members of a problem."""
    kind = kind_of(error)
    problem = {
        "type": kind.type,
        "title": kind.title,
        "status": kind.status,
        "detail": sentence(error.detail),
        "errors": [fault_members(fault) for fault in error.faults],
    }
    return msgspec.json.encode({"error": problem}) + b"\n"
