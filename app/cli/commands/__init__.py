"""The commands and their options; what they do stands in the modules that they import when they run."""

import atexit
import gc

import typer

from app.cli.commands.aliases import history, list_aliases, move, unset
from app.cli.commands.exporting import export, import_version
from app.cli.commands.reading import (
    annotate,
    compare,
    datasets,
    decode,
    jobs,
    lineage,
    models,
    predict,
    statistics,
    versions,
)
from app.cli.commands.scoring import evaluate, predict_dataset, promote
from app.cli.commands.service import api, check_worker, migrate, serve, worker
from app.cli.commands.training import train
from app.cli.commands.untargeted import approximate, components, encode
from app.cli.commands.webhooks import add, deliveries, list_webhooks, redeliver, remove, try_out

__all__ = ["application", "main"]

application = typer.Typer(
    name="relevance",
    help="Calibrated predictions from sparse Bayesian models: a service, and its clients.",
    epilog="train to import, and webhooks, speak to a running service; the others are the service.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # its help pages would load half of rich: 0.5 s instead of 0.2
)
SERVING = (serve, api, worker, migrate)
LEARNING = (train, approximate, components, encode)
READING = (predict, decode, jobs, datasets, models, versions, annotate, lineage, statistics, compare, export)
SCORING = (evaluate, predict_dataset, promote)
for command in (*SERVING, *LEARNING, *READING, *SCORING):
    application.command()(command)
application.command("import")(import_version)

check = typer.Typer(help="Say whether something is alive, for health checks.", no_args_is_help=True)
check.command("worker")(check_worker)
application.add_typer(check, name="check")

aliases = typer.Typer(help="Names for versions of models, which move: MODEL@ALIAS.", no_args_is_help=True)
aliases.command("set")(move)
aliases.command("list")(list_aliases)
aliases.command("remove")(unset)
aliases.command("history")(history)
application.add_typer(aliases, name="aliases")

webhooks = typer.Typer(help="Have URLs told when a job has ended.", no_args_is_help=True)
webhooks.command("add")(add)
webhooks.command("list")(list_webhooks)
webhooks.command("remove")(remove)
webhooks.command("deliveries")(deliveries)
webhooks.command("test")(try_out)
webhooks.command("redeliver")(redeliver)
application.add_typer(webhooks, name="webhooks")


ALLOCATED_BETWEEN_COLLECTIONS = 10_000
"""More objects than were freed, before garbage is looked for again."""


def main() -> None:
    """The command `relevance`.

    What it imports is hundreds of thousands of objects, none of which is garbage before the end, and then the kernel
    takes them all at once: looking for it so often while they are made, and again at the end, is a third of the time in
    which a process starts and ends. Of a server that answers, looking less often makes the latest answers sooner.
    """
    gc.set_threshold(ALLOCATED_BETWEEN_COLLECTIONS)
    atexit.register(gc.freeze)
    application()
