"""Following a job over streams of events that may break: each event once, in order, from any process."""

import time
from collections.abc import AsyncGenerator, Iterable, Iterator
from contextlib import aclosing
from dataclasses import dataclass
from typing import TypeVar

from relevance_bayes.client.drivers import Query
from relevance_bayes.client.errors import CONNECTION_LOST, NOT_REACHABLE, ClientError, Problem
from relevance_bayes.client.http import Http
from relevance_bayes.records.jobs import Event
from relevance_bayes.records.json import ResponseForm


@dataclass(frozen=True)
class Message:
    """A message of a stream; `id` is the last one received, empty without any."""

    id: str
    event: str
    data: str


def messages(chunks: Iterable[bytes]) -> Iterator[Message]:
    """Yield the messages of a stream from chunks of any size, without a truncated last one."""
    stream = EventStream()
    return (message for chunk in chunks for _, message in stream.receive(chunk) if message is not None)


class EventStream:
    """A stream whose chunks are received one by one, of any size."""

    def __init__(self) -> None:
        self._last_id, self._event = "", ""
        self._data: list[str] = []
        self._begun = b""
        self._after_return = False

    def receive(self, chunk: bytes) -> Iterator[tuple[str, Message | None]]:
        """Yield the last id after each block of lines that ends, with the block's message; None without data."""
        for line in self._lines(chunk):
            if not line:
                data = "\n".join(self._data)
                yield self._last_id, Message(self._last_id, self._event or "message", data) if self._data else None
                self._event, self._data = "", []
                continue
            name, _, value = line.partition(":")  # a comment has an empty name
            value = value.removeprefix(" ")
            match name:
                case "data":
                    self._data.append(value)
                case "event":
                    self._event = value
                case "id" if "\0" not in value:
                    self._last_id = value

    def _lines(self, chunk: bytes) -> Iterator[str]:
        """Yield complete lines, by the three terminators of the standard; `splitlines` of a text knows more."""
        if self._after_return and chunk.startswith(b"\n"):
            chunk = chunk[1:]  # the second half of a terminator across two chunks
        if not chunk:
            return
        self._after_return = chunk.endswith(b"\r")
        *whole, begun = (self._begun + chunk + b".").splitlines()
        self._begun = begun[:-1]
        for line in whole:
            yield line.decode("utf-8", errors="replace")


T = TypeVar("T")

_EVENT: ResponseForm[Event] = ResponseForm(Event)

PAUSES = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 8.0, 8.0)
"""The delays before reconnects without an event between: half a minute, in which a service restarts."""

STEADY_SECONDS = 10.0
"""The duration of a stream after which its end does not count as a failure, even without events."""

SILENCE_SECONDS = 45.0
"""The timeout of a stream without data; the service sends three comments within it."""


async def follow(http: Http, path: str, *, after: int = 0) -> AsyncGenerator[Event, None]:
    """Yield the events at `path` after number `after`, as they happen, to the job's end.

    Raises ClientError as `followed` does.
    """
    async with aclosing(followed(http, path, after=after)) as messages:
        async for message in messages:
            event = read_message(message, _EVENT)
            yield event
            if event.is_last:
                return


async def followed(
    http: Http, path: str, *, after: int | str = 0, query: Query | None = None
) -> AsyncGenerator[Message, None]:
    """Yield the messages at `path` after the id `after`, as they come, until the service responds that there are none.

    Raises ClientError where the service refuses, can't be reached at first, or not after all retries.
    """
    was_reached, failures, last_id = False, 0, str(after)
    while True:
        began = time.monotonic()
        broken = ClientError(_ENDED)
        headers = {"Accept": "text/event-stream", "Last-Event-ID": last_id}
        try:
            async with http.stream(path, headers=headers, silence=SILENCE_SECONDS, query=query) as chunks:
                if chunks is None:  # the job has ended, and its last event was received
                    return
                was_reached = True
                stream = EventStream()
                async for chunk in chunks:
                    for block_id, message in stream.receive(chunk):
                        last_id = block_id or last_id
                        if message is not None:
                            failures = 0
                            yield message
        except ClientError as error:
            if not was_reached or not _may_pass(error.problem):
                raise
            broken = error
        if time.monotonic() - began > STEADY_SECONDS:
            failures = 0
        if failures == len(PAUSES):
            raise broken
        await http.driver.sleep(PAUSES[failures])
        failures += 1


_ENDED = Problem(type=NOT_REACHABLE, title="Not reachable", detail="The event stream ended early after every retry.")


def read_message(message: Message, form: ResponseForm[T]) -> T:
    """Return the record in a message; raises ClientError where it is another one."""
    try:
        return form.read(message.data)
    except ValueError as broken:
        detail = f"Expected an event of Relevance in the stream, got another message: {broken}."
        raise ClientError(Problem(title="Not understood", detail=detail)) from broken


def _may_pass(problem: Problem) -> bool:
    return problem.type in {NOT_REACHABLE, CONNECTION_LOST} or (problem.status or 0) >= 500
