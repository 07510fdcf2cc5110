"""`relevance models` and `versions`: lists of models and versions."""

from collections.abc import Callable, Mapping
from itertools import islice
from typing import Annotated

import typer

from relevance_bayes.cli.connection import service
from relevance_bayes.cli.options import HERE, AsJson, Tag, Url, Version
from relevance_bayes.cli.registry import read_tags
from relevance_bayes.cli.rendering import cell_text, number, print_json, print_list, print_table, time_text
from relevance_bayes.cli.versions import measured_text, show_version, tags_text
from relevance_bayes.client import Client
from relevance_bayes.client.responses import VersionBase
from relevance_bayes.records.functions import RelevanceVector
from relevance_bayes.records.models import Model


def models(
    name: Annotated[str | None, typer.Argument(metavar="MODEL", help="A model to show, or MODEL@ALIAS.")] = None,
    *,
    version: Version = None,
    vectors: Annotated[bool, typer.Option("--relevance-vectors", help="List the functions of the version.")] = False,
    tag: Tag = None,
    limit: Annotated[int, typer.Option(help="The largest number of models, or of functions, to list.", min=1)] = 20,
    as_json: AsJson = False,
    url: Url = HERE,
) -> None:
    """List models, or show a version of one."""
    with service(url) as client:
        if name is None:
            found = islice(client.models(tags=read_tags(tag or (), "--tag")), limit)
            print_list(found, MODELS, if_none="No models.", as_json=as_json)
        elif vectors:
            list_vectors(client, name, version, limit=limit, as_json=as_json)
        else:
            learned = client.version(name, version, of=VersionBase)
            print_json(learned) if as_json else show_version(learned)


def versions(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="The name of the model.")],
    *,
    tag: Tag = None,
    limit: Annotated[int, typer.Option(help="The largest number of versions to list.", min=1)] = 20,
    as_json: AsJson = False,
    url: Url = HERE,
) -> None:
    """List the versions of MODEL with their aliases and errors."""
    with service(url) as client:
        tags = read_tags(tag or (), "--tag")
        versions = islice(client.versions(model, tags=tags), limit)
        aliases = {} if as_json else client.model(model).aliases
        columns: dict[str, Callable[[VersionBase], str]] = {
            "version": lambda one: str(one.version),
            "aliases": lambda one: ", ".join(alias for alias, number in aliases.items() if number == one.version),
            "functions": lambda one: f"{one.functions:,}",
            "rows": lambda one: f"{one.rows:,}",
            "dataset": lambda one: one.dataset.id,
            "measured": measured_text,
            "tags": lambda one: tags_text(one.tags),
            "description": lambda one: one.description or "",
            "created": lambda one: time_text(one.created_at),
        }
        print_list(versions, columns, if_none="No versions.", as_json=as_json)


MODELS: Mapping[str, Callable[[Model], str]] = {
    "model": lambda one: one.name,
    "task": lambda one: one.task,
    "target": lambda one: one.target or "",
    "inputs": lambda one: ", ".join(one.inputs),
    "versions": lambda one: str(one.versions),
    "aliases": lambda one: ", ".join(f"{alias}: {number}" for alias, number in one.aliases.items()),
    "tags": lambda one: tags_text(one.tags),
    "created": lambda one: time_text(one.created_at),
}


def list_vectors(client: Client, name: str, version: str | None, *, limit: int, as_json: bool) -> None:
    """Print the functions that a version keeps, largest weights first."""
    learned = client.version(name, version, of=VersionBase)
    vectors = tuple(islice(client.relevance_vectors(learned.model, learned.version, sort="weight"), limit))
    if as_json:
        print_json(vectors)
        return
    inputs = tuple(column.name for column in learned.inputs)
    classes = [cell_text(weight.label) for weight in vectors[0].weight_means] if vectors else []
    weights = [f"weight for {label}" for label in classes] or ["weight"]
    headings = ("function", "row", *inputs, *weights, "sd", "alpha", "gamma")
    print_table(
        headings, (_vector(vector, inputs) for vector in vectors), if_none="No functions: it predicts a constant."
    )


def _vector(vector: RelevanceVector, inputs: tuple[str, ...]) -> tuple[str, ...]:
    cells = vector.inputs or {}
    weights = tuple(weight.mean for weight in vector.weight_means) or (vector.weight_mean,)
    return (
        _function(vector),
        "" if vector.row is None else f"{vector.row + 1}{' (moved)' if vector.optimised else ''}",
        *map(cell_text, map(cells.get, inputs)),
        *map(number, (*weights, vector.weight_sd, vector.alpha, vector.gamma)),
    )


def _function(vector: RelevanceVector) -> str:
    """Return the kind of a function, and its location and scale in each of its inputs."""
    name = vector.kind if vector.input is None else f"{vector.kind} {vector.input}"
    shape = [
        f"{given} {number(value)}{f' of {one.input}' if len(vector.shape) > 1 else ''}"
        for one in vector.shape
        for given, value in (("at", one.location), ("over", one.scale), ("frequency", one.frequency))
        if value is not None
    ]
    phase = [] if vector.phase is None else [f"phase {number(vector.phase)}"]
    member = [] if vector.member is None else [f"member {vector.member}"]
    noise = ["of the log noise"] if vector.function == "log_noise" else []
    return ", ".join([name, *shape, *phase, *member, *noise])
