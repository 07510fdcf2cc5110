"""The audit as NDJSON and CSV."""

import csv
import io
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeAlias

from app.audit.records import canonical, members
from relevance_bayes.records.audit import AuditEntry
from relevance_bayes.records.formats import CSV, NDJSON
from relevance_bayes.tables.formulas import escaped

COLUMNS = (
    "owner",
    "number",
    "at",
    "action",
    "result",
    "actor_kind",
    "actor_id",
    "resource",
    "address",
    "user_agent",
    "request_id",
    "details",
    "previous_hash",
    "hash",
)
"""The columns of CSV; `details` is JSON."""

Batches: TypeAlias = Iterable[Sequence[AuditEntry]]


def ndjson(batches: Batches) -> Iterator[bytes]:
    """Yield a line for each entry: its canonical JSON, and so what its hash covers but for the hash itself."""
    for batch in batches:
        yield b"".join(canonical(members(entry)) + b"\n" for entry in batch)


def comma_separated(batches: Batches) -> Iterator[bytes]:
    """Yield a header, and a row for each entry; texts that spreadsheets would compute are escaped."""
    yield _lines([COLUMNS])
    for batch in batches:
        yield _lines(map(_row, batch))


EXPORTS: dict[str, Callable[[Batches], Iterator[bytes]]] = {
    NDJSON.media_type: ndjson,
    CSV.media_type: comma_separated,
}
"""The exports by media type."""


def _row(entry: AuditEntry) -> Sequence[str]:
    actor = {"actor_kind": entry.actor.kind, "actor_id": entry.actor.id}
    content = members(entry) | actor | {"details": canonical(dict(entry.details)).decode()}
    return ["" if content[name] is None else escaped(str(content[name])) for name in COLUMNS]


def _lines(rows: Iterable[Sequence[str]]) -> bytes:
    written = io.StringIO()
    csv.writer(written, lineterminator="\n").writerows(rows)
    return written.getvalue().encode()
