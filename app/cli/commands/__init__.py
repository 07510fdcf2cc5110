"""The command `relevance`: the service, and the library's client commands."""

import atexit
import gc
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import typer

from app import __version__
from app.cli.commands.audit import audit
from app.cli.commands.keys import keys
from app.cli.commands.limits import limits
from app.cli.commands.maintenance import backup, copy_database, doctor, restore, vacuum
from app.cli.commands.service import api, check_worker, config, migrate, serve, worker
from relevance_bayes.cli.commands import add_client_commands, new_application, run
from relevance_bayes.cli.rows import Row, RowOptions
from relevance_bayes.records.values import ColumnKind

__all__ = ["application", "main"]


def read_rows(
    path: Path, kinds: Mapping[str, ColumnKind], *, size: int, options: RowOptions
) -> Iterator[Sequence[Row]]:
    """Read the rows of a file in any of the service's formats."""
    from app.cli.rows import batches

    return batches(path, kinds, size=size, options=options)


application = new_application(
    "relevance",
    "Calibrated predictions from sparse Bayesian models: a service, and its clients.",
    "serve, api, worker, migrate, config, doctor, backup, restore, copy-database, vacuum, keys, limits, audit and "
    "check are the service; the others are its clients.",
    read_rows,
    __version__,
)
for command in (serve, api, worker, migrate, config, doctor, backup, restore, copy_database, vacuum):
    application.command()(command)
add_client_commands(application)

application.add_typer(keys, name="keys")
application.add_typer(limits, name="limits")
application.add_typer(audit, name="audit")
check = typer.Typer(help="Health checks.", no_args_is_help=True)
check.command("worker")(check_worker)
application.add_typer(check, name="check")


ALLOCATED_BETWEEN_COLLECTIONS = 10_000
"""The number of allocations, less deallocations, between two garbage collections."""


def main() -> None:
    """The command `relevance`.

    Its imports create hundreds of thousands of objects that live until the process ends. With Python's default
    threshold, garbage collections are a third of the time in which a process starts and ends. In a server, rarer
    collections lower the highest latencies.
    """
    gc.set_threshold(ALLOCATED_BETWEEN_COLLECTIONS)
    atexit.register(gc.freeze)
    run(application)
