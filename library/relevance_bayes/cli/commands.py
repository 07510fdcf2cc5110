"""The table of all client commands: a row each, and the programs that are made of it."""

import os
import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Annotated, ParamSpec  # noqa: TID251 - help loads neither the client nor its records

import typer
from typer.core import TyperCommand, TyperGroup

from relevance_bayes import __version__
from relevance_bayes.cli.command_rows import (
    Action,
    Argument,
    Command,
    CommandRow,
    Deletion,
    Listing,
    counted,
    number_or_alias,
)
from relevance_bayes.cli.rendering import number, time_text
from relevance_bayes.cli.rows import CommandContext, RowReader, text_rows

if TYPE_CHECKING:
    from relevance_bayes.records.members import RemovedMember
    from relevance_bayes.records.webhooks import Delivery

P = ParamSpec("P")

MODEL = Argument("MODEL", "The name of the model.")
ALIAS = Argument("ALIAS", "The name of the alias, as in MODEL@ALIAS.")
WEBHOOK = Argument("WEBHOOK", "The id of the webhook.")
SUBJECT = Argument("SUBJECT", "The owner of the member's API keys, or that its tokens have.")
PROJECT = Argument("PROJECT", "The owner of the project.")
REASON = "The reason, which the history keeps."
INVITED = ("--invited", "List invitations that are not accepted yet.")


def _last_attempt(delivery: "Delivery") -> str:
    if not delivery.attempts:
        return ""
    last = delivery.attempts[-1]
    return f"{last.error or last.status} after {number(last.seconds)} s"


def _removed(removed: "RemovedMember", *, keeps_keys: bool) -> str:
    """Return the sentences on a member that was removed, and on its API keys."""
    state = "valid" if keeps_keys else "revoked"
    left = "is no member any more. What it created stays: see `relevance webhooks list`."
    keys = (f"The API key {key.name!r} ({key.prefix}...) is {state}." for key in removed.keys)
    return "\n".join([f"{removed.subject} {left}", *keys])


COMMANDS: Mapping[str, CommandRow] = {
    "try": Command("training", "try_file", "Show how well a column of FILE can be predicted."),
    "train": Command("training", "train", "Train a model on FILE and show how good it is."),
    "approximate": Command("training", "approximate", "Approximate a known sum of Gaussians by few of its terms."),
    "components": Command("training", "components", "Learn principal components, to score how new a row is."),
    "encode": Command("encodings", "encode", "Encode an image or a signal by few functions."),
    "predict": Command("predictions", "predict", "Predict for the rows of FILE."),
    "decode": Command("encodings", "decode", "Decode the image or the signal that MODEL encodes."),
    "jobs": Command("jobs", "jobs", "List jobs; show, follow, cancel or retry one."),
    "upload": Command("datasets", "upload", "Upload FILE as a dataset, and show its columns."),
    "datasets": Command("datasets", "datasets", "List datasets, or show one of them."),
    "models": Command("models", "models", "List models, or show a version of one."),
    "versions": Command("models", "versions", "List the versions of MODEL with their aliases and errors."),
    "annotate": Command("models", "annotate", "Describe and tag MODEL, or one of its versions."),
    "lineage": Command("models", "lineage", "Show the data, the request and the job of a version."),
    "statistics": Command("models", "statistics", "Show requests, rows, errors and latencies of a version."),
    "compare": Command("predictions", "compare", "Compare the predictions of two versions for FILE."),
    "export": Command("exports", "export", "Export a version of MODEL to a file."),
    "report": Command("exports", "report", "Write a report of a version of MODEL, an HTML file."),
    "evaluate": Command("evaluations", "evaluate", "Measure the predictions of MODEL on the targets in FILE."),
    "predict-dataset": Command(
        "batch_predictions", "predict_dataset", "Predict for all rows of a dataset in a batch job."
    ),
    "promote": Command("evaluations", "promote", "Move MODEL@ALIAS to VERSION if that is better on FILE."),
    "projects": Listing(
        summary="List the projects in which the API key may act.",
        flag=INVITED,
        items=lambda client, given: client.members.invitations() if given.flag else client.projects(),
        columns={
            "project": lambda one: one.name,
            "role": lambda one: one.role,
            "scopes": lambda one: ", ".join(one.scopes),
        },
        if_none="No projects.",
    ),
    "import": Command("exports", "import_version", "Import an exported version as the next one of a model."),
}

