"""The command `relevance`: the service, and the library's client commands."""

import atexit
import gc
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from app import __version__
from relevance_bayes.cli.command_rows import Command
from relevance_bayes.cli.commands import add_client_commands, add_commands, add_group, new_application, run
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


def _command(module: str, function: str, summary: str) -> Command:
    """Return a row of a command of the service."""
    return Command(module, function, summary, package="app.cli", acts_in_project=False)


SERVICE = {
    "serve": _command("serving", "serve", "Run the API and a worker."),
    "api": _command("serving", "api", "Run the API without a worker."),
    "worker": _command("serving", "worker", "Run a worker without the API."),
    "migrate": _command("maintenance", "migrate", "Create the database's tables, or migrate them to this release."),
    "config": _command("config", "config", "Print the settings with their origin, secrets masked."),
    "doctor": _command(
        "maintenance",
        "doctor",
        "Check the settings, the database, the workers and the disks; each fault with its remedy.",
    ),
    "backup": _command("maintenance", "backup", "Back up the database into one file, while the service runs."),
    "restore": _command(
        "maintenance",
        "restore",
        "Restore a backup into the database of the settings, and migrate it to this release.",
    ),
    "copy-database": _command(
        "maintenance",
        "copy_database",
        "Copy the database of the settings into another one, as from SQLite to PostgreSQL, and compare both.",
    ),
    "vacuum": _command("maintenance", "vacuum", "Free the space of deleted rows."),
}

GROUPS = {
    "keys": (
        "API keys, in the database that the settings name.",
        {
            "create": _command("owners", "create", "Create an API key and show it, once."),
            "list": _command("owners", "list_keys", "List API keys, without their secrets."),
            "rotate": _command(
                "owners",
                "rotate",
                "Create a key with the name and scopes of KEY, which expires when all clients can have the new one.",
            ),
            "revoke": _command("owners", "revoke", "Revoke an API key: the service refuses it within two seconds."),
        },
    ),
    "limits": (
        "Limits of owners, in the database that the settings name.",
        {
            "show": _command("owners", "show", "Show the limits of an owner, and what it uses."),
            "list": _command(
                "owners",
                "list_owners",
                "List the owners for which limits are set; all others have those of the settings.",
            ),
            "set": _command(
                "owners",
                "set_limits",
                "Set limits of an owner: a number, `none`, or `default` for the limit of the settings.",
            ),
            "reset": _command(
                "owners", "reset", "Remove the limits that are set for an owner: it has those of the settings."
            ),
        },
    ),
    "audit": (
        "Who changed what and when, in the database that the settings name.",
        {
            "list": _command("audit", "list_entries", "List the newest entries."),
            "export": _command("audit", "export", "Export entries, oldest first."),
            "verify": _command(
                "audit",
                "verify",
                "Verify that no entry was changed, inserted or deleted; ends with exit code 1 where one was.",
            ),
        },
    ),
    "check": (
        "Health checks.",
        {
            "worker": _command(
                "worker_process",
                "check_worker",
                "Exit with 0 where a worker with this spool directory has sent a recent heartbeat.",
            ),
        },
    ),
}
"""Groups of commands of the service: a summary, and the commands."""

add_commands(application, SERVICE)
add_client_commands(application)
for name, (summary, commands) in GROUPS.items():
    add_group(application, name, summary, commands)

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
