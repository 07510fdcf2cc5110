"""The connections of a process that wait for a header section or for the rest of a body."""

from collections import OrderedDict
from typing import Protocol

from app.server.limits import BODY_WINDOW_SECONDS, ConnectionLimits


class Connection(Protocol):
    """The interface of a connection in the table of connections."""

    received: int
    """The number of bytes received since the current window of the body's rate began."""

    def is_reading(self) -> bool:
        """Return whether the request waits for its client: reading is not paused, and no response has begun."""

    def is_closable(self) -> bool:
        """Return whether the connection can be closed without loss: no open request, and no response being sent."""

    def head_timed_out(self) -> None:
        """Close the connection because the header section took too long."""

    def body_too_slow(self) -> None:
        """Close the connection because the body is too slow."""

    def evict(self) -> None:
        """Close the connection because there are too many."""


class Connections:
    """The waiting connections, each with the time since when, in seconds of a monotonic clock.

    Both tables are ordered by that time: a check looks only at the connections that are due, and the one that has
    waited longest is first.
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
        """Remove a connection from both tables."""
        self._awaiting_head.pop(connection, None)
        self._awaiting_body.pop(connection, None)

    def evict_one(self) -> bool:
        """Close the connection that has been without a complete header section for longest; return whether there was
        one."""
        oldest = next((one for one in self._awaiting_head if one.is_closable()), None)
        if oldest is None:
            return False
        oldest.evict()
        return True

    def close_slow(self, now: float) -> None:
        """Close the connections whose header sections or bodies are too slow."""
        for connection in _due(self._awaiting_head, now - self._limits.header_timeout_seconds):
            connection.head_timed_out()
        minimum = self._limits.min_body_bytes_per_second * BODY_WINDOW_SECONDS
        for connection in _due(self._awaiting_body, now - BODY_WINDOW_SECONDS):
            if connection.is_reading() and connection.received < minimum:
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