ALIASES: Mapping[str, CommandRow] = {
    "set": Action(
        summary="Point ALIAS of MODEL to VERSION.",
        arguments=(MODEL, ALIAS, Argument("VERSION", "The number of a version, or another alias of it.")),
        reason=REASON,
        flag=("--new", "Fail if there is such an alias already."),
        call=lambda client, given: client.aliases.move(
            given.arguments[0],
            given.arguments[1],
            number_or_alias(given.arguments[2]),
            reason=given.text,
            new=given.flag,
        ),
        text=lambda moved, _: f"{moved.model}@{moved.alias} is version {moved.version}.",
    ),
    "list": Listing(
        summary="List the aliases of MODEL.",
        arguments=(MODEL,),
        items=lambda client, given: client.aliases.all(*given.arguments),
        columns={
            "alias": lambda one: one.alias,
            "version": lambda one: str(one.version),
            "since": lambda one: time_text(one.moved_at),
            "by": lambda one: one.moved_by,
            "why": lambda one: one.reason or "",
        },
        if_none="No aliases.",
    ),
    "remove": Action(
        summary="Remove ALIAS of MODEL; its version and its history stay.",
        arguments=(MODEL, ALIAS),
        reason=REASON,
        call=lambda client, given: client.aliases.delete(*given.arguments, reason=given.text),
        text=lambda _, given: f"{'@'.join(given.arguments)} is removed.",
        has_json=False,
    ),
    "history": Listing(
        summary="List the moves of ALIAS of MODEL, newest first.",
        arguments=(MODEL, ALIAS),
        limited="The largest number of moves to list.",
        items=lambda client, given: client.aliases.history(*given.arguments),
        columns={
            "at": lambda one: time_text(one.at),
            "by": lambda one: one.by,
            "from": lambda one: str(one.from_version or "-"),
            "to": lambda one: str(one.to_version or "-"),
            "why": lambda one: one.reason or "",
        },
        if_none="No moves.",
    ),
}

WEBHOOKS: Mapping[str, CommandRow] = {
    "add": Command("project", "add", "Add a webhook at URL and show the secret of its messages."),
    "list": Listing(
        summary="List webhooks.",
        items=lambda client, _: client.webhooks.all(),
        columns={
            "webhook": lambda one: one.id,
            "url": lambda one: one.url,
            "events": lambda one: ", ".join(one.events),
            "": lambda one: "" if one.enabled else "disabled",
            "description": lambda one: one.description or "",
        },
        if_none="No webhooks.",
    ),
    "update": Command("project", "update", "Change WEBHOOK; its secret does not change."),
    "remove": Action(
        summary="Remove WEBHOOK and its deliveries.",
        arguments=(WEBHOOK,),
        call=lambda client, given: client.webhooks.delete(*given.arguments),
        text=lambda _, given: f"Webhook {given.arguments[0]} is removed.",
        has_json=False,
    ),
    "deliveries": Listing(
        summary="List the deliveries to WEBHOOK and their responses.",
        arguments=(WEBHOOK,),
        limited="The largest number of deliveries to list.",
        items=lambda client, given: client.webhooks.deliveries(*given.arguments),
        columns={
            "delivery": lambda one: one.id,
            "event": lambda one: one.type,
            "job": lambda one: one.job_id or "",
            "created": lambda one: time_text(one.created_at),
            "state": lambda one: one.state,
            "attempts": lambda one: str(len(one.attempts)),
            "last": _last_attempt,
        },
        if_none="No deliveries.",
    ),
    "test": Action(
        summary="Send WEBHOOK a signed test message.",
        arguments=(WEBHOOK,),
        call=lambda client, given: client.webhooks.test(*given.arguments),
        text=lambda made, given: (
            f"Delivery {made.id} is made: `relevance webhooks deliveries {given.arguments[0]}` shows what came back."
        ),
    ),
    "redeliver": Action(
        summary="Send DELIVERY to WEBHOOK again.",
        arguments=(WEBHOOK, Argument("DELIVERY", "The id of the delivery.")),
        call=lambda client, given: client.webhooks.redeliver(*given.arguments),
        text=lambda made, _: f"Delivery {made.id} is made again.",
    ),
}

