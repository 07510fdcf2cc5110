"""`relevance annotate`, `lineage` and `statistics`: what is said of versions, where they come from, who asks."""

from collections.abc import Sequence

import typer

from relevance_bayes.cli.console import echo
from relevance_bayes.cli.rendering import print_facts, print_json, time_text
from relevance_bayes.cli.versions import imported_text, tags_text
from relevance_bayes.client import Relevance
from relevance_bayes.client.paths import reference
from relevance_bayes.client.registry import AnnotationChange


def read_tags(said: Sequence[str], option: str) -> dict[str, str]:
    """NAME:VALUE each; raises typer.BadParameter."""
    pairs = [text.partition(":") for text in said]
    if wrong := [text for text, (_, colon, _) in zip(said, pairs, strict=True) if not colon]:
        raise typer.BadParameter(f"{wrong[0]} is not NAME:VALUE", param_hint=option)
    return {name: value for name, _, value in pairs}


def annotate(client: Relevance, name: str, said: AnnotationChange, *, as_json: bool) -> None:
    """Change what is said of a model, or of a version."""
    changed = (
        client.registry.annotate(name, said)
        if reference(name).version is None
        else client.registry.annotate_version(name, said)
    )
    if as_json:
        print_json(changed)
        return
    echo(f"{name}: {changed.description or 'no description'}; {tags_text(changed.tags) or 'no tags'}.")


def show_lineage(client: Relevance, name: str, *, as_json: bool) -> None:
    """Where a version comes from."""
    told = client.registry.lineage(name)
    if as_json:
        print_json(told)
        return
    parent = told.parent
    print_facts(
        [
            ("model", f"{told.model}, version {told.version}"),
            ("recorded", time_text(told.created_at)),
            ("dataset", f"{told.dataset.id} ({told.dataset.name if told.dataset.exists else 'deleted'})"),
            ("content", f"sha256:{told.dataset.digest}"),
            ("job", told.job_id),
            ("imported", imported_text(told.imported)),
            ("asked for", "; ".join(f"{k}: {v}" for k, v in (told.request or {}).items() if v is not None) or None),
            ("after", None if parent is None else f"version {parent.version}{'' if parent.exists else ' (deleted)'}"),
            ("program", told.software_version),
        ]
    )


def show_statistics(client: Relevance, name: str, *, as_json: bool) -> None:
    """What a version was asked for."""
    told = client.registry.statistics(name)
    if as_json:
        print_json(told)
        return
    outside, answered = told.outside_support, told.requests - told.errors
    print_facts(
        [
            ("model", f"{told.model}, version {told.version}"),
            ("counted since", time_text(told.since)),
            ("last request", "none" if told.last_request_at is None else time_text(told.last_request_at)),
            ("requests", f"{told.requests:,}, of which {told.errors:,} were refused or failed"),
            ("rows", f"{told.rows:,}"),
            ("outside support", None if outside is None else f"{outside.share:.1%} of {outside.of:,} rows"),
            ("time", f"{1e3 * told.latency.seconds / answered:.3g} ms a request" if answered else None),
            *((f"  {_span(one.upper_bound)}", f"{one.requests:,}") for one in told.latency.buckets if one.requests),
        ]
    )


def _span(at_most: float | None) -> str:
    return "longer" if at_most is None else f"{1e3 * at_most:g} ms at most"
