"""The connections of one process from which a header section, or the rest of a body, is expected."""

from collections import OrderedDict
from typing import Protocol

from app.server.limits import BODY_WINDOW_SECONDS, ConnectionLimits


class Connection(Protocol):
    """The interface of a connection in the table of connections."""

    received: int
    """Bytes that came since the current window of the body's rate began."""

    def is_reading(self) -> bool:
        """Return whether the request waits for its client: reading is not paused, and no response has begun."""

    def is_closable(self) -> bool:
        """Return whether nobody would lose anything: no request is open, and no response is still being sent."""

    def head_timed_out(self) -> None:
        """Close: the header section took too long."""

    def body_too_slow(self) -> None:
        """Close: the body came too slowly."""

    def evict(self) -> None:
        """Close, to make room for another connection."""


class Connections:
    """Connections by what is expected from them, each with the time since when, in seconds of a monotonic clock.

    Both tables are ordered by that time: a sweep looks at what is due and no further, and the connection that has
    waited longest is found at once.
    """

    def __init__(self, limits: ConnectionLimits) -> None:
        self.is_draining = False
        """Whether the server is stopping: the next response of each connection is its last."""
        self._limits = limits
        self._awaiting_head: OrderedDict[Connection, float] = OrderedDict()
        self._awaiting_body: OrderedDict[Connection, float] = OrderedDict()

    def await_head(self, connection: Connection, now: float) -> None:
        """Start the time limit of a header section."""
        self._awaiting_head[connection] = now

    def await_body(self, connection: Connection, now: float) -> None:
        """Start to measure the rate of a body."""
        self._awaiting_body[connection] = now

    def forget(self, connection: Connection) -> None:
        """Stop waiting for a connection, whatever it owed."""
        self._awaiting_head.pop(connection, None)
        self._awaiting_body.pop(connection, None)

    def evict_one(self) -> bool:
        """Close the connection that has been without a complete header section for longest, if there is one."""
        oldest = next((one for one in self._awaiting_head if one.is_closable()), None)
        if oldest is None:
            return False
        oldest.evict()
        return True

    def close_slow(self, now: float) -> None:
        """Close the connections whose header sections or bodies came too slowly."""
        for connection in _due(self._awaiting_head, now - self._limits.header_timeout_seconds):
            connection.head_timed_out()
        least = self._limits.min_body_bytes_per_second * BODY_WINDOW_SECONDS
        for connection in _due(self._awaiting_body, now - BODY_WINDOW_SECONDS):
            if connection.is_reading() and connection.received < least:
                connection.body_too_slow()
            else:
                connection.received = 0
                self._awaiting_body[connection] = now


def _due(waiting: OrderedDict[Connection, float], deadline: float) -> list[Connection]:
    """Remove and return the connections that have waited since `deadline` or longer."""
    due: list[Connection] = []
    while waiting:
        connection, since = next(iter(waiting.items()))
        if since > deadline:
            break
        del waiting[connection]
        due.append(connection)
    return due
