"""Column types, and SQL that differs between the two databases."""

from datetime import UTC, datetime

from sqlalchemy import DateTime, Dialect, Double
from sqlalchemy.ext.compiler import compiles
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