MEMBERS: Mapping[str, CommandRow] = {
    "set": Command("project", "put", "Invite SUBJECT to the project, or change its role."),
    "accept": Action(
        summary="Accept the invitation to PROJECT.",
        arguments=(PROJECT,),
        call=lambda client, given: client.members.accept(*given.arguments),
        text=lambda one, _: f"The owner of the API key has the role {one.role} in the project {one.name}.",
    ),
    "leave": Action(
        summary="Leave PROJECT, or decline the invitation to it.",
        arguments=(PROJECT,),
        call=lambda client, given: client.members.leave(*given.arguments),
        text=lambda _, given: (
            f"The owner of the API key is no member of {given.arguments[0]}; the API keys that it made there are "
            "revoked."
        ),
        has_json=False,
    ),
    "list": Listing(
        summary="List the members of the project.",
        flag=INVITED,
        items=lambda client, given: client.members.all("invited" if given.flag else "member"),
        columns={
            "member": lambda one: one.subject,
            "role": lambda one: one.role,
            "since": lambda one: time_text(one.created_at),
        },
        if_none="No members.",
    ),
    "remove": Action(
        summary="Remove SUBJECT from the project.",
        details="The API keys that it has made there are revoked.",
        arguments=(SUBJECT,),
        flag=("--keep-keys", "Keep the API keys that the member has made in the project."),
        call=lambda client, given: client.members.delete(*given.arguments, keys="keep" if given.flag else "revoke"),
        text=lambda removed, given: _removed(removed, keeps_keys=given.flag),
    ),
}

DELETIONS: Mapping[str, CommandRow] = {
    "dataset": Deletion(
        summary="Delete DATASET; versions learned from it stay.",
        arguments=(Argument("DATASET", "The id of the dataset."),),
        named=lambda client, given: "dataset {0.name} ({0.rows:,} rows)".format(client.dataset(*given.arguments)),
        call=lambda client, given: client.delete_dataset(*given.arguments),
        text="Dataset {} is deleted.",
    ),
    "model": Deletion(
        summary="Delete MODEL with all versions and aliases.",
        arguments=(MODEL,),
        named=lambda client, given: (
            f"{given.arguments[0]} with {counted(client.model(*given.arguments).versions, 'version')}"
        ),
        call=lambda client, given: client.delete_model(*given.arguments),
        text="Model {} is deleted.",
    ),
    "version": Deletion(
        summary="Delete VERSION of MODEL, unless an alias points to it.",
        arguments=(MODEL, Argument("VERSION", "The number of the version.", int, min=1)),
        named=lambda _, given: "version {1} of {0}".format(*given.arguments),
        call=lambda client, given: client.delete_version(given.arguments[0], int(given.arguments[1])),
        text="Version {1} of {0} is deleted.",
    ),
    "prediction": Deletion(
        summary="Delete the batch prediction JOB with its file.",
        arguments=(Argument("JOB", "The id of a batch prediction that has ended."),),
        named=lambda client, given: (
            f"the batch prediction of {client.batch_predictions.get(*given.arguments).model} with its file"
        ),
        call=lambda client, given: client.batch_predictions.delete(*given.arguments),
        text="Batch prediction {} is deleted.",
    ),
}

