"""The tables of serving."""

from collections.abc import Mapping

import numpy as np

from benchmarks.jobs.deployment import on_sqlite
from benchmarks.options import Options
from benchmarks.report import Table
from benchmarks.serving.forms import BYTES, TENSORS
from benchmarks.serving.measuring import Costs, Mixed, cold, from_memory_to_memory, mixed, taking_turns
from benchmarks.serving.processes import Server, agree, bare, ours, train

FEW, MANY, BATCH = 1, 1_000, 100_000
CONNECTIONS, FEW_CONNECTIONS = 8, 4
COLD_VECTORS = 50

NOTES = """\
`relevance api` with a key, on SQLite, and Starlette with orjson and numpy that computes the same figures of the same
model without any check (`serving/bare.py`): one process each on uvicorn, httptools and uvloop, taking turns in one run
with the client on the same machine. A model of 20 vectors and 4 inputs; asked for are mean, variance with its parts and
interval. Tensors are those of the Open Inference Protocol at `/v2`, flat JSON both ways or bytes both ways, beside the
bare application's answer in the same form. CPU is the server's as the kernel counts it, times the bare one's the median
of the rounds' ratios."""


def serving(options: Options) -> list[Table]:
    """What an answer costs, beside other work, and what a process holds."""
    rounds, times = (3, 3) if options.quick else (9, 9)
    with on_sqlite() as deploy, deploy() as deployment:
        train(deployment)
        quiet = ours(deployment, "ours, log of requests off", log=False)
        logging = ours(deployment, "ours", log=True)
        idle = quiet.megabytes()
        with bare(deployment) as plain:
            servers = [plain, quiet, logging]
            agree(servers)
            costs = {
                "1 row in JSON": taking_turns(
                    servers, rows=FEW, requests=1_500, connections=CONNECTIONS, rounds=rounds
                ),
                "1,000 rows in JSON": taking_turns(
                    servers, rows=MANY, requests=60, connections=CONNECTIONS, rounds=rounds
                ),
                **{
                    f"1,000 {form.name}": taking_turns(
                        servers, rows=MANY, requests=120, connections=CONNECTIONS, rounds=rounds, form=form
                    )
                    for form in (TENSORS, BYTES)
                },
                "100,000 rows in JSON": taking_turns(servers[:2], rows=BATCH, requests=2, connections=1, rounds=times),
            }
        found = mixed(quiet, rows=BATCH, requests=2_000, connections=FEW_CONNECTIONS, rounds=rounds)
        core = from_memory_to_memory(deployment, BATCH, times)
        others = _others(quiet, found, idle, costs["100,000 rows in JSON"][quiet.name], core)
    with on_sqlite() as deploy, deploy() as deployment:
        train(deployment, vectors=COLD_VECTORS)
        others[f"a version of {COLD_VECTORS} vectors that was not at hand"] = f"{1e3 * cold(deployment, times):.1f} ms"
    return [_costs(costs, plain.name), Table("One process under load", ("", "ours"), tuple(others.items()), ())]


def _costs(costs: Mapping[str, Mapping[str, Costs]], plain: str) -> Table:
    rows = [
        (
            asked,
            server,
            f"{found.microseconds:,.0f}",
            "" if server == plain else f"{found.beside(each[plain]):.2f}",
            f"{found.per_second:,.0f}" if found.per_second >= 10.0 else f"{found.per_second:.1f}",
            f"{found.milliseconds(0.5):.1f} / {found.milliseconds(0.99):.1f}",
        )
        for asked, each in costs.items()
        for server, found in each.items()
    ]
    header = ("asked with", "server", "CPU us", "times bare", "requests/s", "ms, median / p99")
    return Table("Serving", header, tuple(rows), (NOTES,))


def _others(server: Server, found: list[Mixed], idle: float, batch: Costs, core: float) -> dict[str, str]:
    alone, beside = (
        [1e3 * float(np.quantile([took for one in each for took in one.each], 0.99))]
        for each in ([one.alone for one in found], [one.beside for one in found])
    )
    taken = [seconds for one in found for seconds in one.batches]
    return {
        "p99 of 1 row, alone": f"{alone[0]:.1f} ms",
        f"p99 of 1 row, while batches of {BATCH:,} rows come": f"{beside[0]:.1f} ms",
        "such a batch, meanwhile": f"{np.median(taken):.2f} s" if taken else "none ended",
        f"{BATCH:,} rows: CPU of the request": f"{1e-6 * batch.microseconds:.3f} s",
        f"{BATCH:,} rows: the core's predict, from memory to memory": f"{core:.3f} s",
        "memory, idle": f"{idle:.0f} MB",
        "memory after all that": f"{server.megabytes():.0f} MB",
    }
