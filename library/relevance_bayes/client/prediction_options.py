"""Options of predictions in formats other than JSON."""

from collections.abc import Mapping, Sequence
from typing import Literal, TypedDict, Unpack

from relevance_bayes.client.drivers import Query
from relevance_bayes.client.json import dumps, exclude_none, listed_priors
from relevance_bayes.records.predictions import Nulls, UnknownCategories
from relevance_bayes.records.values import Json, Label


class SharedOptions(TypedDict, total=False):
    """Options of all predictions, as of `Client.predict`; `on_error="per_row"` predicts for all valid rows."""

    interval: float | None
    on_error: Literal["fail", "per_row"] | None
    class_priors: Mapping[Label, float] | None
    costs: Sequence[Sequence[float]] | None
    reject_cost: float | None
    components: int | None
    unknown_categories: UnknownCategories | None
    nulls: Nulls | None


class PredictionOptions(SharedOptions, total=False):
    """Options of predictions in formats other than JSON; `outputs` are the figures to predict."""

    outputs: Sequence[str] | None


def json_options(**options: Unpack[PredictionOptions]) -> dict[str, Json]:
    """Return options as members of a request in JSON."""
    outputs, costs = options.get("outputs"), options.get("costs")
    return exclude_none(
        {
            "interval": options.get("interval"),
            "outputs": None if outputs is None else [*outputs],
            "on_error": options.get("on_error"),
            "class_priors": listed_priors(options.get("class_priors")),
            "costs": None if costs is None else [list(row) for row in costs],
            "reject_cost": options.get("reject_cost"),
            "components": options.get("components"),
            "unknown_categories": options.get("unknown_categories"),
            "nulls": options.get("nulls"),
        }
    )


def query_of(**options: Unpack[PredictionOptions]) -> Query:
    """Return options as parameters of a URL; objects, and lists of lists, are JSON."""
    members = json_options(**options)
    outputs = options.get("outputs")
    written: dict[str, str | int | float | list[str] | None] = {
        name: dumps(members[name]) for name in ("class_priors", "costs") if name in members
    }
    return {
        "interval": options.get("interval"),
        "outputs": None if outputs is None else [*outputs],
        "on_error": options.get("on_error"),
        "reject_cost": options.get("reject_cost"),
        "components": options.get("components"),
        "unknown_categories": options.get("unknown_categories"),
        "nulls": options.get("nulls"),
        **written,
    }
