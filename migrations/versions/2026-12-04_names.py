"""Stored requests, plans, reports, results and documents name their members as the API does today.

One row at a time: a report is some kilobytes, what a version predicts with at most some megabytes. Checkpoints are
removed, since those hold such names too: jobs that were running begin anew.
"""

import json
import struct
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import prod

import sqlalchemy as sa
from alembic import op

from relevance_bayes.documents.former_members import DOCUMENTS, Json, Members, in_former_names, renamed

revision: str = "2026_12_04_names"
down_revision: str | None = "2026_12_03_documents"
branch_labels: str | None = None
depends_on: str | None = None

CHECKPOINTS = sa.table("job_checkpoints")
TEXTS: Sequence[tuple[str, tuple[str, ...], str]] = (
    ("training_jobs", ("id",), "request"),
    ("training_jobs", ("id",), "plan"),
    ("training_jobs", ("id",), "result"),
    ("model_versions", ("id",), "report"),
    ("relevance_vectors", ("version_id", "number"), "shape"),
)
PREAMBLE = struct.Struct("<4sBBHIQI")
DOCUMENT = 4
"""The content of a frame: the members of a document."""

POSTERIORS = sa.table("posteriors", sa.column("version_id", sa.Uuid()), sa.column("content", sa.LargeBinary()))


def upgrade() -> None:
    op.execute(sa.delete(CHECKPOINTS))
    for table, keys, column in TEXTS:
        _rewrite(table, keys, column, renamed)
    _rewrite_versions(lambda value: renamed(value, DOCUMENTS), format_version=3)


def downgrade() -> None:
    op.execute(sa.delete(CHECKPOINTS))
    for table, keys, column in TEXTS:
        _rewrite(table, keys, column, in_former_names)
    _rewrite_versions(lambda value: in_former_names(value, DOCUMENTS), format_version=2)


def _rewrite(name: str, keys: tuple[str, ...], column: str, change: Callable[[Json], Json]) -> None:
    table = sa.table(name, *(sa.column(key, sa.Integer() if key == "number" else sa.Uuid()) for key in keys))
    text, connection = sa.column(column, sa.Text()), op.get_bind()
    table.append_column(text)
    places = connection.execute(sa.select(*(table.c[key] for key in keys)).where(text.is_not(None))).all()
    for place in places:
        here = [table.c[key] == value for key, value in zip(keys, place, strict=True)]
        before: str = connection.execute(sa.select(text).where(*here)).scalar_one()
        after = json.dumps(change(json.loads(before)), ensure_ascii=False, separators=(",", ":"))
        if after != before:
            connection.execute(sa.update(table).where(*here).values({column: after}))


def _rewrite_versions(change: Callable[[Json], Json], *, format_version: int) -> None:
    connection = op.get_bind()
    for version in connection.execute(sa.select(POSTERIORS.c.version_id)).scalars().all():
        here = POSTERIORS.c.version_id == version
        before = bytes(connection.execute(sa.select(POSTERIORS.c.content).where(here)).scalar_one())
        after = _rewritten(before, change, format_version)
        connection.execute(sa.update(POSTERIORS).where(here).values(content=after))


@dataclass(frozen=True)
class Stored:
    """The bytes of an array."""

    dtype: str
    shape: tuple[int, ...]
    content: bytes


def _rewritten(data: bytes, change: Callable[[Json], Json], format_version: int) -> bytes:
    """A version's content; its arrays are called by the way to them through the members, and are in this order."""
    value, arrays = _read(data)
    names = value["arrays"]
    assert isinstance(names, list)
    found: dict[str, Stored] = {}

    def called(value: Json, name: str) -> Json:
        match value:
            case {"array": str(before)}:
                found[name] = arrays[names.index(before)]
                return {"array": name}
            case dict():
                return {
                    member: called(inner, f"{name}/{member}" if name else member) for member, inner in value.items()
                }
            case list():
                return [called(inner, f"{name}/{place}") for place, inner in enumerate(value)]
            case _:
                return value

    content = called(change(value["content"]), "")
    order = sorted(found)
    return _write(
        {"format_version": format_version, "arrays": [*order], "content": content}, [found[name] for name in order]
    )


def _read(data: bytes) -> tuple[Members, list[Stored]]:
    magic, version, flags, kind, header_size, body_size, _ = PREAMBLE.unpack_from(data)
    if (magic, version, kind) != (b"RLVC", 1, DOCUMENT) or len(data) != PREAMBLE.size + header_size + body_size:
        raise ValueError(f"expected a frame of content {DOCUMENT}, got {data[:24]!r}")
    header = json.loads(data[PREAMBLE.size : PREAMBLE.size + header_size])
    body = data[PREAMBLE.size + header_size :]
    body = zlib.decompress(body) if flags & 1 else body
    arrays = [
        Stored(dtype, tuple(shape), body[offset : offset + prod(shape) * int(dtype[-1])])
        for dtype, shape, offset in header["arrays"]
    ]
    return header["value"], arrays


def _write(value: Members, arrays: Sequence[Stored]) -> bytes:
    described: list[Json] = []
    body = bytearray()
    for array in arrays:
        body += bytes(-len(body) % 8)
        described.append([array.dtype, list(array.shape), len(body)])
        body += array.content
    members: Members = {"arrays": described, "value": value}
    header = json.dumps(members, ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode()
    covered = PREAMBLE.pack(b"RLVC", 1, 0, DOCUMENT, len(header), len(body), 0)[:-4]
    checksum = zlib.crc32(body, zlib.crc32(header, zlib.crc32(covered)))
    return b"".join((covered, struct.pack("<I", checksum), header, body))
