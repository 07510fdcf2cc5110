"""The report of a version: what the page shows of it, as one HTML file that needs no server."""

import json
import sys
from base64 import b64encode
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from html import escape
from operator import itemgetter
from typing import TypeAlias

from pydantic import TypeAdapter

from app import __version__
from app.datasets.service import Datasets, Row
from app.formats.images import image_bytes
from app.http.negotiation import to_json
from app.http.rate_limits import charge_rows, check_rows
from app.prediction import ServedVersion
from app.prediction.served_versions import ServedVersions
from app.registry.catalogue import Catalogue
from app.registry.records import Version
from app.tasks.responses import version_record
from app.web.figures import (
    MAX_AVERAGED,
    MAX_CELLS,
    MIN_AVERAGED,
    NODES,
    Slice,
    component_rows,
    effects_of,
    predictable_rows,
    slices_of,
    surface_of,
)
from app.web.static_files import linked, page
from relevance_bayes.core.types import Array
from relevance_bayes.records.errors import NotFoundError
from relevance_bayes.records.functions import RelevanceVector
from relevance_bayes.records.json import Page
from relevance_bayes.records.models import Model, Reference
from relevance_bayes.records.values import Json
from relevance_bayes.records.versions import KnownVersion, Lineage
from relevance_bayes.tasks.components.report import ComponentsReport
from relevance_bayes.tasks.images.report import ImageModel
from relevance_bayes.tasks.supervised.report import SupervisedReport

ENTRY = "report/main.js"

MAX_DATA_BYTES = 700_000
"""The most bytes of data; with the page's modules, a report has less than 1 MB."""

_SPECIAL = {ord(character): f"\\u{ord(character):04x}" for character in "<>&\u2028\u2029"}
"""Characters of JSON that could end its element, or a line of a script."""


@dataclass(frozen=True)
class ReportSummary:
    """A report where scripts don't run: a title, facts, and metrics by the rows on which they were measured."""

    title: str
    facts: Sequence[tuple[str, str]]
    metrics: Mapping[str, Mapping[str, float]]


@dataclass(frozen=True)
class _Frame:
    """All that reports have in common."""

    style: str
    script: str
    icon: str
    licences: str

    @property
    def policy(self) -> str:
        """Nothing but this style and this script, and images that are part of the file."""
        return (
            "default-src 'none'; base-uri 'none'; form-action 'none'; img-src data:; "
            f"script-src {_source(self.script)}; style-src {_source(self.style)}; "
            "require-trusted-types-for 'script'; trusted-types 'none'"
        )


def embedded_json(value: Json) -> str:
    """Return a value as JSON for the content of an element `script`, which no text in it can end."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":")).translate(_SPECIAL)


def report_policy() -> str:
    """Return the policy of a report that a server sends: that of the file, without the origin of the server."""
    return f"{_frame().policy}; frame-ancestors 'none'; sandbox allow-scripts"


def _report_document(summary: ReportSummary, data: str) -> bytes:
    """Return the file, of data from `embedded_json`."""
    frame, title = _frame(), escape(summary.title)
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{frame.policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="generator" content="Relevance {__version__}">
<title>{title} – Relevance</title>
<link rel="icon" href="{frame.icon}">
<style>{frame.style}</style>
</head>
<body>
<noscript><main>{"".join(_without_script(summary))}</main></noscript>
<div id="page"></div>
<script type="application/json" id="embedded">{data}</script>
<script>{frame.script}</script>
<script type="text/plain">{frame.licences}</script>
</body>
</html>
""".encode()


def _without_script(summary: ReportSummary) -> Iterator[str]:
    yield f"<h1>{escape(summary.title)}</h1><dl>"
    for name, text in summary.facts:
        yield f"<dt>{escape(name)}</dt><dd>{escape(text)}</dd>"
    yield "</dl>"
    for measured, metrics in summary.metrics.items():
        rows = "".join(f"<tr><th>{escape(name)}</th><td>{value:.6g}</td></tr>" for name, value in metrics.items())
        yield f"<table><caption>{escape(measured)}</caption>{rows}</table>"
    yield "<p>The figures of this report need JavaScript, and nothing else.</p>"


@cache
def _frame() -> _Frame:
    files = {name: file.content.decode() for name, file in page().files.items()}
    icon = b64encode(files["icon.svg"].encode()).decode()
    script = linked({name: text for name, text in files.items() if name.endswith(".js")}, ENTRY)
    return _Frame(files["page.css"], script, f"data:image/svg+xml;base64,{icon}", escape(files["vendor/LICENCES.txt"]))


def _source(content: str) -> str:
    return f"'sha256-{b64encode(sha256(content.encode()).digest()).decode()}'"


Members: TypeAlias = dict[str, Json]

