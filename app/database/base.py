"""The declarative base of all tables, its column types and documents, and SQL that differs between the two databases.

JSON is stored as text: both databases return it as it was written, and a person can read it.
"""

import json
from dataclasses import dataclass
from datetime import UTC, datetime
from inspect import signature
from typing import Generic, TypeVar
from uuid import UUID

from pydantic import TypeAdapter
from sqlalchemy import DateTime, Delete, Dialect, Double, LargeBinary, MetaData, Text, Update, Uuid
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.engine import CursorResult
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.orm import DeclarativeBase, MappedAsDataclass, Session
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.functions import FunctionElement
from sqlalchemy.types import TypeDecorator, TypeEngine


class UtcDateTime(TypeDecorator[datetime]):
    """A point in time: aware datetimes in and out, stored in UTC; raises ValueError for a naive one."""

    impl: TypeEngine[datetime] | type[TypeEngine[datetime]] = DateTime(timezone=True)
    cache_ok: bool | None = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """Return the time in UTC; SQLite stores it without a zone."""
        if value is None:
            return None
        if value.tzinfo is None:
            raise ValueError(f"expected a time with a time zone, got {value.isoformat()}")
        utc = value.astimezone(UTC)
        return utc.replace(tzinfo=None) if dialect.name == "sqlite" else utc

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """Return the time with the zone UTC."""
        if value is None:
            return None
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


class DatabaseNow(FunctionElement[datetime]):
    """The current time by the clock of the database."""

    type: TypeEngine[datetime] = UtcDateTime()
    inherit_cache: bool | None = True


class SecondsSince(FunctionElement[float]):
    """Seconds from a stored time until now, by the clock of the database."""

    type: TypeEngine[float] = Double()
    inherit_cache: bool | None = True


class DatabaseAgo(FunctionElement[datetime]):
    """The time so many seconds ago, by the clock of the database."""

    type: TypeEngine[datetime] = UtcDateTime()
    inherit_cache: bool | None = True


@compiles(DatabaseNow, "postgresql")
def _now_postgresql(_element: DatabaseNow, _compiler: SQLCompiler, **_options: object) -> str:
    return "clock_timestamp()"


@compiles(DatabaseNow, "sqlite")
def _now_sqlite(_element: DatabaseNow, _compiler: SQLCompiler, **_options: object) -> str:
    return "strftime('%Y-%m-%d %H:%M:%f000', 'now')"


@compiles(SecondsSince, "postgresql")
def _since_postgresql(element: SecondsSince, compiler: SQLCompiler, **_options: object) -> str:
    return f"extract(epoch from clock_timestamp() - {compiler.process(element.clauses)})::double precision"


@compiles(SecondsSince, "sqlite")
def _since_sqlite(element: SecondsSince, compiler: SQLCompiler, **_options: object) -> str:
    return f"((julianday('now') - julianday({compiler.process(element.clauses)})) * 86400.0)"


@compiles(DatabaseAgo, "postgresql")
def _ago_postgresql(element: DatabaseAgo, compiler: SQLCompiler, **_options: object) -> str:
    return f"clock_timestamp() - make_interval(secs => {compiler.process(element.clauses)})"


@compiles(DatabaseAgo, "sqlite")
def _ago_sqlite(element: DatabaseAgo, compiler: SQLCompiler, **_options: object) -> str:
    return f"strftime('%Y-%m-%d %H:%M:%f000', 'now', format('%f seconds', -{compiler.process(element.clauses)}))"


NAMING = {
    "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    "uq": "uq_%(table_name)s_%(column_0_N_name)s",
    "ck": "ck_%(table_name)s_%(constraint_name)s",
    "fk": "fk_%(table_name)s_%(column_0_N_name)s_%(referred_table_name)s",
    "pk": "pk_%(table_name)s",
}


class Base(MappedAsDataclass, DeclarativeBase, kw_only=True):
    """The base of all tables; every constraint has a name, so that migrations can refer to it."""

    metadata = MetaData(naming_convention=NAMING)
    type_annotation_map = {datetime: UtcDateTime(), str: Text(), UUID: Uuid(), bytes: LargeBinary(), float: Double()}


def one_of(column: str, values: frozenset[str]) -> str:
    """Return the SQL condition that a column has one of some values."""
    return f"{column} IN ({', '.join(repr(value) for value in sorted(values))})"


def changed(session: Session, statement: Update | Delete) -> int:
    """Execute a statement and return the number of rows it changed. Objects read before are stale: read them again."""
    result = session.execute(statement, execution_options={"synchronize_session": False})
    if not isinstance(result, CursorResult):
        raise TypeError(f"expected the result of a statement, got {type(result).__name__}")
    return result.rowcount


def insertion(session: Session, row: type[Base]) -> sqlite.Insert | postgresql.Insert:
    """Return an insertion into a table that can have ON CONFLICT, which each kind of database has as its own."""
    is_file = session.connection().dialect.name == "sqlite"
    return sqlite.insert(row) if is_file else postgresql.insert(row)


T = TypeVar("T")
R = TypeVar("R", bound=Base)


@dataclass(frozen=True)
class Document(Generic[T]):
    """A codec of one dataclass as JSON text; numbers round-trip exactly, NaN and infinities included."""

    adapter: TypeAdapter[T]

    def write(self, value: T) -> str:
        """Return the value as compact JSON."""
        # The adapter's own dump_json would write NaN and infinities as null.
        return json.dumps(self.adapter.dump_python(value, mode="json"), ensure_ascii=False, separators=(",", ":"))

    def read(self, text: str) -> T:
        """Return the value from JSON that `write` returned."""
        return self.adapter.validate_json(text)

    def read_optional(self, text: str | None) -> T | None:
        """Return the value, or None where nothing was written."""
        return None if text is None else self.read(text)


class Columns(Generic[T]):
    """The members of a record in the columns of the same names; those in another form are given by name."""

    def __init__(self, record: type[T]) -> None:
        self._record = record
        self._names = tuple(signature(record).parameters)
        self._adapter: TypeAdapter[T] | None = None  # made when a row is first read: a union of reports takes 30 ms

    def read(self, row: Base, /, **others: object) -> T:
        """Return the record of a row; `others` are the members that it has in another form, or not at all."""
        if self._adapter is None:
            self._adapter = TypeAdapter(self._record)
        stored = {name: getattr(row, name) for name in self._names if name not in others}
        return self._adapter.validate_python(stored | others)

    def values(self, row: type[Base], record: T, /, **others: object) -> dict[str, object]:
        """Return the values of the columns of a table, of which `others` are no members, or have another form."""
        same = {name: getattr(record, name) for name in self._names if name in row.__table__.columns}
        return same | others

    def write(self, row: type[R], record: T, /, **others: object) -> R:
        """Return the row of a record, with such values."""
        return row(**{name: getattr(record, name) for name in self._names if name in row.__table__.columns} | others)
