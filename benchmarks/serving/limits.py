"""The cost of key, limits, metrics and log for a request, and that of an owner above its limit for the others."""

import statistics
from contextlib import nullcontext
from typing import TypeAlias

import numpy as np

from app.maintenance.administration import api_keys, limited_owners
from benchmarks.jobs.deployment import Deployment, on_sqlite
from benchmarks.options import Options
from benchmarks.pairs import PAIRS, alternating, compared
from benchmarks.report import Table
from benchmarks.serving.forms import NAME
from benchmarks.serving.load import KEY, Flood, flooded, load
from benchmarks.serving.model import points
from benchmarks.serving.processes import Server, bare, ours, train, write_model
from relevance_bayes.client import connect

Pairs: TypeAlias = list[tuple[float, float]]

OTHER = "other"
RATE = 100
"""Requests per second that each owner may make."""

TIMES_RATE = 10
SILENT, AT_LIMIT, ABOVE_LIMIT = "silent", "at its limit", "above it"
RATES = {SILENT: 0, AT_LIMIT: RATE, ABOVE_LIMIT: TIMES_RATE * RATE}
"""Requests per second that the other owner sends."""

REQUESTS, QUICK_REQUESTS = 5_000, 50
TIMED, QUICK_TIMED = 5_000, 100
"""Requests of which one run takes the 99th percentile."""

NOTES = f"""\
{PAIRS} alternating pairs of runs; the interval of the mean log ratio, by Student's t. One API process on SQLite. CPU is
that of the server. All on: a key, limits of requests and rows that are not reached, metrics, and the log of requests.
The bare application predicts by the same model without any check (`serving/bare.py`). Milliseconds are those of an
owner without a limit, while another owner with a limit of {RATE} requests a second sends none, sends as many as that,
or {TIMES_RATE} times as many; all run on one machine. A request that is permitted delays those that arrive in its
fifth of a millisecond, so that 100 a second are seen in the others' 99th percentile; what the requests above the limit
add is the last row's ratio."""


def limits(options: Options) -> list[Table]:
    """Two comparisons by pairs in one table."""
    with on_sqlite() as deploy, deploy() as deployment:
        train(deployment)
        model = write_model(deployment)
        high = {"owner_requests_per_second": 1_000_000, "owner_rows_per_second": 1_000_000}
        limited = ours(deployment, "all on", log=True, **high)
        with bare(model, deployment.folder) as plain:
            costs = _cpu_pairs(plain, limited, QUICK_REQUESTS if options.quick else REQUESTS)
        times, refused = _time_pairs(deployment, QUICK_TIMED if options.quick else TIMED)
    header = ("what", "before", "after", "ratio", "95 % interval")
    rows = (
        _row("CPU us of 1 row: bare, all on", costs, 1e6),
        *(
            _row(f"ms of 1 row, {name}: other owner {before}, {after}", pairs, 1e3)
            for (name, before, after), pairs in times.items()
        ),
        ("share of the other owner's requests refused", "", f"{refused:.3f}", "", ""),
    )
    return [Table("Key, limits, metrics and log of a request; an owner above its limit", header, rows, (NOTES,))]


def _row(what: str, pairs: Pairs, unit: float) -> tuple[str, ...]:
    before, after, ratio, low, high = compared(pairs)
    return what, f"{unit * before:.3g}", f"{unit * after:.3g}", f"{ratio:.3f}", f"{low:.3f} to {high:.3f}"


def _cpu_pairs(plain: Server, limited: Server, requests: int) -> Pairs:
    def cost(server: Server) -> float:
        request = server.request(points(1))
        load(request, requests=10, connections=1)
        began = server.cpu()
        load(request, requests=requests, connections=1)
        return (server.cpu() - began) / requests

    return alternating(cost, plain, limited)


def _time_pairs(deployment: Deployment, requests: int) -> tuple[dict[tuple[str, str, str], Pairs], float]:
    """The median and the 99th percentile of an owner's requests in seconds, and the refused share of those above the
    limit of the other.
    """
    server = ours(deployment, "shared", log=False)
    request = server.request(points(1))
    theirs = server.request(points(1), key=_other_owner(deployment, server))
    floods: list[Flood] = []

    def times(state: str) -> tuple[float, float]:
        rate = RATES[state]
        with flooded(theirs, per_second=rate) if rate else nullcontext() as flood:
            found = load(request, requests=requests, connections=1).each
        if flood is not None and rate > RATE:
            floods.append(flood)
        return statistics.median(found), float(np.quantile(found, 0.99))

    found: dict[tuple[str, str, str], Pairs] = {}
    for before in (SILENT, AT_LIMIT):
        pairs = alternating(times, before, ABOVE_LIMIT)
        for place, name in enumerate(("median", "99th percentile")):
            found[name, before, ABOVE_LIMIT] = [(first[place], second[place]) for first, second in pairs]
    sent, refused = (sum(getattr(flood, name) for flood in floods) for name in ("sent", "refused"))
    return found, refused / sent


def _other_owner(deployment: Deployment, server: Server) -> str:
    """Give another owner a limit and the same model; return its key."""
    with api_keys(deployment.settings) as keys:
        _, secret = keys.create(OTHER, "flood")
    with limited_owners(deployment.settings) as owners:
        owners.replace(OTHER, {"requests_per_second": RATE})
    with connect(server.url, api_key=KEY) as calls:
        exported = deployment.folder / "model.json"
        exported.write_bytes(calls.export(NAME, 1))
    with connect(server.url, api_key=secret) as calls:
        calls.import_version(exported, model=NAME)
    return secret