OUTCOMES: Mapping[str, CommandRow] = {
    "record": Action(
        summary="Record predictions of MODEL that have row ids.",
        arguments=(MODEL, Argument("SHARE", "The share, from 0 (none) to 1.", float, min=0, max=1)),
        call=lambda client, given: client.outcomes.record(given.arguments[0], float(given.arguments[1])),
        text=lambda model, given: f"{given.arguments[0]} records {model.record:.4g} of predictions with row ids.",
    ),
    "send": Command("evaluations", "send", "Send the outcomes in FILE."),
    "show": Command("evaluations", "show", "Compare predictions of MODEL with what happened."),
    "alarms": Listing(
        summary="List the alarms of MODEL, newest first.",
        arguments=(MODEL,),
        limited="The largest number of alarms.",
        items=lambda client, given: client.outcomes.alarms(*given.arguments),
        columns={
            "raised": lambda one: time_text(one.raised_at),
            "version": lambda one: str(one.version),
            "statistic": lambda one: one.statistic.replace("_", " "),
            "is": lambda one: one.direction,
            "cleared": lambda one: "" if one.cleared_at is None else time_text(one.cleared_at),
        },
        if_none="No alarms.",
    ),
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
        context.obj = CommandContext(read_rows)
        _load_used(context)

    application.callback()(root)
    return application


def add_client_commands(application: typer.Typer) -> None:
    """Add the client commands to a program."""
    add_commands(application, COMMANDS)
    for name, commands in GROUPS.items():
        add_group(application, name, GROUP_SUMMARIES[name], commands)


def add_group(application: typer.Typer, name: str, summary: str, commands: Mapping[str, CommandRow]) -> None:
    """Add a group of commands to a program."""
    group = typer.Typer(help=summary, no_args_is_help=True)
    group.callback()(_load_used)
    add_commands(group, commands)
    application.add_typer(group, name=name)


def add_commands(application: typer.Typer, commands: Mapping[str, CommandRow]) -> None:
    """Add commands to a program or a group, whose functions are loaded when they are used."""
    for name, row in commands.items():
        application.command(name, help=row.summary)(_not_loaded(row))


def run(application: typer.Typer) -> None:
    """Run a program; where a shell completes a command line, all commands are loaded first, for their options."""
    root = typer.main.get_command(application)
    if isinstance(root, TyperGroup) and any(COMPLETES.fullmatch(name) for name in os.environ):
        load_all(root)
    root()


def load_all(group: TyperGroup) -> None:
    """Load all commands of a program, or of one of its groups."""
    for name, command in group.commands.items():
        if isinstance(command, TyperGroup):
            load_all(command)
        else:
            _load(group, name)


def _load_used(context: typer.Context) -> None:
    """Load the command of a group that is used."""
    if isinstance(context.command, TyperGroup) and context.invoked_subcommand is not None:
        _load(context.command, context.invoked_subcommand)


def _load(group: TyperGroup, name: str) -> None:
    """Give a command the options, the help page and the body of its function, and the option of all that act in a
    project; a group, and a command that is loaded, stay as they are."""
    listed = group.commands.get(name)
    row = None if listed is None else vars(listed.callback).get("row")
    if listed is None or row is None:
        return
    loaded = _command(name, row.load())
    listed.params, listed.callback, listed.help = loaded.params, loaded.callback, loaded.help
    if row.acts_in_project:
        from relevance_bayes.cli.options import in_project  # which imports the client, as the commands do

        listed.params = [*listed.params, *_command(name, in_project).params]


def _command(name: str, body: Callable[P, None]) -> TyperCommand:
    """Return a function as a command."""
    single = typer.Typer(add_completion=False, rich_markup_mode=None)
    single.command(name)(body)
    command = typer.main.get_command(single)
    assert isinstance(command, TyperCommand)
    return command


def _not_loaded(row: CommandRow) -> Callable[[], None]:
    """Return the body of a command until it is loaded, which has its row."""

    def body() -> None:
        raise RuntimeError(f"the command is not loaded: {row.summary}")

    vars(body)["row"] = row
    return body


application = new_application(
    "relevance-client",
    "Calibrated predictions from sparse Bayesian models, by a running service.",
    "RELEVANCE_URL is the address of the service, RELEVANCE_API_KEY its key, RELEVANCE_PROJECT a shared project.",
)
add_client_commands(application)
