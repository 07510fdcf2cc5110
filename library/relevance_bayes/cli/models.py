"""`relevance models`, `versions`, `annotate`, `lineage` and `statistics`: models and their versions."""

from collections.abc import Callable, Mapping, Sequence
from itertools import islice
from typing import Annotated

import typer

from relevance_bayes.cli.connection import service
from relevance_bayes.cli.console import echo
from relevance_bayes.cli.options import HERE, AsJson, Tag, Url, Version
from relevance_bayes.cli.rendering import cell_text, number, print_facts, print_json, print_list, print_table, time_text
from relevance_bayes.cli.versions import imported_text, measured_text, show_version, tags_text
from relevance_bayes.client import Client
from relevance_bayes.client.http import reference
from relevance_bayes.client.registry import AnnotationChange
from relevance_bayes.client.responses import VersionBase
from relevance_bayes.records.functions import RelevanceVector
from relevance_bayes.records.models import Model


def annotate(
    name: Annotated[str, typer.Argument(metavar="MODEL", help="A model, or a version of it: MODEL@ALIAS or MODEL@3.")],
    *,
    description: Annotated[
        str | None, typer.Option(metavar="TEXT", help="The description; an empty text removes it.")
    ] = None,
    tag: Annotated[list[str] | None, typer.Option(metavar="NAME:VALUE", help="A tag to set. May be repeated.")] = None,
    untag: Annotated[list[str] | None, typer.Option(metavar="NAME", help="A tag to remove. May be repeated.")] = None,
    as_json: AsJson = False,
    url: Url = HERE,
) -> None:
    """Describe and tag MODEL, or one of its versions."""
    tags: dict[str, str | None] = {**dict.fromkeys(untag or ()), **read_tags(tag or (), "--tag")}
    given = AnnotationChange(description, tags or None)
    with service(url) as client:
        changed = (
            client.registry.annotate(name, given)
            if reference(name).version is None
            else client.registry.annotate_version(name, given)
        )
        if as_json:
            print_json(changed)
            return
        echo(f"{name}: {changed.description or 'no description'}; {tags_text(changed.tags) or 'no tags'}.")


def lineage(
    name: Annotated[str, typer.Argument(metavar="MODEL", help="A version of a model: MODEL@ALIAS or MODEL@3.")],
    *,
    as_json: AsJson = False,
    url: Url = HERE,
) -> None:
    """Show the data, the request and the job of a version."""
    with service(url) as client:
        reported = client.registry.lineage(name)
        if as_json:
            print_json(reported)
            return
        dataset, parent = reported.dataset, reported.parent
        request = "; ".join(f"{name}: {value}" for name, value in (reported.request or {}).items() if value is not None)
        print_facts(
            [
                ("model", f"{reported.model}, version {reported.version}"),
                ("recorded", time_text(reported.created_at)),
                (
                    "dataset",
                    f"{dataset.id} ({dataset.name if dataset.exists else 'deleted'})",
                ),
                ("content", f"sha256:{dataset.digest}"),
                ("job", reported.job_id),
                ("imported", imported_text(reported.imported)),
                (
                    "request",
                    request or None,
                ),
                (
                    "parent",
                    None if parent is None else f"version {parent.version}{'' if parent.exists else ' (deleted)'}",
                ),
                ("software", reported.software_version),
            ]
        )


def statistics(
    name: Annotated[str, typer.Argument(metavar="MODEL", help="A version of a model: MODEL@ALIAS or MODEL@3.")],
    *,
    as_json: AsJson = False,
    url: Url = HERE,
) -> None:
    """Show requests, rows, errors and latencies of a version.

    They are counted by the process of the service that responds.
    """
    with service(url) as client:
        reported = client.registry.statistics(name)
        if as_json:
            print_json(reported)
            return
        outside, answered = reported.outside_support, reported.requests - reported.errors
        print_facts(
            [
                ("model", f"{reported.model}, version {reported.version}"),
                ("counted since", time_text(reported.since)),
                ("last request", "none" if reported.last_request_at is None else time_text(reported.last_request_at)),
                ("requests", f"{reported.requests:,}, of which {reported.errors:,} were refused or failed"),
                ("rows", f"{reported.rows:,}"),
                ("outside support", None if outside is None else f"{outside.share:.1%} of {outside.of:,} rows"),
                ("time", f"{1e3 * reported.latency.seconds / answered:.3g} ms a request" if answered else None),
                *(
                    (f"  {_span(one.upper_bound)}", f"{one.requests:,}")
                    for one in reported.latency.buckets
                    if one.requests
                ),
            ]
        )


def read_tags(given: Sequence[str], option: str) -> dict[str, str]:
    """Return the tags of texts NAME:VALUE; raises typer.BadParameter."""
    pairs = [text.partition(":") for text in given]
    if wrong := [text for text, (_, colon, _) in zip(given, pairs, strict=True) if not colon]:
        raise typer.BadParameter(f"{wrong[0]} is not NAME:VALUE", param_hint=option)
    return {name: value for name, _, value in pairs}


def _span(at_most: float | None) -> str:
    return "longer" if at_most is None else f"{1e3 * at_most:g} ms at most"


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
