"""The tables of serving."""

from collections.abc import Mapping

import numpy as np

from benchmarks.jobs.deployment import Deployment, on_sqlite
from benchmarks.options import Options
from benchmarks.report import Table
from benchmarks.serving.forms import ARROW, BYTES, FORMS, MOMENTS, MOMENTS_AS_BYTES, NPY, ROWS, TENSORS
from benchmarks.serving.load import once
from benchmarks.serving.measuring import Costs, Mixed, cold, from_memory_to_memory, mixed, taking_turns
from benchmarks.serving.model import points
from benchmarks.serving.peers.running import running
from benchmarks.serving.processes import Server, agree, bare, ours, train, write_model

FEW, MANY, BATCH = 1, 1_000, 100_000
CONNECTIONS, FEW_CONNECTIONS = 8, 4
COLD_VECTORS = 50

HEADER = ("request", "server", "CPU us", "times bare", "requests/s", "ms, median / p99")
NOTES = """\
`relevance api` with a key, on SQLite, and Starlette with orjson and numpy that computes the same figures of the same
model without any check (`serving/bare.py`): one process each on uvicorn, httptools and uvloop, taking turns in one run
with the client on the same machine. A model of 20 vectors and 4 inputs; requested are mean, variance with its parts and
interval. Tensors are those of the Open Inference Protocol at `/v2`, flat JSON both ways or bytes both ways, beside the
bare application's answer in the same form. CPU is the server's as the kernel counts it, times the bare one's the median
of the rounds' ratios."""


PEERS_NOTES = """\
Mean and variance by servers that others wrote, each in an environment of its own (`make peers`, `serving/peers`), from
the same file of the same model by the same lines of numpy, beside ours and the bare application with those two
alone; all of them take turns. Requests are of the Open Inference Protocol, of BentoML a POST of its own with lists.
CPU and memory are those of all processes that a server has. Each is set to what is fastest for it with one worker:
MLServer predicts in the process that answers (`parallel_workers` 0), BentoML on its event loop; uvloop and httptools
are installed for all of them; access logs are off, metrics where that is a setting (MLServer, BentoML), and so are
KServe's gRPC and its log of latencies. None of them checks a key, as ours does."""


def serving(options: Options) -> list[Table]:
    """The cost of a response, beside other servers and other work, and the memory of a process."""
    rounds, times = (3, 3) if options.quick else (9, 9)
    with on_sqlite() as deploy, deploy() as deployment:
        train(deployment)
        model = write_model(deployment)
        quiet = ours(deployment, "ours, log of requests off", log=False)
        logging = ours(deployment, "ours", log=True)
        idle = quiet.megabytes()
        once(logging.request(points(MANY), ARROW))
        after_arrow = logging.megabytes()
        with bare(model, deployment.folder) as plain:
            servers = [plain, quiet, logging]
            for form in FORMS:
                agree(dict.fromkeys(servers, form))
            peers = _beside_peers(deployment, model, servers, rounds)
            costs = _all_figures(servers, rounds, times)
        found = mixed(quiet, rows=BATCH, requests=8_000, connections=FEW_CONNECTIONS, rounds=rounds)
        core = from_memory_to_memory(deployment, BATCH, times)
        batches = {"100,000 rows in JSON": costs["100,000 rows in JSON"][quiet.name]} | {
            f"{BATCH:,} {form.name}": taking_turns({quiet: form}, rows=BATCH, requests=2, connections=1, rounds=times)[
                quiet.name
            ]
            for form in (NPY, ARROW)
        }
        others = _meanwhile(found) | _batches(batches, core)
        others["memory, idle"] = f"{idle:.0f} MB"
        others["memory after Arrow was used"] = f"{after_arrow:.0f} MB"
        others["memory after all that"] = f"{quiet.megabytes():.0f} MB"
    with on_sqlite() as deploy, deploy() as deployment:
        train(deployment, vectors=COLD_VECTORS)
        others[f"a version of {COLD_VECTORS} vectors that was not loaded"] = f"{1e3 * cold(deployment, times):.1f} ms"
    rows = tuple(row for request, each in costs.items() for row in _rows(request, each, plain.name))
    return [
        Table("Serving", HEADER, rows, (NOTES,)),
        peers,
        Table("One process under load", ("", "ours"), tuple(others.items()), ()),
    ]


