"""All client commands: their names, and the function of each, imported when it is used."""

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Annotated

import typer
from typer.core import TyperGroup

from relevance_bayes import __version__
from relevance_bayes.cli.rows import CommandContext, RowReader, text_rows


@dataclass(frozen=True)
class Command:
    """A function of a module of this package, and its summary in lists: the first sentence of its docstring."""

    module: str
    function: str
    summary: str


COMMANDS: Mapping[str, Command] = {
    "try": Command("trials", "try_file", "Show how well a column of FILE can be predicted."),
    "train": Command("training", "train", "Train a model on FILE and show how good it is."),
    "approximate": Command(
        "approximations", "approximate", "Approximate a known sum of Gaussians by few of its terms."
    ),
    "components": Command("components", "components", "Learn principal components, to score how new a row is."),
    "encode": Command("encodings", "encode", "Encode an image or a signal by few functions."),
    "predict": Command("predictions", "predict", "Predict for the rows of FILE."),
    "decode": Command("encodings", "decode", "Decode the image or the signal that MODEL encodes."),
    "jobs": Command("jobs", "jobs", "List jobs; show, follow, cancel or retry one."),
    "upload": Command("uploads", "upload", "Upload FILE as a dataset, and show its columns."),
    "datasets": Command("datasets", "datasets", "List datasets, or show one of them."),
    "models": Command("models", "models", "List models, or show a version of one."),
    "versions": Command(
        "models",
        "versions",
        "List the versions of MODEL with their aliases and errors.",
    ),
    "annotate": Command("registry", "annotate", "Describe and tag MODEL, or one of its versions."),
    "lineage": Command("registry", "lineage", "Show the data, the request and the job of a version."),
    "statistics": Command(
        "registry",
        "statistics",
        "Show requests, rows, errors and latencies of a version.",
    ),
    "compare": Command("comparisons", "compare", "Compare the predictions of two versions for FILE."),
    "export": Command("exports", "export", "Export a version of MODEL to a file."),
    "report": Command("reports", "report", "Write a report of a version of MODEL, an HTML file."),
    "evaluate": Command("evaluations", "evaluate", "Measure the predictions of MODEL on the targets in FILE."),
    "predict-dataset": Command(
        "batch_predictions",
        "predict_dataset",
        "Predict for all rows of a dataset in a batch job.",
    ),
    "promote": Command(
        "promotions",
        "promote",
        "Move MODEL@ALIAS to VERSION if that is better on FILE.",
    ),
    "projects": Command("members", "projects", "List the projects in which the API key may act."),
    "import": Command("exports", "import_version", "Import an exported version as the next one of a model."),
}

ALIASES: Mapping[str, Command] = {
    "set": Command("aliases", "move", "Point ALIAS of MODEL to VERSION."),
    "list": Command("aliases", "list_aliases", "List the aliases of MODEL."),
    "remove": Command("aliases", "unset", "Remove ALIAS of MODEL; its version and its history stay."),
    "history": Command("aliases", "history", "List the moves of ALIAS of MODEL, newest first."),
}

WEBHOOKS: Mapping[str, Command] = {
    "add": Command("webhooks", "add", "Add a webhook at URL and show the secret of its messages."),
    "list": Command("webhooks", "list_webhooks", "List webhooks."),
    "update": Command("webhooks", "update", "Change WEBHOOK; its secret does not change."),
    "remove": Command("webhooks", "remove", "Remove WEBHOOK and its deliveries."),
    "deliveries": Command("webhooks", "deliveries", "List the deliveries to WEBHOOK and their responses."),
    "test": Command("webhooks", "try_out", "Send WEBHOOK a signed test message."),
    "redeliver": Command("webhooks", "redeliver", "Send DELIVERY to WEBHOOK again."),
}

MEMBERS: Mapping[str, Command] = {
    "set": Command("members", "put", "Invite SUBJECT to the project, or change its role."),
    "accept": Command("members", "accept", "Accept the invitation to PROJECT."),
    "leave": Command("members", "leave", "Leave PROJECT, or decline the invitation to it."),
    "list": Command("members", "list_members", "List the members of the project."),
    "remove": Command("members", "remove", "Remove SUBJECT from the project."),
}

DELETIONS: Mapping[str, Command] = {
    "dataset": Command("deletions", "delete_dataset", "Delete DATASET; versions learned from it stay."),
    "model": Command("deletions", "delete_model", "Delete MODEL with all versions and aliases."),
    "version": Command("deletions", "delete_version", "Delete VERSION of MODEL, unless an alias points to it."),
    "prediction": Command("deletions", "delete_prediction", "Delete the batch prediction JOB with its file."),
}

