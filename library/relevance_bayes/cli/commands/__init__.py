"""The client commands and their options; what they do stands in the modules that they import when they run."""

import typer

from relevance_bayes.cli.commands.aliases import history, list_aliases, move, unset
from relevance_bayes.cli.commands.exporting import export, import_version
from relevance_bayes.cli.commands.reading import (
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
from relevance_bayes.cli.commands.scoring import evaluate, predict_dataset, promote
from relevance_bayes.cli.commands.training import train
from relevance_bayes.cli.commands.unsupervised import approximate, components, encode
from relevance_bayes.cli.commands.webhooks import add, deliveries, list_webhooks, redeliver, remove, try_out

LEARNING = (train, approximate, components, encode)
READING = (predict, decode, jobs, datasets, models, versions, annotate, lineage, statistics, compare, export)
SCORING = (evaluate, predict_dataset, promote)


def new_application(name: str, help: str, epilog: str) -> typer.Typer:  # noqa: A002 - as typer calls it
    """A program of several commands, whose help pages load nothing that a command needs."""
    return typer.Typer(
        name=name,
        help=help,
        epilog=epilog,
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,  # its help pages would load half of rich: 0.5 s instead of 0.2
    )


def add_client_commands(application: typer.Typer) -> None:
    """Give a program all commands that speak to a running service."""
    for command in (*LEARNING, *READING, *SCORING):
        application.command()(command)
    application.command("import")(import_version)

    aliases = typer.Typer(help="Aliases of versions: MODEL@ALIAS.", no_args_is_help=True)
    aliases.command("set")(move)
    aliases.command("list")(list_aliases)
    aliases.command("remove")(unset)
    aliases.command("history")(history)
    application.add_typer(aliases, name="aliases")

    webhooks = typer.Typer(help="Webhooks: URLs that are notified when a job has ended.", no_args_is_help=True)
    webhooks.command("add")(add)
    webhooks.command("list")(list_webhooks)
    webhooks.command("remove")(remove)
    webhooks.command("deliveries")(deliveries)
    webhooks.command("test")(try_out)
    webhooks.command("redeliver")(redeliver)
    application.add_typer(webhooks, name="webhooks")


application = new_application(
    "relevance-client",
    "Calibrated predictions from sparse Bayesian models, by a running service.",
    "RELEVANCE_URL says where the service is, RELEVANCE_API_KEY is its key.",
)
add_client_commands(application)