def _all_figures(servers: list[Server], rounds: int, times: int) -> Mapping[str, Mapping[str, Costs]]:
    in_rows = dict.fromkeys(servers, ROWS)
    return {
        "1 row in JSON": taking_turns(in_rows, rows=FEW, requests=1_500, connections=CONNECTIONS, rounds=rounds),
        "1,000 rows in JSON": taking_turns(in_rows, rows=MANY, requests=60, connections=CONNECTIONS, rounds=rounds),
        **{
            f"1,000 {form.name}": taking_turns(
                dict.fromkeys(servers, form), rows=MANY, requests=120, connections=CONNECTIONS, rounds=rounds
            )
            for form in (TENSORS, BYTES)
        },
        "100,000 rows in JSON": taking_turns(
            dict.fromkeys(servers[:2], ROWS), rows=BATCH, requests=2, connections=1, rounds=times
        ),
    }


def _beside_peers(deployment: Deployment, model: Mapping[str, str], servers: list[Server], rounds: int) -> Table:
    plain, *_ = servers
    rows: list[tuple[str, ...]] = []
    with running(model, deployment.folder) as (peers, absent):
        in_json = dict.fromkeys(servers, MOMENTS) | {server: peer.form for server, peer in peers.items()}
        speak_bytes = [*servers, *(server for server, peer in peers.items() if peer.speaks_bytes)]
        in_bytes = dict.fromkeys(speak_bytes, MOMENTS_AS_BYTES)
        for request, forms, number, requests in (
            ("1 row in JSON", in_json, FEW, 1_500),
            ("1,000 rows in JSON", in_json, MANY, 120),
            ("1,000 rows as bytes", in_bytes, MANY, 120),
        ):
            agree(forms)
            costs = taking_turns(forms, rows=number, requests=requests, connections=CONNECTIONS, rounds=rounds)
            memory = [f"{server.megabytes():.0f}" for server in forms]
            rows += [(*row, held) for row, held in zip(_rows(request, costs, plain.name), memory, strict=True)]
    return Table("Serving beside peers", (*HEADER, "MB"), tuple(rows), (PEERS_NOTES, *absent))


def _rows(request: str, costs: Mapping[str, Costs], plain: str) -> list[tuple[str, ...]]:
    return [
        (
            request,
            server,
            f"{found.microseconds:,.0f}",
            "" if server == plain else f"{found.beside(costs[plain]):.2f}",
            f"{found.per_second:,.0f}" if found.per_second >= 10.0 else f"{found.per_second:.1f}",
            f"{found.milliseconds(0.5):.1f} / {found.milliseconds(0.99):.1f}",
        )
        for server, found in costs.items()
    ]


def _meanwhile(found: list[Mixed]) -> dict[str, str]:
    alone, beside = (
        1e3 * float(np.quantile([took for one in each for took in one.each], 0.99))
        for each in ([one.alone for one in found], [one.beside for one in found])
    )
    durations = [seconds for one in found for seconds in one.batches]
    return {
        "p99 of 1 row, alone": f"{alone:.1f} ms",
        f"p99 of 1 row, while batches of {BATCH:,} rows come": f"{beside:.1f} ms",
        "such a batch, meanwhile": f"{np.median(durations):.2f} s" if durations else "none ended",
    }


def _batches(costs: Mapping[str, Costs], core: float) -> dict[str, str]:
    found = {f"{BATCH:,} rows: the core's predict, from memory to memory": f"{core:.3f} s"}
    for request, cost in costs.items():
        cpu = 1e-6 * cost.microseconds
        found[f"{request}: CPU of the request"] = f"{cpu:.3f} s ({core / cpu:.2f} of it the core's)"
    return found
