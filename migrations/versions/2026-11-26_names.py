"""Stored requests, plans, reports, results and predictors name their members as the API does today.

One row at a time: a report is some kilobytes, a predictor at most some megabytes. Checkpoints are removed, since they
hold requests too: jobs that were running begin anew.
"""

import json
from collections.abc import Callable, Iterator, Sequence

import numpy as np
import sqlalchemy as sa
from alembic import op

from app.domain.former_members import LIKELIHOODS, Json, formerly, renamed
from app.storage.codec.frame import Arrays, Content, Stored, read, write
from app.storage.codec.frame import Json as Framed

revision: str = "2026_11_26_names"
down_revision: str | None = "2026_11_25_evidence"
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
POSTERIORS = sa.table("posteriors", sa.column("version_id", sa.Uuid()), sa.column("content", sa.LargeBinary()))


def upgrade() -> None:
    op.execute(sa.delete(CHECKPOINTS))
    for table, keys, column in TEXTS:
        _rewrite(table, keys, column, renamed)
    _rewrite_predictors(lambda value: renamed(value, LIKELIHOODS))


def downgrade() -> None:
    op.execute(sa.delete(CHECKPOINTS))
    for table, keys, column in TEXTS:
        _rewrite(table, keys, column, formerly)
    _rewrite_predictors(lambda value: formerly(value, LIKELIHOODS))


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


def _rewrite_predictors(change: Callable[[Json], Json]) -> None:
    connection = op.get_bind()
    for version in connection.execute(sa.select(POSTERIORS.c.version_id)).scalars().all():
        here = POSTERIORS.c.version_id == version
        content = bytes(connection.execute(sa.select(POSTERIORS.c.content).where(here)).scalar_one())
        value, arrays = read(Content.PREDICTOR, content)
        before: Json = json.loads(json.dumps(value))
        after = change(before)
        if after != before:
            written: Framed = json.loads(json.dumps(after))
            content = write(Content.PREDICTOR, written, list(_arrays(arrays)), compressible=False)
            connection.execute(sa.update(POSTERIORS).where(here).values(content=content))


def _arrays(arrays: Arrays) -> Iterator[Stored]:
    readers: dict[str, Callable[[int], Stored]] = {
        "<f8": arrays.real,
        "<i8": lambda number: arrays.indices(number).astype(np.int64),
        "<i4": arrays.codes,
        "|i1": arrays.flags,
    }
    for number, (dtype, _, _) in enumerate(arrays.described):
        yield readers[dtype](number)
