"""Predictions line by line: answers leave while rows still come, and rows are read no faster than answers are taken."""

from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Self

import msgspec
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from app.api.answer_files import check_writable
from app.api.answers import prediction_lines
from app.api.errors import fault_members, kind_of
from app.api.exchange import Exchange, asked_by, expected_of, told_of
from app.api.expanding import Expander
from app.api.predict_query import asked_in
from app.api.predicting import Breathe, Predicting, answered, wanted_of
from app.api.schemas.requests import PredictOptions
from app.domain.errors import MalformedBodyError
from app.formats.expected import Expected, need_rows
from app.formats.line_rows import Line, read_lines
from app.services.answering import ServedVersion, outputs_asked
from app.services.counting import CountedRequest, Rows
from relevance_bayes.types.errors import InvalidDataError, RelevanceError, sentence
from relevance_bayes.types.references import Reference

ROWS_AT_ONCE = 8192


async def by_lines(
    request: Request, predicting: Predicting, owner: str, reference: Reference, wanted: Exchange
) -> Response:
    """The answer to rows on lines, as far as they have come.

    What is wrong before the first answer leaves is raised, as everywhere; what is wrong later is the last line, or,
    where bad rows are not to refuse the others, the line in the row's place.
    """
    served = await predicting.served(owner, reference)
    answers = _answers(request.receive, served, predicting, wanted)
    stream = _with_last_words(await anext(answers), answers)
    return _WhileReading(stream, media_type=wanted.answer.media_type, headers=told_of(served))


class _WhileReading(StreamingResponse):
    """Leaves `receive`, by which others learn that the client has gone, to what is streamed."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await self.stream_response(send)
        except (ClientDisconnect, OSError):
            return  # nobody is there to be told


@dataclass(frozen=True, eq=False)
class _Rows:
    """How rows become answers."""

    served: ServedVersion
    options: PredictOptions
    expected: Expected
    counted: Rows

    @classmethod
    def of(cls, served: ServedVersion, predicting: Predicting, wanted: Exchange, counted: Rows) -> Self:
        """As a query asks for them; raises InvalidRequestError."""
        options = asked_in(wanted.query, ()).options
        check_writable(wanted.answer, wanted_of(options), outputs_asked(served.version, options.outputs))
        return cls(served, options, expected_of(served, predicting), counted)

    def answered(self, lines: Sequence[Line], first: int, breathe: Breathe) -> bytes:
        """The answers to consecutive rows of which the first is number `first`; raises what is refused."""
        try:
            read = read_lines(lines, self.expected, strict=self.options.on_error == "fail")
            asked = asked_by(self.served, read, self.options)
            found, faults = answered(self.served, asked, self.expected.most_rows, self.counted)
        except (InvalidDataError, MalformedBodyError) as error:
            moved = [fault if fault.row is None else replace(fault, row=first + fault.row) for fault in error.faults]
            raise type(error)(error.detail, moved) from None
        breathe()
        told = prediction_lines(self.served, found, outputs=asked.outputs, faults=faults, first_row=first)
        return b"".join(told)


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
        """What is there of a line, as one."""
        text, self._rest = bytes(self._rest), bytearray()
        self._number += 1
        if self._number == 1:
            text = text.removeprefix(b"\xef\xbb\xbf")
        if text.strip():
            yield Line(self._number, text)


async def _answers(
    receive: Receive, served: ServedVersion, predicting: Predicting, wanted: Exchange
) -> AsyncIterator[bytes]:
    """The answers to rows as they come, one at least; raises what these are refused for, and ClientDisconnect."""
    with CountedRequest(served.counts) as counted:
        rows = _Rows.of(served, predicting, wanted, counted)
        expander = Expander(wanted.encoding, predicting.most_bytes)
        lines, seen = _Lines(), 0
        async for piece, come in _pieces(receive, expander, lines):
            for place in range(0, len(come), ROWS_AT_ONCE):
                some = come[place : place + ROWS_AT_ONCE]
                rows.expected.check_rows(seen + len(some))
                call = partial(rows.answered, some, seen)
                longest = max((line.text for line in some), key=len)  # which may have begun in pieces before
                content = piece if len(piece) >= len(longest) else longest
                yield await predicting.run(served, content, call, inline=True)
                seen += len(some)
        need_rows(seen)


async def _pieces(receive: Receive, expander: Expander, lines: _Lines) -> AsyncIterator[tuple[bytes, Sequence[Line]]]:
    """Pieces of a body, unpacked, and the lines that each of them ends."""
    more = True
    while more:
        message = await receive()
        if message["type"] != "http.request":
            raise ClientDisconnect
        more = message.get("more_body", False)
        for piece in expander.feed(message.get("body", b"")):
            yield piece, [*lines.feed(piece)]
    expander.finish()
    yield b"", [*lines.finish()]


async def _with_last_words(first: bytes, answers: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """The answers, and where they end too early, why."""
    yield first
    try:
        async for some in answers:
            yield some
    except RelevanceError as error:
        yield _problem_line(error)


def _problem_line(error: RelevanceError) -> bytes:
    """What else would be the whole answer."""
    kind = kind_of(error)
    problem = {
        "type": kind.type,
        "title": kind.title,
        "status": kind.status,
        "detail": sentence(error.detail),
        "errors": [fault_members(fault) for fault in error.faults],
    }
    return msgspec.json.encode({"error": problem}) + b"\n"
