"""Following a job over streams that may break: each event once, in order, from any process."""

import time
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import TypeVar

from relevance_bayes.client.drivers import Query
from relevance_bayes.client.errors import CONNECTION_LOST, NOT_REACHABLE, ClientError, Problem
from relevance_bayes.client.event_stream import EventStream, Message
from relevance_bayes.client.http import Http
from relevance_bayes.client.json import Form
from relevance_bayes.records.jobs import Event

T = TypeVar("T")

_EVENT: Form[Event] = Form(Event)

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


def read_message(message: Message, form: Form[T]) -> T:
    """Return the record in a message; raises ClientError where it is another one."""
    try:
        return form.read(message.data)
    except ValueError as broken:
        detail = f"Expected an event of Relevance in the stream, got another message: {broken}."
        raise ClientError(Problem(title="Not understood", detail=detail)) from broken


def _may_pass(problem: Problem) -> bool:
    return problem.type in {NOT_REACHABLE, CONNECTION_LOST} or (problem.status or 0) >= 500
