"""The HTML file of a report: style and modules of the page inline, data beside them, and a policy with their hashes."""

import json
from base64 import b64encode
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from html import escape

from app import __version__
from app.web.linked_modules import linked
from app.web.static_files import page
from relevance_bayes.records.values import Json

ENTRY = "report/main.js"

MAX_DATA_BYTES = 700_000
"""The most bytes of data; with the page's modules, a report has less than 1 MB."""

_SPECIAL = {ord(character): f"\\u{ord(character):04x}" for character in "<>&\u2028\u2029"}
"""Characters of JSON that could end its element, or a line of a script."""


@dataclass(frozen=True)
class Summary:
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


def report_document(summary: Summary, data: str) -> bytes:
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


def _without_script(summary: Summary) -> Iterator[str]:
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
