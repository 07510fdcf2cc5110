"""`relevance annotate`, `lineage` and `statistics`: what is said of versions, where they come from, who asks."""

from collections.abc import Sequence

import typer

from relevance_bayes.cli.console import echo
from relevance_bayes.cli.rendering import print_facts, print_json, time_text
from relevance_bayes.cli.versions import imported_text, tags_text
from relevance_bayes.client import Relevance
from relevance_bayes.client.paths import reference
from relevance_bayes.client.registry import AnnotationChange


def read_tags(given: Sequence[str], option: str) -> dict[str, str]:
    """NAME:VALUE each; raises typer.BadParameter."""
    pairs = [text.partition(":") for text in given]
    if wrong := [text for text, (_, colon, _) in zip(given, pairs, strict=True) if not colon]:
        raise typer.BadParameter(f"{wrong[0]} is not NAME:VALUE", param_hint=option)
    return {name: value for name, _, value in pairs}


def annotate(client: Relevance, name: str, given: AnnotationChange, *, as_json: bool) -> None:
    """Change what is said of a model, or of a version."""
    changed = (
        client.registry.annotate(name, given)
        if reference(name).version is None
        else client.registry.annotate_version(name, given)
    )
    if as_json:
        print_json(changed)
        return
    echo(f"{name}: {changed.description or 'no description'}; {tags_text(changed.tags) or 'no tags'}.")


def show_lineage(client: Relevance, name: str, *, as_json: bool) -> None:
    """Where a version comes from."""
    reported = client.registry.lineage(name)
    if as_json:
        print_json(reported)
        return
    parent = reported.parent
    print_facts(
        [
            ("model", f"{reported.model}, version {reported.version}"),
            ("recorded", time_text(reported.created_at)),
            ("dataset", f"{reported.dataset.id} ({reported.dataset.name if reported.dataset.exists else 'deleted'})"),
            ("content", f"sha256:{reported.dataset.digest}"),
            ("job", reported.job_id),
            ("imported", imported_text(reported.imported)),
            ("asked for", "; ".join(f"{k}: {v}" for k, v in (reported.request or {}).items() if v is not None) or None),
            ("after", None if parent is None else f"version {parent.version}{'' if parent.exists else ' (deleted)'}"),
            ("program", reported.software_version),
        ]
    )


def show_statistics(client: Relevance, name: str, *, as_json: bool) -> None:
    """Print the usage statistics of a version."""
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
            *((f"  {_span(one.upper_bound)}", f"{one.requests:,}") for one in reported.latency.buckets if one.requests),
        ]
    )


def _span(at_most: float | None) -> str:
    return "longer" if at_most is None else f"{1e3 * at_most:g} ms at most"
