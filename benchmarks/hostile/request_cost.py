"""The CPU time of a single-row prediction beside that of another checkout."""

import socket
import statistics
from pathlib import Path

from benchmarks.files import NotRun
from benchmarks.hostile.checkouts import MODEL, Running, checkouts
from benchmarks.options import Options
from benchmarks.pairs import PAIRS, compared
from benchmarks.report import Table

TURNS = 10
"""Each run of a pair is made in so many turns with the other: the machine's speed drifts within seconds."""

REQUESTS, QUICK_REQUESTS = 500, 50
"""Requests of a turn."""

BODY = b'{"rows":[{"a":0.1,"b":0.2,"c":0.3}]}'
REQUEST = (
    f"POST /v1/models/{MODEL}/predict HTTP/1.1\r\nHost: 127.0.0.1\r\nUser-Agent: benchmarks\r\nAccept: */*\r\n"
    f"Accept-Encoding: gzip\r\nConnection: keep-alive\r\nContent-Type: application/json\r\n"
    f"Content-Length: {len(BODY)}\r\n\r\n"
).encode() + BODY


def _microseconds(server: Running, requests: int) -> float:
    """CPU time of one of so many requests on a connection of their own."""
    with socket.create_connection(("127.0.0.1", server.port)) as client:
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        began = 0.0
        for number in range(requests + 10):
            if number == 10:
                began = server.cpu()
            client.sendall(REQUEST)
            response = client.recv(65_536)
            assert response.startswith(b"HTTP/1.1 200"), response
        return (server.cpu() - began) / requests * 1e6


def request_cost(options: Options) -> list[Table]:
    """One table: 20 alternating pairs of runs, with the log of requests off and on."""
    if options.against is None:
        raise NotRun("it needs --against, the folder of another checkout with its environment")
    rows = []
    with checkouts(Path(options.against)) as (before, after):
        for log in (False, True):
            with before.running(log=log) as old, after.running(log=log) as new:
                rows.append((("off", "on")[log], *_compared(old, new, QUICK_REQUESTS if options.quick else REQUESTS)))
    header = ("log", "us before", "us after", "ratio", "95 % interval")
    note = f"{PAIRS} alternating pairs of runs in {TURNS} turns; the interval of the mean log ratio, by Student's t."
    return [Table("CPU time of a single-row prediction", header, tuple(rows), (note,))]


def _compared(old: Running, new: Running, requests: int) -> tuple[str, ...]:
    for server in (old, new):
        _microseconds(server, requests)
    pairs = []
    for number in range(PAIRS):
        turns = [_turn(old, new, requests, reverse=(number + turn) % 2 == 1) for turn in range(TURNS)]
        old_costs, new_costs = zip(*turns, strict=True)
        pairs.append((statistics.mean(old_costs), statistics.mean(new_costs)))
    before, after, ratio, low, high = compared(pairs)
    return f"{before:.1f}", f"{after:.1f}", f"{ratio:.3f}", f"{low:.3f} to {high:.3f}"


def _turn(old: Running, new: Running, requests: int, *, reverse: bool) -> tuple[float, float]:
    """The CPU time of a request of both, in microseconds, the other one first where `reverse`."""
    if reverse:
        after = _microseconds(new, requests)
        return _microseconds(old, requests), after
    return _microseconds(old, requests), _microseconds(new, requests)
