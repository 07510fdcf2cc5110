"""Limits of the HTTP/1.1 connections of one process."""

import sys
from dataclasses import dataclass

MAX_CONNECTIONS = 4096
MAX_BACKLOG = 512

DESIRED_DESCRIPTORS = 16_384
"""The number of file descriptors that a process requests: for connections, uploads on disk, the database, and a
reserve."""


@dataclass(frozen=True)
class ConnectionLimits:
    """Limits of connections: size and time of requests, and the number of connections."""

    max_header_bytes: int = 32 * 1024
    """The maximum size of request line and header fields together, and of trailers and chunk extensions together, in
    bytes."""

    max_header_fields: int = 100
    """The maximum number of header fields of a request, and of trailer fields."""

    header_timeout_seconds: float = 10.0
    """The maximum time from a request's first byte, or from the connection, to the end of the header section."""

    min_body_bytes_per_second: float = 1000.0
    """The minimum rate of a body, over each `BODY_WINDOW_SECONDS` in which the server was ready to read."""

    max_connections: int = MAX_CONNECTIONS
    """The maximum number of open connections; beyond it, the one that has waited longest for a request is closed."""


BODY_WINDOW_SECONDS = 10.0
"""The length of the window over which the rate of a body is measured."""


def connections_within(descriptors: int) -> int:
    """Return the number of connections that a process with so many file descriptors can hold.

    A quarter is reserved for uploads on disk, the database, the event loop, and connections that the kernel has
    accepted and the process has not.
    """
    return max(1, min(MAX_CONNECTIONS, descriptors * 3 // 4))


def backlog_within(descriptors: int) -> int:
    """Return the length of the listening socket's queue, which must fit into the reserved descriptors."""
    return max(1, min(MAX_BACKLOG, descriptors // 8))


def raise_descriptor_limit() -> int:
    """Raise the soft limit of file descriptors as far as the hard limit allows, and return it."""
    if sys.platform == "win32":
        return DESIRED_DESCRIPTORS
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    unlimited = resource.RLIM_INFINITY
    required = DESIRED_DESCRIPTORS if hard == unlimited else min(hard, DESIRED_DESCRIPTORS)
    if soft != unlimited and soft < required:
        try:
            resource.setrlimit(resource.RLIMIT_NOFILE, (required, hard))
        except (OSError, ValueError):  # the system has a maximum below the hard limit
            return soft
        soft = required
    return DESIRED_DESCRIPTORS if soft == unlimited else soft
