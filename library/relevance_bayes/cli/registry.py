"""`relevance annotate`, `lineage` and `statistics`: descriptions and tags, origin and usage of versions."""

from collections.abc import Sequence
from typing import Annotated

import typer

from relevance_bayes.cli.connection import service
from relevance_bayes.cli.console import echo
from relevance_bayes.cli.options import HERE, AsJson, Url
from relevance_bayes.cli.rendering import print_facts, print_json, time_text
from relevance_bayes.cli.versions import imported_text, tags_text
from relevance_bayes.client.paths import reference
from relevance_bayes.client.registry import AnnotationChange


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
