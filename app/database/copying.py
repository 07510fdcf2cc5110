"""Copies of all rows of one database to another of either kind, verified by a digest of each table."""

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from sqlalchemy import (
    JSON,
    Connection,
    Engine,
    LargeBinary,
    MetaData,
    Row,
    column,
    insert,
    select,
    table,
    text,
)
from sqlalchemy.types import TypeDecorator, TypeEngine

from app.database.engine import lock_for_writing
from app.database.failures import translated
from app.errors import UnavailableError

Batch: TypeAlias = Sequence[Row[tuple[object, ...]]]

BATCH_ROWS, BATCH_ROWS_OF_BYTES = 1_000, 10
"""The number of rows in memory, and that of rows with bytes, which may be megabytes each."""


class NullableJson(TypeDecorator[object]):
    """JSON in which None is NULL, not the JSON `null`."""

    impl: TypeEngine[object] | type[TypeEngine[object]] = JSON(none_as_null=True)
    cache_ok: bool | None = True


@dataclass(frozen=True)
class TableShape:
    """A table with the types of its columns; PostgreSQL has it in a schema, where that is not None."""

    name: str
    types: Mapping[str, TypeEngine[object]]
    schema: str | None = None

    def batches(self, connection: Connection) -> Iterator[Batch]:
        """Return the rows, some at a time."""
        has_bytes = any(isinstance(kind, LargeBinary) for kind in self.types.values())
        options = {"yield_per": BATCH_ROWS_OF_BYTES if has_bytes else BATCH_ROWS}
        columns = (column(name, kind) for name, kind in self.types.items())
        query = select(table(self.name, *columns, schema=self._schema(connection)))
        return connection.execute(query, execution_options=options).partitions()

    def replace(self, connection: Connection, batches: Iterable[Batch]) -> None:
        """Write rows in the place of those that there are."""
        columns = (column(name, kind) for name, kind in self.types.items())
        written = table(self.name, *columns, schema=self._schema(connection))
        connection.execute(written.delete())
        for batch in batches:
            connection.execute(insert(written), [dict(zip(self.types, row, strict=True)) for row in batch])

    def _schema(self, connection: Connection) -> str | None:
        return self.schema if connection.dialect.name == "postgresql" else None


def shapes(metadata: MetaData, schema: str | None = None) -> tuple[TableShape, ...]:
    """Return the tables of a metadata, each after those that it refers to."""
    return tuple(
        TableShape(
            one.name,
            {part.name: NullableJson() if isinstance(part.type, JSON) else part.type for part in one.columns},
            schema,
        )
        for one in metadata.sorted_tables
    )


@dataclass(frozen=True)
class CopiedTable:
    """A copied table: its number of rows, and the digest of its rows in both databases."""

    name: str
    rows: int
    sha256: str


def copy_rows(source: Engine, target: Engine, tables: Iterable[TableShape]) -> tuple[CopiedTable, ...]:
    """Copy tables into those of another database, in one transaction; compare both at the end.

    The target has the same tables, without content. On SQLite no other process can write to the source meanwhile.
    Raises UnavailableError.
    """
    is_file = source.dialect.name == "sqlite"
    snapshot = source if is_file else source.execution_options(isolation_level="REPEATABLE READ")
    with translated(), snapshot.connect() as reader, target.begin() as writer:
        lock_for_writing(reader)
        for connection in (reader, writer):
            if connection.dialect.name == "postgresql":
                connection.execute(text("SET LOCAL idle_in_transaction_session_timeout = 0"))
        return tuple(_copy(reader, writer, one) for one in tables)


def _copy(reader: Connection, writer: Connection, shape: TableShape) -> CopiedTable:
    copied, stored = _Digest(), _Digest()
    shape.replace(writer, copied.added(shape.batches(reader)))
    for _ in stored.added(shape.batches(writer)):
        pass
    if copied != stored:
        raise UnavailableError(
            f"The copy of {shape.name} differs: {copied.rows} rows were copied, and {stored.rows} rows are stored, of "
            "another digest. Nothing was changed."
        )
    return CopiedTable(shape.name, copied.rows, copied.sha256)


@dataclass
class _Digest:
    """The digest of rows in any order, since databases sort texts differently: the sum of their digests."""

    rows: int = 0
    total: int = 0

    def added(self, batches: Iterable[Batch]) -> Iterator[Batch]:
        """Yield the same batches, and add their rows."""
        for batch in batches:
            for row in batch:
                digest = hashlib.sha256()
                for value in row:
                    content = value if isinstance(value, bytes) else repr(value).encode("utf-8", "surrogatepass")
                    digest.update(f"{type(value).__name__} {len(content)} ".encode() + content)
                self.total = (self.total + int.from_bytes(digest.digest(), "big")) % 2**256
            self.rows += len(batch)
            yield batch

    @property
    def sha256(self) -> str:
        """Return the digest in hexadecimal digits."""
        return f"{self.total:064x}"
