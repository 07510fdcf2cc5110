"""`relevance outcomes`: what happened after predictions, and what it shows of a model."""

from collections.abc import Callable, Mapping
from itertools import islice
from pathlib import Path
from typing import Annotated

import typer

from relevance_bayes.cli.connection import service
from relevance_bayes.cli.console import echo, refuse
from relevance_bayes.cli.options import HERE, AsJson, Url, file_argument, row_reader, with_options
from relevance_bayes.cli.readings import read_batches
from relevance_bayes.cli.remedies import in_options
from relevance_bayes.cli.rendering import number, print_json, print_list, time_text
from relevance_bayes.cli.rows import Row, RowOptions
from relevance_bayes.client.responses import SupervisedVersion
from relevance_bayes.records.errors import RelevanceError
from relevance_bayes.records.outcomes import BucketWidth, OutcomeBucket, OutcomesReceived
from relevance_bayes.records.values import ColumnKind, Label

BATCH = 10_000
"""The number of outcomes in one request."""

MAX_IDS_SHOWN = 5

ModelName = Annotated[str, typer.Argument(metavar="MODEL", help="The name of the model.")]


@with_options
def send(
    context: typer.Context,
    model: ModelName,
    file: Annotated[Path, file_argument("Rows with an id and the target of MODEL.")],
    *,
    row_ids: Annotated[str, typer.Option(metavar="COLUMN", help="The column with the ids.")] = "row_id",
    options: RowOptions,
    as_json: AsJson = False,
    url: Url = HERE,
) -> None:
    """Send the outcomes in FILE."""
    with service(url) as client:
        version = client.version(model)
        kinds: Mapping[str, ColumnKind] = {row_ids: "category", version.target: _kind(version)}
        received = OutcomesReceived(0, 0, 0, 0, ())
        try:
            reader = row_reader(context)
            for rows in read_batches(reader, file, kinds, size=BATCH, options=options, prompts=not as_json):
                outcomes = {str(_value(row, row_ids)): _value(row, version.target) for row in rows}
                received = _sum(received, client.outcomes.send(model, outcomes))
        except RelevanceError as unreadable:
            refuse(f"{file}: {in_options(unreadable.detail)}")
        if as_json:
            print_json(received)
            return
        echo(
            f"{received.recorded:,} outcomes are recorded; {received.repeated:,} were known,"
            f" {received.conflicting:,} with another value; {received.unknown:,} have no recorded prediction."
        )
        if received.unknown_ids:
            echo(f"Without a prediction: {', '.join(received.unknown_ids[:MAX_IDS_SHOWN])} ...")


COLUMNS: Mapping[str, Callable[[OutcomeBucket], str]] = {
    "from": lambda one: time_text(one.start),
    "version": lambda one: str(one.version),
    "outcomes": lambda one: f"{one.outcomes:,}",
    "log score": lambda one: number(one.log_score),
    "expected": lambda one: number(one.expected_log_score),
    "coverage": lambda one: ", ".join(f"{level.percent} %: {level.coverage:.1%}" for level in one.coverage),
    "accuracy": lambda one: "" if one.accuracy is None else f"{one.accuracy:.1%}",
}


def show(
    model: ModelName,
    *,
    version: Annotated[int | None, typer.Option(min=1, show_default="all", help="The number of a version.")] = None,
    bucket: Annotated[BucketWidth, typer.Option(help="The time of which outcomes are counted together.")] = "day",
    limit: Annotated[int, typer.Option(help="The largest number of lines.", min=1)] = 20,
    as_json: AsJson = False,
    url: Url = HERE,
) -> None:
    """Compare predictions of MODEL with what happened."""
    with service(url) as client:
        found = client.outcomes.over_time(model, version=version, bucket=bucket)
        print_list(islice(found, limit), COLUMNS, if_none="No outcomes.", as_json=as_json)


def _kind(version: SupervisedVersion) -> ColumnKind:
    """Return the kind of a version's target."""
    classes = version.classes
    if not classes:
        return "number"
    return "boolean" if isinstance(classes[0], bool) else "category" if isinstance(classes[0], str) else "number"


def _value(row: Row, column: str) -> Label:
    """Return the value of a row in a column; raises typer.Exit(1) where there is none."""
    if (found := row.get(column)) is None:
        refuse(f"A row has no value in the column {column!r}.")
    return found


def _sum(one: OutcomesReceived, other: OutcomesReceived) -> OutcomesReceived:
    return OutcomesReceived(
        one.recorded + other.recorded,
        one.repeated + other.repeated,
        one.conflicting + other.conflicting,
        one.unknown + other.unknown,
        (*one.unknown_ids, *other.unknown_ids),
    )