OUTCOMES: Mapping[str, Command] = {
    "record": Command("outcomes", "record", "Record predictions of MODEL that have row ids."),
    "send": Command("outcomes", "send", "Send the outcomes in FILE."),
    "show": Command("outcomes", "show", "Compare predictions of MODEL with what happened."),
    "alarms": Command("outcomes", "alarms", "List the alarms of MODEL, newest first."),
}

GROUPS = {"delete": DELETIONS, "aliases": ALIASES, "outcomes": OUTCOMES, "webhooks": WEBHOOKS, "members": MEMBERS}

COMPLETES = re.compile("_RELEVANCE(_CLIENT)?_COMPLETE")
"""The environment variables by which a shell requests completions."""

GROUP_SUMMARIES = {
    "delete": "Delete datasets, models, versions and batch predictions.",
    "aliases": "Set, list and remove aliases of versions: MODEL@ALIAS.",
    "outcomes": "Compare predictions with what happened.",
    "webhooks": "Notify URLs when a job has ended.",
    "members": "Share the project with other owners.",
}


def new_application(
    name: str,
    help: str,  # noqa: A002 - as typer calls it
    epilog: str,
    read_rows: RowReader = text_rows,
    version: str = __version__,
) -> typer.Typer:
    """Return a program with the client commands, which reads rows to predict for by `read_rows`."""
    application = typer.Typer(
        name=name,
        help=help,
        epilog=epilog,
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,  # its help pages would load half of rich: 0.5 s instead of 0.2
    )
    prepare = _loader(COMMANDS, CommandContext(read_rows))

    def print_version(requested: bool) -> None:
        if requested:
            typer.echo(f"{name} {version}")
            raise typer.Exit

    def root(
        context: typer.Context,
        *,
        _version: Annotated[
            bool, typer.Option("--version", is_eager=True, callback=print_version, help="Print the version.")
        ] = False,
    ) -> None:
        prepare(context)

    application.callback()(root)
    return application


def add_client_commands(application: typer.Typer) -> None:
    """Add the client commands to a program."""
    _add(application, COMMANDS)
    for name, commands in GROUPS.items():
        group = typer.Typer(help=GROUP_SUMMARIES[name], no_args_is_help=True)
        group.callback()(_loader(commands))
        _add(group, commands)
        application.add_typer(group, name=name)


def run(application: typer.Typer) -> None:
    """Run a program; where a shell completes a command line, all commands are loaded first, for their options."""
    root = typer.main.get_command(application)
    if isinstance(root, TyperGroup) and any(COMPLETES.fullmatch(name) for name in os.environ):
        load_all(root)
        for group in root.commands.values():
            if isinstance(group, TyperGroup) and group.name in GROUPS:
                load_all(group)
    root()


def load(group: TyperGroup, name: str, command: Command) -> None:
    """Give a command of a group the options, the help page and the body of its function, whose module is imported, and
    the option of all client commands."""
    from relevance_bayes.cli.options import in_project  # which imports the client, as the commands do

    single, of_all = (typer.Typer(add_completion=False, rich_markup_mode=None) for _ in range(2))
    single.command(name)(getattr(import_module(f"relevance_bayes.cli.{command.module}"), command.function))
    of_all.command(name)(in_project)
    loaded, listed = typer.main.get_command(single), group.commands[name]
    listed.params = [*loaded.params, *typer.main.get_command(of_all).params]
    listed.callback, listed.help = loaded.callback, loaded.help


def load_all(group: TyperGroup) -> None:
    """Load all commands of a program, or of one of its groups."""
    for name, command in GROUPS.get(group.name or "", COMMANDS).items():
        if name in group.commands:
            load(group, name, command)


def _add(application: typer.Typer, commands: Mapping[str, Command]) -> None:
    for name, command in commands.items():
        application.command(name, help=command.summary)(_not_loaded)


def _not_loaded() -> None:
    """The body of a command until it is loaded."""


def _loader(
    commands: Mapping[str, Command], context_object: CommandContext | None = None
) -> Callable[[typer.Context], None]:
    """The callback of a group, which loads the command that is used."""

    def prepare(context: typer.Context) -> None:
        context.obj = context_object or context.obj
        group, name = context.command, context.invoked_subcommand or ""
        if isinstance(group, TyperGroup) and (command := commands.get(name)) is not None:
            load(group, name, command)

    return prepare


application = new_application(
    "relevance-client",
    "Calibrated predictions from sparse Bayesian models, by a running service.",
    "RELEVANCE_URL is the address of the service, RELEVANCE_API_KEY its key, RELEVANCE_PROJECT a shared project.",
)
add_client_commands(application)