MAX_VECTORS = 10
"""The functions with the largest weights that the view lists."""

MAX_PLACES = 300
"""The most rows of the data, and functions, that figures of one or two numbers draw."""

MAX_ITEMS = 100
"""The most items of a list, the first ones."""

MAX_PER_MEMBER = 20
"""The most members, and items of a list of one of them."""

MAX_STEPS = 500
"""The most items of a list in the diagnostics, which have at most so many steps of a fit."""

MAX_TEXT = 500
"""The most characters of a text."""

DIGITS = 6
"""The significant digits of predictions."""

MEASURED = {"holdout": "held-out rows", "validation": "cross-validation", "leave_one_out": "leave-one-out"}

_VECTORS: TypeAdapter[Page[RelevanceVector]] = TypeAdapter(Page[RelevanceVector])
_SLICES: TypeAdapter[tuple[Slice, ...]] = TypeAdapter(tuple[Slice, ...])


@dataclass(frozen=True)
class Report:
    """A file, and the version that it is about."""

    model: str
    version: int
    content: bytes


@dataclass(frozen=True)
class Reporting:
    """Reports of versions: the responses of the API that the view of a version needs, in a file with the view."""

    catalogue: Catalogue
    datasets: Datasets
    versions: ServedVersions

    def of(self, owner: str, reference: Reference) -> Report:
        """Return the report of a version; raises NotFoundError, RateLimitError.

        What does not fit into MAX_DATA_BYTES after all that is more important is left out.
        """
        check_rows()
        served = self.versions.version(owner, *reference)
        found = served.version
        reference = Reference(found.model, found.number)
        version = self.catalogue.version(owner, reference)
        lineage, model = self.catalogue.lineage(owner, reference), self.catalogue.model(owner, found.model)
        responses: Members = {path_of(reference): bounded_version(version)}
        data: Members = {
            "model": found.model,
            "version": found.number,
            "service": __version__,
            "origin": _origin(lineage, model) | {"description": version.annotation.description},
            "responses": responses,
        }
        space = MAX_DATA_BYTES - _size(data)
        for name, value in self._parts(owner, reference, served):
            size = _size(value)
            if size <= space:
                space -= size
                (responses if name.startswith("v1/") else data)[name] = value
        content = _report_document(_summary(version), embedded_json(data))
        return Report(found.model, found.number, content)

    def _parts(self, owner: str, reference: Reference, served: ServedVersion) -> Iterator[tuple[str, Json]]:
        """Yield what is not part of the version itself, the most important first: responses by their paths, and members
        of the data by their names.
        """
        path = path_of(reference)
        averaged = self._rows(
            owner, served, min(MAX_AVERAGED, max(MIN_AVERAGED, MAX_CELLS // (len(served.columns) or 1)))
        )
        places = self._rows(owner, served, MAX_PLACES) if _has_places(served) else ()
        yield from _predictions(served, averaged, places)
        if (baseline := served.version.report.baseline) is not None:
            yield f"{path}/baseline", _cut(json.loads(to_json(baseline)))
        yield self._vectors(owner, reference, MAX_VECTORS)
        with suppress(NotFoundError):
            diagnostics = json.loads(to_json(self.catalogue.diagnostics(owner, reference)))
            yield f"{path}/diagnostics", _cut(diagnostics, MAX_STEPS)
        if isinstance(served.model, ImageModel):
            yield "image", _drawn(served.model.image(), served.model.peak)
            with suppress(NotFoundError):
                pixels = self.datasets.pixels(owner, served.version.report.dataset_id)
                yield "original", _drawn(pixels, served.model.peak)
        if places and served.model.target is not None:
            yield f"v1/datasets/{served.version.report.dataset_id}/rows", _places(served, places)
            yield self._vectors(owner, reference, MAX_PLACES)

    def _vectors(self, owner: str, reference: Reference, limit: int) -> tuple[str, Json]:
        page = self.catalogue.vectors(owner, reference, limit=limit, after=None, sort="weight")
        content = _VECTORS.dump_python(Page.of(page.items, None), mode="json")
        return f"{path_of(reference)}/relevance-vectors?sort=weight&limit={limit}", _cut(content, MAX_PLACES)

    def _rows(self, owner: str, served: ServedVersion, size: int) -> Sequence[Row]:
        """Return at most so many rows of the training data, none where that is gone."""
        try:
            return self.datasets.sample(owner, served.version.report.dataset_id, size=size)
        except NotFoundError:
            return ()


def _predictions(served: ServedVersion, averaged: Sequence[Row], places: Sequence[Row]) -> Iterator[tuple[str, Json]]:
    """Yield predictions by the names of their members; they are charged as predicted rows."""
    slices = slices_of(served)
    charge_rows(slices.rows)
    yield "slices", _rounded(_cut(_SLICES.dump_python(slices.kept, mode="json")))
    if (surface := surface_of(served)) is not None:
        charge_rows(NODES * NODES)
        yield "surface", _rounded(json.loads(to_json(surface)))
    known = predictable_rows(served, places) if served.model.target is None else None
    if known and (placed := component_rows(served, known)):
        charge_rows(len(known.numbers))
        yield "components", _rounded(placed)
    rows = predictable_rows(served, averaged)
    if rows and (effects := effects_of(served, rows, [one.input for one in slices.kept])):  # charged by its profiles
        yield "effects", _rounded(_cut(json.loads(to_json(effects))))


def path_of(reference: Reference) -> str:
    """Return the path of a version."""
    return f"v1/models/{reference.model}/versions/{reference.version}"


def _drawn(pixels: Array, peak: float) -> str:
    """Return an image as a data URL."""
    return f"data:image/png;base64,{b64encode(image_bytes(pixels, 'image/png', peak=peak)).decode()}"


def _has_places(served: ServedVersion) -> bool:
    """Return whether rows of the data have places in a figure: of one or two numbers, and of components."""
    return len(served.number_names) in (1, 2) or isinstance(served.version.report, ComponentsReport)


def _places(served: ServedVersion, rows: Sequence[Row]) -> Json:
    """Return the rows without the columns that no figure draws."""
    target = served.model.target
    names = [*served.number_names, *(() if target is None else target[:1])]
    items: list[Json] = [{"row": row.number, "cells": {name: row.cells.get(name) for name in names}} for row in rows]
    return {"items": items, "has_more": False, "after": None}


def _cut(value: Json, max_items: int = MAX_ITEMS) -> Json:
    """Return a value whose lists, at any depth, have at most so many items, objects MAX_ITEMS and texts MAX_TEXT."""
    match value:
        case dict():
            return {name: _cut(member, max_items) for name, member in [*value.items()][:MAX_ITEMS]}
        case list():
            return [_cut(item, max_items) for item in value[:max_items]]
        case str() if len(value) > MAX_TEXT:
            return f"{value[:MAX_TEXT]}…"
        case _:
            return value


_VERSION: TypeAdapter[KnownVersion] = TypeAdapter(KnownVersion)


def bounded_version(version: Version) -> Members:
    """Return the version with bounded lists, of widths with the shortest; lists of numbers are whole."""
    out = version_record(version)
    members: Members = _VERSION.dump_python(out, mode="json", exclude={"inputs": {"__all__": {"categories"}}})
    match members.get("hyperparameters"):
        case {"widths": list(widths)}:
            widths[:] = sorted(widths, key=itemgetter("width"))[:MAX_ITEMS]
    limits = dict.fromkeys(("class_rows", "path", "variances"), sys.maxsize) | {"members": MAX_PER_MEMBER}
    return {name: _cut(value, limits.get(name, MAX_ITEMS)) for name, value in members.items()}


def _origin(lineage: Lineage, model: Model) -> Members:
    """Return where the version is from, and what was added to it."""
    aliases: list[Json] = [alias for alias, number in sorted(model.aliases.items()) if number == lineage.version]
    return {
        "dataset": lineage.dataset.name,
        "digest": lineage.dataset.digest,
        "imported": None
        if lineage.imported is None
        else f"{lineage.imported.model}, version {lineage.imported.version}",
        "software": lineage.software_version,
        "aliases": aliases[:MAX_ITEMS],
    }


def _summary(version: Version) -> ReportSummary:
    """Return the same in short, as texts."""
    report = version.report
    plan, metrics = report.plan, report.metrics if isinstance(report, SupervisedReport) else {}
    facts = [
        ("Task", report.task),
        *([] if plan.target is None else [("Target", plan.target)]),
        ("Inputs", f"{len(plan.inputs):,}"),
        ("Rows", f"{report.rows:,}"),
        ("Functions", f"{report.functions:,}"),
        ("Created", f"{version.created_at:%Y-%m-%d %H:%M} UTC"),
        ("SHA-256 of the data", report.dataset_digest),
    ]
    measured = {title: metrics[name] for name, title in MEASURED.items() if name in metrics}
    return ReportSummary(f"{version.model}, version {version.number}", facts, measured)


def _rounded(value: Json) -> Json:
    """Return a value whose numbers, at any depth, have few digits."""
    match value:
        case dict():
            return {name: _rounded(member) for name, member in value.items()}
        case list():
            return [*map(_rounded, value)]
        case float():
            return float(f"{value:.{DIGITS}g}")
        case _:
            return value


def _size(value: Json) -> int:
    return len(embedded_json(value).encode())
